// From the process at the other end of a connection to the session whose agent started it. Pure: base/lineage.ts reads the
// processes.
import { toAgentActor } from "../../base/actor.ts";
import { RUN_MARKER } from "../../base/child.ts";
import type { Lineage, LineageProcess } from "../../base/lineage.ts";
import type { Caller } from "./caller.ts";

const SESSION = "BLEMEES_SESSION_ID";
const DAEMON = "BLEMEES_DAEMON_ID";

/** The agents of this daemon. */
export interface KnownAgents {
  /** Sessions served by the agent with this process id. */
  ofProcess(pid: number): readonly string[];
  /** Whether an agent with this daemon id in its environment belongs to this daemon, or to an earlier one on its socket. */
  isOwn(daemon_id: string): boolean;
}

type Identity = Pick<Caller, "actor" | "isAgent" | "isProven">;

const PERSON: Identity = { actor: "person", isAgent: false, isProven: true };
/** The kernel does not say who it is. It has the socket, as every program of the user. */
const UNKNOWN: Identity = { actor: "unknown", isAgent: false, isProven: false };
/** It has left before it could be examined, or is marked as an agent of nobody known. */
const SUSPECT: Identity = { actor: "unknown", isAgent: true, isProven: false };

export function identify({ state, processes }: Lineage, agents: KnownAgents): Identity {
  if (state === "unknown") return UNKNOWN;
  if (state === "gone") return SUSPECT;
  for (const [at, { pid }] of processes.entries()) {
    const sessions = agents.ofProcess(pid);
    if (sessions.length > 0) return toAgent(narrow(sessions, processes.slice(0, at)), true);
  }
  // A process that lost its parent (double fork, setsid) still has the environment it was started with.
  const marked = processes.findLast((process) => isMarked(process, agents));
  if (marked === undefined) return PERSON;
  const session = marked.read(SESSION);
  return session === undefined ? SUSPECT : toAgent([session], false);
}

/** A shared process sets the session for each command it starts; what those start in turn may say anything. */
function narrow(sessions: readonly string[], below: readonly LineageProcess[]): readonly string[] {
  if (sessions.length === 1) return sessions;
  for (const process of below.toReversed()) {
    const named = process.read(SESSION);
    if (named !== undefined) return sessions.includes(named) ? [named] : sessions;
  }
  return sessions;
}

function isMarked(process: LineageProcess, agents: KnownAgents): boolean {
  const daemon_id = process.read(DAEMON);
  if (daemon_id === undefined || !agents.isOwn(daemon_id)) return false;
  return process.read(RUN_MARKER) !== undefined || process.read(SESSION) !== undefined;
}

function toAgent(sessions: readonly string[], isProven: boolean): Identity {
  return { actor: toAgentActor(sessions), isAgent: true, isProven: isProven && sessions.length === 1 };
}
