// How much of a session a view keeps: the rest is in the daemon's log.

export interface Limits {
  /** Of these the oldest go when there are more, in steps of a tenth. */
  maxEntries: number;
  /** Characters of what was said, thought or told in one entry. */
  maxText: number;
  /** Characters of what a tool put out, and of what it was called with. */
  maxOutput: number;
}

export const DEFAULT_LIMITS: Limits = { maxEntries: 5_000, maxText: 200_000, maxOutput: 64_000 };

/** The beginning of a text. How much is missing behind is not said: it would change with every piece that comes. */
export function headOf(text: string, max: number): string {
  return appendText("", 0, text, max);
}

/** `shown` is what this function made of the first `chars` characters of it: the same comes out however it is cut. */
export function appendText(shown: string, chars: number, more: string, max: number): string {
  if (chars > max) return shown;
  if (chars + more.length <= max) return shown + more;
  return `${headIn(shown, false, more, max)}\n[… the rest is left out …]`;
}

/** Beginning and end: what an output is about stands at its beginning, what went wrong at its end. */
export function edgesOf(text: string, max: number): string {
  return appendOutput("", 0, text, max);
}

/** As `appendText`. */
export function appendOutput(shown: string, chars: number, more: string, max: number): string {
  const total = chars + more.length;
  if (total <= max || more === "") return shown + more;
  const headChars = Math.ceil(max / 3);
  const tailChars = max - headChars;
  const head = headIn(shown, chars > max, more, headChars);
  const tail = lastOf(more.length >= tailChars ? more : shown + more, tailChars);
  return `${head}\n${missing(total - max)}\n${tail.replace(/^[\udc00-\udfff]/, "")}`;
}

/** Never half a character. `isCut`: `shown` has its mark already, right behind the head. */
function headIn(shown: string, isCut: boolean, more: string, chars: number): string {
  if (isCut) return shown.slice(0, shown[chars] === "\n" ? chars : chars - 1);
  return (shown.length >= chars ? shown : shown + more).slice(0, chars).replace(/[\ud800-\udbff]$/, "");
}

/** A tool's input with its long texts cut; the same object when nothing in it is long. */
export function boundedInput(value: unknown, max: number): unknown {
  const budget = { left: max };
  const cut = bounded(value, budget, max, 0);
  return budget.left >= 0 ? value : cut;
}

const MAX_DEPTH = 64;

function bounded(value: unknown, budget: { left: number }, max: number, depth: number): unknown {
  if (typeof value === "string") {
    const room = Math.max(0, budget.left);
    budget.left -= value.length;
    return value.length <= room ? value : edgesOf(value, Math.min(room, max));
  }
  budget.left -= 8;
  if (typeof value !== "object" || value === null) return value;
  if (depth > MAX_DEPTH) {
    budget.left = -1;
    return undefined;
  }
  if (Array.isArray(value)) {
    const items: unknown[] = [];
    for (const item of value) {
      if (budget.left < 0) break;
      items.push(bounded(item, budget, max, depth + 1));
    }
    return items;
  }
  const pairs: [string, unknown][] = [];
  for (const [key, item] of Object.entries(value)) {
    if (budget.left < 0) break;
    budget.left -= key.length;
    pairs.push([key, bounded(item, budget, max, depth + 1)]);
  }
  return Object.fromEntries(pairs);
}

function lastOf(text: string, chars: number): string {
  return text.slice(Math.max(0, text.length - chars));
}

function missing(chars: number): string {
  return `[… ${chars} characters left out …]`;
}
