// Cuts payloads to a bounded size: valid JSON, whole characters, and a note wherever something is missing.
import type { Row } from "./rows.ts";

export const PAYLOAD_BYTES = 2048;

interface Bounds {
  chars: number;
  items: number;
  depth: number;
  /** Total values visited, so that the cost does not grow with the payload. */
  values: number;
}

const MAX_ITEMS = 32;
/** From generous to terse; the first that fits is used. */
const BOUNDS: readonly Bounds[] = [
  { chars: 1200, items: MAX_ITEMS, depth: 6, values: 300 },
  { chars: 300, items: 12, depth: 4, values: 60 },
  { chars: 60, items: 6, depth: 3, values: 12 },
];
const MAX_KEY_CHARS = 60;

export function toExcerpt(value: unknown, maxBytes = PAYLOAD_BYTES): string {
  const keysOf = rememberKeys();
  for (const bounds of BOUNDS) {
    const text = JSON.stringify(shrink(value, bounds.depth, { ...bounds, keysOf })) ?? "null";
    if (Buffer.byteLength(text) <= maxBytes) return text;
  }
  return '{"cut":true}';
}

/** Up to `max` characters of the text, and how many are missing. */
export function cutText(text: string, max: number): string {
  if (text.length <= max) return text;
  const end = isHigh(text.charCodeAt(max - 1)) ? max - 1 : max;
  return `${text.slice(0, end)}…[cut ${text.length - end} chars]`;
}

/** The last `max` characters. */
export function keepTail(text: string, max: number): string {
  if (text.length <= max) return text;
  const start = text.length - max;
  return text.slice(isLow(text.charCodeAt(start)) ? start + 1 : start);
}

/** One line of up to `max` characters, for display. */
export function toOneLine(text: string, max: number): string {
  // Reads no more than can be shown.
  const line = text
    .slice(0, 4 * max)
    .replace(/\s+/g, " ")
    .trim();
  if (line.length <= max && text.length <= 4 * max) return line;
  const end = Math.min(line.length, max - 1);
  return `${line.slice(0, isHigh(line.charCodeAt(end - 1)) ? end - 1 : end)}…`;
}

type KeysOf = (value: object) => { count: number; first: string[] };

/** Listing keys costs as much as the object is large, even for the first few, so it is done once per object. */
function rememberKeys(): KeysOf {
  const known = new Map<object, ReturnType<KeysOf>>();
  return (value) => {
    let keys = known.get(value);
    if (keys === undefined) {
      const all = Object.keys(value);
      keys = { count: all.length, first: all.slice(0, MAX_ITEMS) };
      known.set(value, keys);
    }
    return keys;
  };
}

function shrink(value: unknown, depth: number, left: Bounds & { keysOf: KeysOf }): unknown {
  left.values -= 1;
  if (typeof value === "string") return cutText(value, left.chars);
  if (typeof value !== "object" || value === null) return value;
  if (depth === 0 || left.values <= 0) return "…[cut]";
  const shrinkInner = (inner: unknown) => shrink(inner, depth - 1, left);
  if (Array.isArray(value)) {
    const shown = value.slice(0, left.items).map(shrinkInner);
    return value.length > left.items ? [...shown, `…[cut ${value.length - left.items} more]`] : shown;
  }
  const { count, first } = left.keysOf(value);
  const shown = first
    .slice(0, left.items)
    .map((key) => [cutText(key, MAX_KEY_CHARS), shrinkInner((value as Record<string, unknown>)[key])]);
  if (count > left.items) shown.push(["…", `[cut ${count - left.items} more]`]);
  return Object.fromEntries(shown);
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

/** For ids, names and codes. */
const MAX_CHARS = 200;
/** Columns that were already cut, with room for the note of how much is missing. */
const COLUMN_CHARS: ReadonlyMap<string, number> = new Map([
  ["command", 2100],
  ["cwd", 1100],
  ["file_path", 1100],
  ["error_message", 600],
  ["raw_payload_json", Number.POSITIVE_INFINITY], // already bounded, and must stay valid JSON
  ["session_id", Number.POSITIVE_INFINITY], // validated by us
]);

/** Limits the length of every text in a row. */
export function limitRow<T extends Row>(row: T): T {
  if (!Object.entries(row.row).some(([name, value]) => isTooLong(name, value))) return row;
  const fields = Object.entries(row.row).map(([name, value]: [string, unknown]) => [
    name,
    isTooLong(name, value) ? cutText(value, getMaxChars(name)) : value,
  ]);
  return { ...row, row: Object.fromEntries(fields) };
}

function isTooLong(name: string, value: unknown): value is string {
  return typeof value === "string" && value.length > getMaxChars(name);
}

function getMaxChars(name: string): number {
  return COLUMN_CHARS.get(name) ?? MAX_CHARS;
}
