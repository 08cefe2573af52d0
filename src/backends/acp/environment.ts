// The environment of an agent's process, and of one session in a process that sessions share.
import { RUN_MARKER } from "../../base/child.ts";
import { LEFT_BEHIND_BY_CLAUDE, LEFT_BEHIND_BY_CODEX } from "../left-behind.ts";
import type { AcpSpec, Environment } from "./spec.ts";

/** Differs from session to session, so it cannot be in the environment of a process that many share. */
const OF_ONE_SESSION = "BLEMEES_SESSION_ID";

const LEFT_BEHIND: ReadonlySet<string> = new Set([
  ...LEFT_BEHIND_BY_CLAUDE,
  ...LEFT_BEHIND_BY_CODEX,
  RUN_MARKER,
  OF_ONE_SESSION,
]);

export interface Identity {
  /** Who the session is and how it reaches the daemon. */
  env: Record<string, string>;
  /** Finds what its commands left behind. */
  marker: string;
}

/** `own`: of a process that is this session's alone. */
export function processEnvironment(
  daemon: Environment,
  spec: AcpSpec,
  identity: Identity,
  own: boolean,
): Record<string, string | undefined> {
  const kept = Object.entries({ ...daemon, ...identity.env }).filter(([name]) => !LEFT_BEHIND.has(name));
  const session = own ? sessionEnvironment(identity) : {};
  return { ...Object.fromEntries(kept), ...spec.env, ...session };
}

/** Goes with the session in `_meta.blemees.env`: what an agent that serves many sets for the commands of this one. */
export function sessionEnvironment({ env, marker }: Identity): Record<string, string> {
  return { ...env, [RUN_MARKER]: marker };
}
