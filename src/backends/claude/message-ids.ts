// The ids that we give to messages, in Claude's form.

/** Undefined for a turn whose id is no UUID. */
export function toMessageId(turn_id: string | undefined): string | undefined {
  const parts = /^([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/.exec(turn_id ?? "");
  return parts?.slice(1).join("-");
}
