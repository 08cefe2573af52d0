// What agents write where the result of a tool call should be, when the call was refused or cut off. The sentences are
// those of the agents; nobody else has to know them. Loads no zod: the dashboard runs it.

/** A person or a rule said no. */
const DECLINED: ReadonlySet<string> = new Set(["declined", "user rejected MCP tool call"]);
/** Claude Code's own rules said no, and nobody was asked. */
const NOT_ALLOWED = /^(?:Permission to use \S+ has been denied|Claude requested permissions to )/;
/** Claude Code says the same when a person refused the call and when the turn was interrupted. */
const REJECTED = "The user doesn't want to proceed with this tool use";
/** The backends' own word for it. */
const CUT = "interrupted";

export function isDeclined(output: string): boolean {
  return DECLINED.has(output) || NOT_ALLOWED.test(output);
}

/** Whether a result says no more than that the call was cut off. */
export function isCut(output: string): boolean {
  return output === CUT || output.startsWith(REJECTED);
}
