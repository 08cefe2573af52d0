// The last look at a row before it is kept: no text in it is longer than its column may have, whoever wrote it.
import { cutText } from "./excerpt.ts";
import type { Row } from "./rows.ts";

/** Ids, names and codes: what is longer is none that anybody would look for. */
const MAX_CHARS = 200;
/** What was cut with a purpose before; a little more room, for the words that say how much is missing. */
const MAX_OF: ReadonlyMap<string, number> = new Map([
  ["command", 2100],
  ["cwd", 1100],
  ["file_path", 1100],
  ["error_message", 600],
  ["raw_payload_json", Number.POSITIVE_INFINITY], // within its bytes already, and JSON
  ["session_id", Number.POSITIVE_INFINITY], // ours
]);

export function bounded<T extends Row>(row: T): T {
  if (!Object.entries(row.row).some(([name, value]) => isTooLong(name, value))) return row;
  const fields = Object.entries(row.row).map(([name, value]: [string, unknown]) => [
    name,
    isTooLong(name, value) ? cutText(value, maxOf(name)) : value,
  ]);
  return { ...row, row: Object.fromEntries(fields) };
}

function isTooLong(name: string, value: unknown): value is string {
  return typeof value === "string" && value.length > maxOf(name);
}

function maxOf(name: string): number {
  return MAX_OF.get(name) ?? MAX_CHARS;
}
