// The rules of read-only agents.
import type { PermissionRule } from "../permissions/types.ts";

export const READING_TOOLS: readonly string[] = ["read_file", "grep", "glob"];
/** The same for Claude Code's own tools, when it is the provider. */
const CLAUDE_CODE_TOOLS = ["claudecode.Read", "claudecode.Grep", "claudecode.Glob"];

/** `others`: additional tools to allow. */
export function createReadOnlyRules(reason: string, others: readonly string[] = []): PermissionRule[] {
  return [
    ...[...READING_TOOLS, ...others, ...CLAUDE_CODE_TOOLS].map(
      (tool): PermissionRule => ({ tool, decision: "allow" }),
    ),
    { tool: "*", decision: "deny", reason },
  ];
}
