// Environment of a codex process, and of the commands of one of its sessions.

import { RUN_MARKER } from "../../base/child.ts";
import { SET_BY_CODEX } from "../agent-variables.ts";
import type { Environment } from "../types.ts";

/** Varies by session, so it cannot be in the environment of a shared process. */
const OF_ONE_SESSION = ["BLEMEES_SESSION_ID", "TRACEPARENT"] as const;

const REMOVED: ReadonlySet<string> = new Set([...SET_BY_CODEX, RUN_MARKER, ...OF_ONE_SESSION]);

/** Of a shared process. */
export function buildProcessEnvironment(
  daemon: Environment,
  order: Environment,
): Record<string, string | undefined> {
  const kept = Object.entries({ ...daemon, ...order }).filter(([name]) => !REMOVED.has(name));
  return Object.fromEntries(kept);
}

/**
 * Passed to every command of one session by `shell_environment_policy.set`. The marker identifies leftover processes: a
 * shared process has no process of the session to look below.
 */
export function buildSessionEnvironment(
  order: Record<string, string>,
  marker: string,
): Record<string, string> {
  return { ...order, [RUN_MARKER]: marker };
}
