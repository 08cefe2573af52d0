// The environment of a claude process: the daemon's own, who it is, and without what another claude around
// the daemon left behind.
import { RUN_MARKER } from "../../base/child.ts";
import { LEFT_BEHIND_BY_CLAUDE } from "../left-behind.ts";
import type { Environment } from "./paths.ts";

const LEFT_BEHIND: ReadonlySet<string> = new Set([...LEFT_BEHIND_BY_CLAUDE, RUN_MARKER]);

export function claudeEnvironment(
  daemon: Environment,
  order: Environment,
  speaksControl: boolean,
): Record<string, string | undefined> {
  const kept = Object.entries(daemon).filter(([name]) => !LEFT_BEHIND.has(name));
  return {
    ...Object.fromEntries(kept),
    // Says by itself when it is busy and when not.
    ...(speaksControl ? { CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS: "1" } : {}),
    ...order,
  };
}
