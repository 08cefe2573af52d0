// An ACP agent as a backend: any program that implements the Agent Client Protocol on stdio, listed under
// `[agents.NAME]`, and our own `demian`.
import { access } from "node:fs/promises";
import { CodedError } from "../../base/coded-error.ts";
import { findProgram } from "../../base/find-program.ts";
import { makeLocalId } from "../../base/id.ts";
import { Pool } from "../pool.ts";
import type { Backend } from "../types.ts";
import { adoptAcpProcess } from "./adopt.ts";
import { Births } from "./births.ts";
import { checkAcpOptions, makeOptions } from "./options.ts";
import { type AcpProcessOrder, readVersion, startAcpProcess } from "./process.ts";
import { readAcpRights } from "./rights.ts";
import { type AcpHost, type AcpSpec, CLOCK, LIMITS } from "./spec.ts";
import { startAcpRun } from "./start.ts";

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
    hostId: makeLocalId(),
  };
  const find = () => locate(spec, host);
  return {
    name,
    options: makeOptions(spec),
    checkOptions: (block) => checkAcpOptions(spec, block),
    spawnOptions: ({ approvals, ...wish }) => ({ ...wish, ...(approvals ? {} : { approvals }) }),
    rights: (options) => readAcpRights(options),
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
    close: () => parts.pool.close(),
  };
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
