// Continues with a process of an earlier daemon, and all its sessions.
import type { FoundRun } from "../../base/runs/adopt.ts";
import { adoptShared, isFrom } from "../adopt-shared.ts";
import type { Lease } from "../pool.ts";
import type { Party } from "../replay.ts";
import { type RunsHost, toRunOrder } from "../runs-host.ts";
import { SinkGate } from "../sink-gate.ts";
import type { AdoptOrder } from "../types.ts";
import type { AcpSnapshot } from "./keep.ts";
import { type AcpProcess, createAcpProcess } from "./process.ts";
import { type AgentParts, makeRun, toProcessParts } from "./start.ts";

/** The agent would do its work twice. */
const ONCE: ReadonlySet<unknown> = new Set(["session/prompt", "session/new"]);

export function adoptAcpProcess(
  parts: AgentParts,
  runs: RunsHost,
  found: FoundRun,
  orders: readonly AdoptOrder[],
): Promise<AcpProcess> {
  const about = toProcessParts(parts);
  return adoptShared({
    found,
    orders,
    pool: parts.pool,
    createServer: (used) => createAcpProcess(about, used),
    makeParty: (order, lease) => makeParty(parts, order, lease),
    once: ONCE,
    unrecorded: toRunOrder(runs, about.log).unavailable,
  });
}

function makeParty(parts: AgentParts, order: AdoptOrder, lease: Lease<AcpProcess>): Party {
  const snapshot = order.snapshot.state as AcpSnapshot;
  const { translator: state, opening, marker, isClosedThere } = snapshot;
  const lane = lease.server.openLane(snapshot.lane);
  const gate = new SinkGate(order.past);
  const run = makeRun(parts, { lease, lane, state, sink: gate, order, opening, marker, isClosedThere });
  return {
    order,
    run,
    gate,
    enter: () => run.reenter(),
    wrote: (message) => isFrom(message, snapshot.lane, ({ sessionId }) => sessionId === state.sessionId),
    repeat: (name, args) => run.repeat(name, args),
  };
}
