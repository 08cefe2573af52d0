// Environment variables of Claude Code.
import { homedir } from "node:os";
import { join } from "node:path";

/**
 * Variables that Claude Code (2.1.197) and its Agent SDK set for the commands they run. A program started from such a
 * shell must not pass them on: CLAUDE_CODE_CHILD_SESSION can turn off the transcript, and CLAUDECODE makes some versions
 * refuse to start.
 */
export const SET_BY_CLAUDE: readonly string[] = [
  "CLAUDECODE",
  "CLAUDE_AGENT_SDK_VERSION",
  "CLAUDE_CODE_CHILD_SESSION",
  "CLAUDE_CODE_ENTRYPOINT",
  "CLAUDE_CODE_EXECPATH",
  "CLAUDE_CODE_SDK_READS_SESSION_STATE",
  "CLAUDE_CODE_SESSION_ID",
  "CLAUDE_CODE_SSE_PORT",
  "CLAUDE_EFFORT",
  "AI_AGENT",
];

/** Makes claude report when it becomes busy and idle, so a turn whose result is unreadable still ends. */
export const STATE_EVENTS = { CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS: "1" } as const;

/** The directory in which Claude Code keeps its settings, login and transcripts. */
export function getClaudeConfigDir(env: Readonly<Record<string, string | undefined>>): string {
  return env["CLAUDE_CONFIG_DIR"] || join(env["HOME"] || homedir(), ".claude");
}
