// The rules of agents that read, and nothing else.
import type { PermissionRule } from "../permissions/types.ts";

export const READING_TOOLS: readonly string[] = ["read_file", "grep", "glob"];
/** The same of Claude Code, where it is the provider: its tools have names of their own. */
const CLAUDE_CODE_TOOLS = ["claudecode.Read", "claudecode.Grep", "claudecode.Glob"];

/** `others`: tools that are allowed beside those that read. */
export function readOnlyRules(reason: string, others: readonly string[] = []): PermissionRule[] {
  return [
    ...[...READING_TOOLS, ...others, ...CLAUDE_CODE_TOOLS].map(
      (tool): PermissionRule => ({ tool, decision: "allow" }),
    ),
    { tool: "*", decision: "deny", reason },
  ];
}
