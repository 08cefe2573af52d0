// The environment of a codex process, and of the commands that one of its sessions runs.
import { RUN_MARKER } from "../../base/child.ts";
import { LEFT_BEHIND_BY_CODEX } from "../left-behind.ts";
import type { Environment } from "./paths.ts";

/** Differs from session to session, so it cannot be in the environment of a process that many share. */
const OF_ONE_SESSION = "BLEMEES_SESSION_ID";

const LEFT_BEHIND: ReadonlySet<string> = new Set([...LEFT_BEHIND_BY_CODEX, RUN_MARKER, OF_ONE_SESSION]);

/** Of a process that sessions share. */
export function processEnvironment(
  daemon: Environment,
  order: Environment,
): Record<string, string | undefined> {
  const kept = Object.entries({ ...daemon, ...order }).filter(([name]) => !LEFT_BEHIND.has(name));
  return Object.fromEntries(kept);
}

/**
 * Goes into every command of one session by `shell_environment_policy.set`. The marker finds what a command left
 * behind: in a shared process there is no process of the session to look below.
 */
export function sessionEnvironment(order: Record<string, string>, marker: string): Record<string, string> {
  return { ...order, [RUN_MARKER]: marker };
}
