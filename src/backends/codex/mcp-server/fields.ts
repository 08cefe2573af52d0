// Reading of what old Codex sends.
import type { JsonObject } from "../../../base/json.ts";

/** Codex counts in seconds, the wire in milliseconds. */
export function toMs(seconds: unknown): number | undefined {
  return typeof seconds === "number" && Number.isFinite(seconds) ? Math.round(seconds * 1000) : undefined;
}

/** Without what is null or not there: absent means not known. */
export function present(fields: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== null),
  );
}
