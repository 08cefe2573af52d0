// A bounded piece of a payload: always valid JSON, cut between characters, and where something is missing it says so.

export const PAYLOAD_BYTES = 2048;

interface Bounds {
  chars: number;
  items: number;
  depth: number;
  /** Values looked at in all, so that the cost does not grow with the payload. */
  values: number;
}

/** From generous to terse; the first that fits is taken. */
const BOUNDS: readonly Bounds[] = [
  { chars: 1200, items: 32, depth: 6, values: 300 },
  { chars: 300, items: 12, depth: 4, values: 60 },
  { chars: 60, items: 6, depth: 3, values: 12 },
];
const MAX_KEY_CHARS = 60;

export function excerpt(value: unknown, maxBytes = PAYLOAD_BYTES): string {
  for (const bounds of BOUNDS) {
    const text = JSON.stringify(shrink(value, bounds.depth, { ...bounds })) ?? "null";
    if (Buffer.byteLength(text) <= maxBytes) return text;
  }
  return '{"cut":true}';
}

/** At most `max` characters of the text, and how many are missing. */
export function cutText(text: string, max: number): string {
  if (text.length <= max) return text;
  const end = isHigh(text.charCodeAt(max - 1)) ? max - 1 : max;
  return `${text.slice(0, end)}…[cut ${text.length - end} chars]`;
}

/** The last `max` characters. */
export function tailOf(text: string, max: number): string {
  if (text.length <= max) return text;
  const start = text.length - max;
  return text.slice(isLow(text.charCodeAt(start)) ? start + 1 : start);
}

/** One line of at most `max` characters, for people. */
export function oneLine(text: string, max: number): string {
  // Looked at only as far as it can be shown.
  const line = text
    .slice(0, 4 * max)
    .replace(/\s+/g, " ")
    .trim();
  if (line.length <= max && text.length <= 4 * max) return line;
  const end = Math.min(line.length, max - 1);
  return `${line.slice(0, isHigh(line.charCodeAt(end - 1)) ? end - 1 : end)}…`;
}

function shrink(value: unknown, depth: number, left: Bounds): unknown {
  left.values -= 1;
  if (typeof value === "string") return cutText(value, left.chars);
  if (typeof value !== "object" || value === null) return value;
  if (depth === 0 || left.values <= 0) return "…[cut]";
  const shrinkInner = (inner: unknown) => shrink(inner, depth - 1, left);
  if (Array.isArray(value)) {
    const shown = value.slice(0, left.items).map(shrinkInner);
    return value.length > left.items ? [...shown, `…[cut ${value.length - left.items} more]`] : shown;
  }
  const keys = Object.keys(value);
  const shown = keys
    .slice(0, left.items)
    .map((key) => [cutText(key, MAX_KEY_CHARS), shrinkInner((value as Record<string, unknown>)[key])]);
  if (keys.length > left.items) shown.push(["…", `[cut ${keys.length - left.items} more]`]);
  return Object.fromEntries(shown);
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
