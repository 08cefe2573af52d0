// Reads values that Claude Code prints. Never throws.
import { asNumber } from "../../../base/values.ts";

/** `String` would fail on an object with its own "toString". */
export function toText(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

/** From seconds; undefined if invalid. */
export function readDate(seconds: unknown): Date | undefined {
  const date = new Date((asNumber(seconds) ?? Number.NaN) * 1000);
  return Number.isNaN(date.getTime()) ? undefined : date;
}
