// Rights and callers of the sessions in a table.

import type { SessionRights } from "../../backends/types.ts";
import { readLineage, readStartTime } from "../../base/lineage.ts";
import type { Log } from "../../base/log.ts";
import { createProcessSource } from "../../base/process-source.ts";
import { listDescendants } from "../family/kin.ts";
import type { Session } from "../session.ts";
import type { SessionTable } from "../table.ts";
import type { Caller } from "./caller.ts";
import { identify, identifyHidden, type KnownAgents, type Served, SUSPECT } from "./identify.ts";
import { Rights } from "./rights.ts";

export function createRights(table: SessionTable, seesAll: boolean, log: Log): Rights {
  return new Rights({
    find: (session_id) => table.find(session_id),
    kin: (session_ids) => table.kin(session_ids),
    async below(session_id) {
      const rows = table.withLive(await table.select({ family: session_id }));
      return listDescendants(session_id, rows.values()).map(({ row }) => row.session_id);
    },
    above: (session_id) => table.relatives.of(session_id).above,
    rightsOf: (backend, options) => table.backend(backend).rights?.(options) ?? toWidest(options),
    seesAll,
    log,
  });
}

/** A process at the other end of a connection. */
export interface PeerProcess {
  pid: number;
  /** When it started, if that was read with the pid (base/lineage.ts). */
  started?: number;
}

export interface PeerFacts {
  /** Several, if the connection is open in several processes. Absent: the kernel does not say. */
  processes?: readonly PeerProcess[];
  /** If no process is known to have it open: those of this user that hide what they have open. */
  hidden?: readonly number[];
  wire: Caller["wire"];
}

export type IdentifyPeer = (peer: PeerFacts) => Caller;

/** `daemon_id`: that of this daemon's agents, `<run>@<socket>`. Agents of an earlier daemon on the socket are adopted. */
export function createIdentifier(table: SessionTable, daemon_id: string | undefined): IdentifyPeer {
  const place = readPlace(daemon_id ?? "");
  const live = () => [...table.live.values()];
  const agents: KnownAgents = {
    ofProcess: (pid) =>
      live()
        .filter((one) => one.pid === pid)
        .map(toServed),
    ofMarker: (marker) =>
      live().find(({ traces }) => traces?.markers.includes(marker) === true)?.row.session_id,
    isOwn: (other) => place !== "" && readPlace(other) === place,
    get since() {
      // Adopted agents are older than this daemon.
      const pids = [process.pid, ...live().flatMap(({ pid }) => (pid === undefined ? [] : [pid]))];
      return Math.min(...pids.map(readStartTime).filter((started) => started >= 0));
    },
  };
  return ({ processes, hidden, wire }) => {
    const source = createProcessSource();
    if (processes === undefined && hidden !== undefined) {
      const candidates = hidden.map((pid) => readLineage(pid, undefined, source));
      return { ...identifyHidden(candidates, agents), wire };
    }
    if (processes === undefined) return { ...identify(readLineage(undefined), agents), wire };
    const found = processes.map(({ pid, started }) => ({
      ...identify(readLineage(pid, started, source), agents),
      peer_pid: pid,
    }));
    // Nobody holds the other end any longer.
    const [first = SUSPECT] = found;
    return { ...(found.find(({ isAgent }) => isAgent) ?? first), wire };
  };
}

function toServed({ row, traces }: Session): Served {
  return { session_id: row.session_id, markers: traces?.markers ?? [], isShared: traces?.isShared === true };
}

function readPlace(daemon_id: string): string {
  return daemon_id.includes("@") ? daemon_id.slice(daemon_id.indexOf("@")) : "";
}

/** Of a backend that does not describe its sessions' rights. */
function toWidest(options: Record<string, unknown>): SessionRights {
  const widest = { level: Number.POSITIVE_INFINITY, option: "backend" };
  const levels = { approvals: widest, mode: widest, sandbox: widest, network: widest };
  return { levels, roots: [], code: options, additions: {}, denies: [] };
}
