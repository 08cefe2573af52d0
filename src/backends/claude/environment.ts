// The environment of a claude process: the daemon's own, who it is, and without what another claude around
// the daemon left behind.
import { RUN_MARKER } from "../../base/child.ts";
import type { Environment } from "./paths.ts";

/**
 * Claude sets these for the commands it runs (2.1.197). A daemon started from such a shell would pass them on:
 * CLAUDE_CODE_CHILD_SESSION can switch off the transcript, CLAUDECODE makes some versions refuse to start.
 */
const LEFT_BEHIND: ReadonlySet<string> = new Set([
  "CLAUDECODE",
  "CLAUDE_CODE_ENTRYPOINT",
  "CLAUDE_CODE_CHILD_SESSION",
  "CLAUDE_CODE_SESSION_ID",
  "CLAUDE_CODE_EXECPATH",
  "CLAUDE_CODE_SSE_PORT",
  "CLAUDE_EFFORT",
  "AI_AGENT",
  RUN_MARKER,
]);

export function claudeEnvironment(
  daemon: Environment,
  order: Environment,
  speaksControl: boolean,
): Record<string, string | undefined> {
  const kept = Object.entries(daemon).filter(([name]) => !LEFT_BEHIND.has(name));
  return {
    ...Object.fromEntries(kept),
    // Says by itself when it is busy and when not (DESIGN R9).
    ...(speaksControl ? { CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS: "1" } : {}),
    ...order,
  };
}
