// What agents write in place of a tool result when the call was refused or cut off. Only this file knows their sentences.
// Loads no zod: the dashboard uses it.

/** Declined by the user or a rule. */
const DECLINED: ReadonlySet<string> = new Set(["declined", "user rejected MCP tool call"]);
/** Refused by Claude Code's own rules without asking. */
const NOT_ALLOWED = /^(?:Permission to use \S+ has been denied|Claude requested permissions to )/;
/** Claude Code writes this both when the user refused the call and when the turn was interrupted. */
const REJECTED = "The user doesn't want to proceed with this tool use";
/** Written by our backends. */
const CUT = "interrupted";

export function isDeclined(output: string): boolean {
  return DECLINED.has(output) || NOT_ALLOWED.test(output);
}

/** Whether a result only says that the call was cut off. */
export function isCut(output: string): boolean {
  return output === CUT || output.startsWith(REJECTED);
}
