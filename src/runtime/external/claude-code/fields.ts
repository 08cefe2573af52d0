// What Claude Code prints, read without trust: what is not as expected is nothing, and never an error.
import { isObject } from "../../../base/json.ts";

export type Fields = Readonly<Record<string, unknown>>;

export function fieldsOf(value: unknown): Fields {
  return isObject(value) ? value : {};
}

export function numberOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/** `String` fails on objects that come with a "toString" of their own. */
export function wordsOf(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

/** Of a date in seconds; undefined: there is no such date. */
export function dateOf(seconds: unknown): Date | undefined {
  const date = new Date(numberOf(seconds) === undefined ? Number.NaN : Number(seconds) * 1000);
  return Number.isNaN(date.getTime()) ? undefined : date;
}
