// Reads fields of old Codex messages.
/** Codex counts in seconds, the wire in milliseconds. */
export function toMs(seconds: unknown): number | undefined {
  return typeof seconds === "number" && Number.isFinite(seconds) ? Math.round(seconds * 1000) : undefined;
}
