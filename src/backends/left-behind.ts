// What agents set in the environment of the commands they run. A daemon started from such a shell would pass it on.

/**
 * Claude Code 2.1.197. CLAUDE_CODE_CHILD_SESSION can switch off the transcript, CLAUDECODE makes some versions refuse to
 * start.
 */
export const LEFT_BEHIND_BY_CLAUDE: readonly string[] = [
  "CLAUDECODE",
  "CLAUDE_CODE_ENTRYPOINT",
  "CLAUDE_CODE_CHILD_SESSION",
  "CLAUDE_CODE_SESSION_ID",
  "CLAUDE_CODE_EXECPATH",
  "CLAUDE_CODE_SSE_PORT",
  "CLAUDE_EFFORT",
  "AI_AGENT",
];

/** Codex 0.166.0. */
export const LEFT_BEHIND_BY_CODEX: readonly string[] = [
  "CODEX_APPLY_PATCH_PRESERVE_LINE_ENDINGS",
  "CODEX_CI",
  "CODEX_SANDBOX",
  "CODEX_SANDBOX_NETWORK_DISABLED",
  "CODEX_SESSION_ID",
  "CODEX_THREAD_ID",
  "CODEX_TOOL_CALL_ID",
  "CODEX_VERSION",
];
