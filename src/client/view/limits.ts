// Limits on what a view keeps; the daemon's log has everything.

export interface Limits {
  /** Beyond this the oldest are dropped, a tenth at a time. */
  maxEntries: number;
  /** Characters of text in one entry. */
  maxText: number;
  /** Characters of a tool's output, and of its input. */
  maxOutput: number;
}

export const DEFAULT_LIMITS: Limits = { maxEntries: 5_000, maxText: 200_000, maxOutput: 64_000 };

/** Keeps the beginning. The amount removed is not shown, because it changes while text streams in. */
export function truncate(text: string, max: number): string {
  return appendText("", 0, text, max);
}

/** `shown` is its result for the first `chars` characters, so the result does not depend on chunking. */
export function appendText(shown: string, chars: number, more: string, max: number): string {
  if (chars > max) return shown;
  if (chars + more.length <= max) return shown + more;
  return `${takeHead(shown, false, more, max)}\n[… truncated …]`;
}

/** Keeps the beginning and the end, where errors usually are. */
export function truncateMiddle(text: string, max: number): string {
  return appendOutput("", 0, text, max);
}

/** Like `appendText`. */
export function appendOutput(shown: string, chars: number, more: string, max: number): string {
  const total = chars + more.length;
  if (total <= max || more === "") return shown + more;
  const headChars = Math.ceil(max / 3);
  const tailChars = max - headChars;
  const head = takeHead(shown, chars > max, more, headChars);
  const tail = takeEnd(more.length >= tailChars ? more : shown + more, tailChars);
  return `${head}\n${formatMissing(total - max)}\n${tail.replace(/^[\udc00-\udfff]/, "")}`;
}

/** Never splits a surrogate pair. `isCut`: `shown` already has its mark after the head. */
function takeHead(shown: string, isCut: boolean, more: string, chars: number): string {
  if (isCut) return shown.slice(0, shown[chars] === "\n" ? chars : chars - 1);
  return (shown.length >= chars ? shown : shown + more).slice(0, chars).replace(/[\ud800-\udbff]$/, "");
}

/** A tool's input with long strings truncated; the same object if nothing is long. */
export function limitInput(value: unknown, max: number): unknown {
  const budget = { left: max };
  const cut = boundValue(value, budget, max, 0);
  return budget.left >= 0 ? value : cut;
}

const MAX_DEPTH = 64;

function boundValue(value: unknown, budget: { left: number }, max: number, depth: number): unknown {
  if (typeof value === "string") {
    const room = Math.max(0, budget.left);
    budget.left -= value.length;
    return value.length <= room ? value : truncateMiddle(value, Math.min(room, max));
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
      items.push(boundValue(item, budget, max, depth + 1));
    }
    return items;
  }
  const pairs: [string, unknown][] = [];
  for (const [key, item] of Object.entries(value)) {
    if (budget.left < 0) break;
    budget.left -= key.length;
    pairs.push([key, boundValue(item, budget, max, depth + 1)]);
  }
  return Object.fromEntries(pairs);
}

function takeEnd(text: string, chars: number): string {
  return text.slice(Math.max(0, text.length - chars));
}

function formatMissing(chars: number): string {
  return `[… ${chars} characters omitted …]`;
}
