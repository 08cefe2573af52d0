// From a start order to a session in an agent's process: which process, and how to open it.

import { randomUUID } from "node:crypto";
import { CodedError } from "../../base/coded-error.ts";
import { silentLog } from "../../base/log.ts";
import { defined } from "../../base/values.ts";
import { toNotice } from "../../protocol/notices.ts";
import type { Lease, Pool } from "../pool.ts";
import type { SessionLane } from "../shared-process.ts";
import type { BackendSink, Run, StartOrder } from "../types.ts";
import type { Births } from "./births.ts";
import { buildProcessEnvironment, buildSessionEnvironment, type Identity } from "./environment.ts";
import type { KeptOpening } from "./keep.ts";
import { addOwnTools } from "./mcp-servers.ts";
import { type Opened, type Opening, openAgain, openElsewhere, openNew } from "./open.ts";
import { type AcpOptions, chooseCwd } from "./options.ts";
import type { AcpProcess, AcpProcessOrder, AcpProcessParts } from "./process.ts";
import { AcpRun } from "./run.ts";
import type { AcpHost, AcpSpec, Clock, Limits } from "./spec.ts";
import { type AcpState, createState } from "./state.ts";

/** Shared by all sessions of one agent. */
export interface AgentParts {
  spec: AcpSpec;
  host: AcpHost;
  limits: Limits;
  clock: Clock;
  pool: Pool<AcpProcess, AcpProcessOrder>;
  births: Births;
}

const HANDSHAKE_MS = 30_000;
const STALL_MS = 60_000;
const MAX_LINE_BYTES = 16 * 1024 * 1024;

/** `command`: the program that was found. */
export async function startAcpRun(
  parts: AgentParts,
  command: string,
  order: StartOrder,
  sink: BackendSink,
): Promise<Run> {
  const { spec, host, pool } = parts;
  const options = order.options as AcpOptions;
  const cwd = await chooseCwd(spec, options);
  const own = spec.process !== "shared" || order.own_process === true;
  // Random: the commands of other sessions in the same process must not be able to make it up.
  const identity = { env: order.env, marker: `${randomUUID()}:${order.session_id}` };
  const place = own ? cwd : spec.cwd;
  const process: AcpProcessOrder = {
    ...toProcessParts(parts),
    command,
    args: spec.args ?? [],
    env: buildProcessEnvironment(host.env, spec, identity, own),
    ...defined({ cwd: place }),
    handshakeMs: spec.handshakeMs ?? HANDSHAKE_MS,
    runs: host.runs,
  };
  const lease = await pool.acquire(process, own);
  try {
    return await lease.server.router.open(() =>
      enter(parts, { lease, order, options, sink, cwd, identity, own }),
    );
  } catch (error) {
    await lease.release("now");
    throw error;
  }
}

export function toProcessParts({ spec, host, limits }: AgentParts): AcpProcessParts {
  return {
    name: spec.name,
    maxLineBytes: host.maxLineBytes ?? MAX_LINE_BYTES,
    log: host.log ?? silentLog,
    finishMs: limits.finishMs,
    graceMs: limits.graceMs,
  };
}

interface Entry {
  lease: Lease<AcpProcess>;
  order: StartOrder;
  options: AcpOptions;
  sink: BackendSink;
  cwd: string;
  identity: Identity;
  own: boolean;
}

async function enter(parts: AgentParts, entry: Entry): Promise<Run> {
  const { spec } = parts;
  const { lease, order, options, sink, cwd, identity } = entry;
  const { server } = lease;
  const chosen = defined({ model: options.model ?? spec.model, mode: options.mode ?? spec.mode });
  const own = { ...chosen, ...defined({ agent_mode: options.agent_mode }) };
  const meta = {
    ...(entry.own ? {} : { env: buildSessionEnvironment(identity) }),
    ...(spec.isOurs ? own : {}),
  };
  const kept: KeptOpening = {
    cwd,
    meta: Object.keys(meta).length === 0 ? undefined : { blemees: meta },
    wishes: { ...(spec.isOurs ? {} : chosen), config: { ...spec.config, ...options.config } },
  };
  const lane = server.openLane();
  // The commands in a process of its own inherit its environment.
  const marker = entry.own ? (server.runId ?? identity.marker) : identity.marker;
  const opening = makeOpening(parts, { server, lane, marker }, kept, order, sink);
  const opened = await open(opening, order);
  const run = makeRun(parts, {
    lease,
    lane,
    state: createState({
      backend: spec.name,
      sessionId: opened.sessionId,
      cwd,
      options,
      settings: opened.settings,
      agent: server.intro,
      isNew: opened.isNew,
    }),
    sink,
    order,
    opening: kept,
    marker,
  });
  // Two calls may ask for the same one at once, and an agent may reuse an id.
  if (server.router.findOwner(opened.sessionId) !== undefined)
    throw openElsewhere(spec.name, opened.sessionId);
  if (!server.moveIn(run)) {
    throw new CodedError("spawn_failed", `${spec.name} exited while the session was being opened`);
  }
  run.enter(opened);
  return run;
}

export interface RunSetup {
  lease: Lease<AcpProcess>;
  lane: SessionLane;
  state: AcpState;
  sink: BackendSink;
  order: StartOrder;
  opening: KeptOpening;
  marker: string;
  isClosedThere?: boolean;
}

/** New or continued. */
export function makeRun(parts: AgentParts, setup: RunSetup): AcpRun {
  const { spec, limits } = parts;
  const { lease, lane, state, sink, order, opening: kept, marker } = setup;
  const { session_id, generation, log } = order;
  const options = order.options as AcpOptions;
  const opening = makeOpening(parts, { server: lease.server, lane, marker }, kept, order, sink);
  return new AcpRun({
    name: spec.name,
    lease,
    lane,
    state,
    sink,
    log,
    limits,
    stallMs: spec.stallMs ?? STALL_MS,
    userEcho: options.user_echo === true,
    reopen: (sessionId) => openAgain(opening, sessionId, true),
    marker,
    kept: { session_id, generation, opening: kept },
    ...defined({ isClosedThere: setup.isClosedThere }),
  });
}

function makeOpening(
  { spec, host, limits, clock, births }: AgentParts,
  { marker, ...place }: Pick<Opening, "server" | "lane"> & { marker: string },
  kept: KeptOpening,
  order: StartOrder,
  sink: BackendSink,
): Opening {
  return {
    name: spec.name,
    ...place,
    ...kept,
    limits,
    clock,
    births,
    mcp: addOwnTools(order, { daemon: host.env, marker }),
    startedMs: order.began_here ? order.started_at_ms : undefined,
    waiting: (text) => sink.event(toNotice(spec.name, "resume_waits", { text })),
  };
}

async function open(opening: Opening, order: StartOrder): Promise<Opened> {
  const { server, name } = opening;
  if (!order.resume) return openNew(opening);
  // Without the agent's id nothing was opened.
  if (order.native_session_id === undefined && order.began_here) return openNew(opening);
  const sessionId = order.native_session_id ?? order.session_id;
  if (server.router.findOwner(sessionId) !== undefined) throw openElsewhere(name, sessionId);
  return openAgain(opening, sessionId, order.began_here);
}
