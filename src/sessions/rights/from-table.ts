// Rights and callers of the sessions in a table.

import type { SessionRights } from "../../backends/types.ts";
import { readLineage } from "../../base/lineage.ts";
import type { Log } from "../../base/log.ts";
import { listDescendants } from "../family/kin.ts";
import type { SessionTable } from "../table.ts";
import type { Caller } from "./caller.ts";
import { identify, type KnownAgents } from "./identify.ts";
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
  wire: Caller["wire"];
}

export type IdentifyPeer = (peer: PeerFacts) => Caller;

/** `daemon_id`: that of this daemon's agents, `<run>@<socket>`. Agents of an earlier daemon on the socket are adopted. */
export function createIdentifier(table: SessionTable, daemon_id: string | undefined): IdentifyPeer {
  const place = readPlace(daemon_id ?? "");
  const agents: KnownAgents = {
    ofProcess: (pid) =>
      [...table.live.values()].filter((one) => one.pid === pid).map(({ row }) => row.session_id),
    isOwn: (other) => place !== "" && readPlace(other) === place,
  };
  return ({ processes, wire }) => {
    if (processes === undefined) return { ...identify(readLineage(undefined), agents), wire };
    const found = processes.map(({ pid, started }) => ({
      ...identify(readLineage(pid, started), agents),
      peer_pid: pid,
    }));
    // Nobody holds the other end any longer.
    const [first = { ...identify({ state: "gone", processes: [] }, agents) }] = found;
    return { ...(found.find(({ isAgent }) => isAgent) ?? first), wire };
  };
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
