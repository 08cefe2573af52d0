// Limits the length of every text in a row before it is stored.
import { cutText } from "./excerpt.ts";
import type { Row } from "./rows.ts";

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
