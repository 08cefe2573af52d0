// An ACP agent as a backend: any program that implements the Agent Client Protocol on stdio, listed under
// `[agents.NAME]`, and our own `demian`.
import { access } from "node:fs/promises";
import { CodedError } from "../../base/coded-error.ts";
import { findProgram } from "../../base/find-program.ts";
import type { FoundRun } from "../../base/runs/adopt.ts";
import { adoptShared, isFrom } from "../adopt-shared.ts";
import { type Lease, Pool } from "../pool.ts";
import type { Party } from "../replay.ts";
import { type RunsHost, toRunOrder } from "../runs-host.ts";
import { SinkGate } from "../sink-gate.ts";
import type { AdoptOrder, Backend } from "../types.ts";
import { createAcpSettings } from "./adjust.ts";
import { Births } from "./births.ts";
import type { AcpSnapshot } from "./keep.ts";
import { checkAcpOptions, makeOptions } from "./options.ts";
import {
  type AcpProcess,
  type AcpProcessOrder,
  createAcpProcess,
  readVersion,
  startAcpProcess,
} from "./process.ts";
import { readAcpRights } from "./rights.ts";
import { type AcpHost, type AcpSpec, CLOCK, LIMITS } from "./spec.ts";
import { type AgentParts, makeRun, startAcpRun, toProcessParts } from "./start.ts";

const LINGER_MS = 5000;
/** It exists; its version is known when it is started. */
const PRESENT = "present";

export function createAcpBackend(spec: AcpSpec, host: AcpHost): Backend {
  const { name } = spec;
  const clock = host.clock ?? CLOCK;
  let version = spec.version;
  const start = async (order: AcpProcessOrder) => {
    const server = await startAcpProcess(order);
    version = readVersion(server) ?? version;
    return server;
  };
  const parts = {
    spec,
    host,
    limits: { ...LIMITS, ...host.limits },
    clock,
    pool: new Pool({ start, lingerMs: host.lingerMs ?? LINGER_MS }),
    births: new Births(clock.now()),
  };
  const find = () => locate(spec, host);
  return {
    name,
    options: makeOptions(spec),
    extras: { tools: true, mcp: true },
    checkOptions: (block) => checkAcpOptions(spec, block),
    spawnOptions: ({ approvals, ...wish }) => ({ ...wish, ...(approvals ? {} : { approvals }) }),
    ...(spec.isOurs === true ? { account: findAccount } : {}),
    rights: (options) => readAcpRights(options, spec),
    // Starting it to ask would take seconds and may use the network.
    detect: async () => {
      if ((await find()) === undefined || (await spec.isReady?.()) === false) return undefined;
      return version ?? PRESENT;
    },
    start: async (order, sink) => {
      const command = await find();
      if (command === undefined) throw notFoundError(spec);
      return startAcpRun(parts, command, order, sink);
    },
    adopt: async (run, sessions) => {
      if (host.runs === undefined) throw new Error("this daemon keeps no runs");
      const server = await adoptAcpProcess(parts, host.runs, run, sessions);
      version = readVersion(server) ?? version;
    },
    settings: createAcpSettings(spec),
    close: () => parts.pool.close(),
  };
}

/** Each provider has its own account: "anthropic/claude-…". */
function findAccount({ model: wanted }: Record<string, unknown>, model: string | undefined): string {
  const [provider = "", rest] = (typeof wanted === "string" ? wanted : (model ?? "")).split("/", 2);
  return rest === undefined || provider === "" ? "default" : provider;
}

async function locate({ command, env, needs = [] }: AcpSpec, host: AcpHost): Promise<string | undefined> {
  const found = await findProgram(command, { ...host.env, ...env }).catch(() => undefined);
  const missing = await Promise.all(
    needs.map((path) =>
      access(path).then(
        () => false,
        () => true,
      ),
    ),
  );
  return missing.includes(true) ? undefined : found;
}

function notFoundError({ name, command, advice, needs = [] }: AcpSpec): CodedError {
  const [file] = needs;
  const program = command.includes("/")
    ? `${command} is not an executable file`
    : `${command} not found on PATH`;
  const where = file === undefined ? program : `${file} does not exist`;
  const todo = advice ?? `install it, or set command in [agents.${name}]`;
  return new CodedError("spawn_failed", `${name}: ${where}; ${todo}`);
}

/** The agent would do its work twice. */
const ONCE: ReadonlySet<unknown> = new Set(["session/prompt", "session/new"]);

function adoptAcpProcess(
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
