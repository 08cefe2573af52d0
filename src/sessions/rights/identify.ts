// From the process at the other end of a connection to the session whose agent started it. Pure: base/lineage.ts reads the
// processes.
import { toAgentActor } from "../../base/actor.ts";
import { RUN_MARKER } from "../../base/child.ts";
import type { Lineage, LineageProcess } from "../../base/lineage.ts";
import type { Caller } from "./caller.ts";

const SESSION = "BLEMEES_SESSION_ID";
const DAEMON = "BLEMEES_DAEMON_ID";

/** A session that an agent's process serves. */
export interface Served {
  session_id: string;
  /** Values of BLEMEES_RUN_ID in what its agent starts. Random, so that no other agent can make them up. */
  markers: readonly string[];
  /** The process serves, or served, other sessions too. */
  isShared: boolean;
}

/** The agents of this daemon. */
export interface KnownAgents {
  /** Sessions served by the agent with this process id. */
  ofProcess(pid: number): readonly Served[];
  /** The session whose running agent has this marker. */
  ofMarker(marker: string): string | undefined;
  /** Whether an agent with this daemon id in its environment belongs to this daemon, or to an earlier one on its socket. */
  isOwn(daemon_id: string): boolean;
  /** Start time (base/lineage.ts) of the oldest process that could have started an agent. */
  readonly since: number;
}

type Identity = Pick<Caller, "actor" | "isAgent" | "isProven">;

const PERSON: Identity = { actor: "person", isAgent: false, isProven: true };
/** The kernel does not say who it is. It has the socket, as every program of the user. */
const UNKNOWN: Identity = { actor: "unknown", isAgent: false, isProven: false };
/** It cannot be examined, or is marked as an agent of nobody known. */
export const SUSPECT: Identity = { actor: "unknown", isAgent: true, isProven: false };

export function identify(lineage: Lineage, agents: KnownAgents): Identity {
  const { state, processes } = lineage;
  if (state === "gone") return SUSPECT;
  for (const [at, { pid }] of processes.entries()) {
    const served = agents.ofProcess(pid);
    if (served.length > 0) return ofProcess(served, processes.slice(0, at));
  }
  // A process that lost its parent (double fork, setsid) still has the environment it was started with.
  const marked = processes.findLast((process) => isMarked(process, agents));
  if (marked !== undefined) {
    const session = agents.ofMarker(marked.read(RUN_MARKER) ?? "");
    return session === undefined ? SUSPECT : toAgent([session], false);
  }
  if (state === "partial" || lineage.isHidden()) return SUSPECT;
  return state === "unknown" ? UNKNOWN : PERSON;
}

/**
 * The owner of a connection hides itself. It can be a process that another user's started (sshd, which does the forwarding of
 * `ssh -L`), if there is one and no agent can have started any of the others: those that are older than all agents.
 */
export function identifyHidden(candidates: readonly Lineage[], agents: KnownAgents): Identity {
  const [suspects, others] = partition(candidates, (lineage) => identify(lineage, agents).isAgent);
  const isAgents = suspects.some(({ processes }) => {
    const isBelowAgent = processes.some(({ pid }) => agents.ofProcess(pid).length > 0);
    return isBelowAgent || (processes[0]?.started ?? agents.since) >= agents.since;
  });
  return isAgents || others.length === 0 ? SUSPECT : UNKNOWN;
}

/** Only a process of its own proves a session: in a shared one, another session's commands may have learned its marker. */
function ofProcess(served: readonly Served[], below: readonly LineageProcess[]): Identity {
  const ids = served.map(({ session_id }) => session_id);
  if (!served.some(({ isShared }) => isShared)) return toAgent(ids, true);
  // A shared process sets the marker for each command it starts; what those start in turn may say anything.
  for (const process of below.toReversed()) {
    const marker = process.read(RUN_MARKER);
    const named = served.find(({ markers }) => marker !== undefined && markers.includes(marker));
    if (named !== undefined) return toAgent([named.session_id], false);
  }
  return toAgent(ids, false);
}

function isMarked(process: LineageProcess, agents: KnownAgents): boolean {
  const daemon_id = process.read(DAEMON);
  if (daemon_id === undefined || !agents.isOwn(daemon_id)) return false;
  return process.read(RUN_MARKER) !== undefined || process.read(SESSION) !== undefined;
}

function toAgent(sessions: readonly string[], isProven: boolean): Identity {
  return { actor: toAgentActor(sessions), isAgent: true, isProven: isProven && sessions.length === 1 };
}

function partition<T>(all: readonly T[], test: (one: T) => boolean): [yes: T[], no: T[]] {
  return [all.filter(test), all.filter((one) => !test(one))];
}
