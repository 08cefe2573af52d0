// Environment of an agent's process, and of one session in a shared process.

import { RUN_MARKER } from "../../base/child.ts";
import { SET_BY_CLAUDE } from "../../base/claude-wire/environment.ts";
import { SET_BY_CODEX } from "../agent-variables.ts";
import type { Environment } from "../types.ts";
import type { AcpSpec } from "./spec.ts";

/** Varies by session, so it cannot be in the environment of a shared process. */
const OF_ONE_SESSION = ["BLEMEES_SESSION_ID", "TRACEPARENT"] as const;

const REMOVED: ReadonlySet<string> = new Set([
  ...SET_BY_CLAUDE,
  ...SET_BY_CODEX,
  RUN_MARKER,
  ...OF_ONE_SESSION,
]);

export interface Identity {
  /** The session's identity and how it reaches the daemon. */
  env: Record<string, string>;
  /** Identifies processes that its commands leave running. */
  marker: string;
}

/** `own`: of a process used by this session only. */
export function buildProcessEnvironment(
  daemon: Environment,
  spec: AcpSpec,
  identity: Identity,
  own: boolean,
): Record<string, string | undefined> {
  const kept = Object.entries({ ...daemon, ...identity.env }).filter(([name]) => !REMOVED.has(name));
  const session = own ? buildSessionEnvironment(identity) : {};
  return { ...Object.fromEntries(kept), ...spec.env, ...session };
}

/** Sent with the session in `_meta.blemees.env`: variables that a shared agent sets for this session's commands. */
export function buildSessionEnvironment({ env, marker }: Identity): Record<string, string> {
  return { ...env, [RUN_MARKER]: marker };
}
