// Variables that Codex (0.166.0) sets for the commands it runs; a daemon started from such a shell must not pass them on.
export const SET_BY_CODEX: readonly string[] = [
  "CODEX_APPLY_PATCH_PRESERVE_LINE_ENDINGS",
  "CODEX_CI",
  "CODEX_SANDBOX",
  "CODEX_SANDBOX_NETWORK_DISABLED",
  "CODEX_SESSION_ID",
  "CODEX_THREAD_ID",
  "CODEX_TOOL_CALL_ID",
  "CODEX_VERSION",
];
