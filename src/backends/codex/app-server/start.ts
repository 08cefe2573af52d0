// From a start order to a thread in an app-server: which process, new or resumed, and the error if Codex refuses.

import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { parse as parseToml } from "smol-toml";
import { checkCwd, RUN_MARKER } from "../../../base/child.ts";
import { CodedError, toMessage } from "../../../base/coded-error.ts";
import type { JsonObject } from "../../../base/json.ts";
import { RpcError } from "../../../base/jsonrpc.ts";
import { asObject, asString, defined } from "../../../base/values.ts";
import type { Lease, Pool } from "../../pool.ts";
import type { RunsHost } from "../../runs-host.ts";
import type { SessionLane } from "../../shared-process.ts";
import type { BackendSink, Run, StartOrder } from "../../types.ts";
import { toFeatureFlags } from "../config-keys.ts";
import { buildProcessEnvironment, buildSessionEnvironment } from "../environment.ts";
import { withMcpServers } from "../mcp-servers.ts";
import { type CodexOptions, refuseOnFailure } from "../options.ts";
import { getCodexHome } from "../paths.ts";
import type { CodexProgram } from "../program.ts";
import { toThreadParams, toTurnParams } from "./params.ts";
import { type AppServer, type AppServerOrder, readHome } from "./process.ts";
import { CodexRun } from "./run.ts";
import { createState } from "./state.ts";

export interface AppServerHost {
  program: CodexProgram;
  pool: Pool<AppServer, AppServerOrder>;
  /** Every session gets a process of its own. */
  perSession: boolean;
  retryLimitMs: number;
  /** Absent: agents end with this daemon. */
  runs?: RunsHost | undefined;
}

/** MCP servers of the user may be slow to start. */
const OPEN_LIMIT_MS = 60_000;

export async function startAppServerRun(
  host: AppServerHost,
  order: StartOrder,
  sink: BackendSink,
): Promise<Run> {
  const options = order.options as CodexOptions;
  refuseOnFailure(options);
  // Codex opens a thread anywhere and fails at its first command.
  if (options.cwd !== undefined) await checkCwd(options.cwd);
  const own = host.perSession || options.own_process === true || order.own_process === true;
  // Random: the commands of other sessions in the same process must not be able to make it up.
  const marker = `${randomUUID()}:${order.session_id}`;
  const env = buildProcessEnvironment(host.program.env, order.env);
  const profile = options.profile === undefined ? {} : await readProfile(getCodexHome(env), options.profile);
  const process: AppServerOrder = {
    command: host.program.command,
    args: ["app-server", ...toFeatureFlags(options.config ?? {}, "/options/codex/config")],
    env: own ? { ...env, ...order.env, [RUN_MARKER]: marker } : env,
    maxLineBytes: host.program.maxLineBytes,
    log: host.program.log ?? order.log,
    runs: host.runs,
  };
  const params = toThreadParams({
    options: options.cwd === undefined ? options : { ...options, cwd: resolve(options.cwd) },
    profile,
    env: buildSessionEnvironment(order.env, marker),
  });
  const lease = await host.pool.acquire(process, own);
  try {
    return await lease.server.router.open(() =>
      enter({ lease, order, options, params, sink, marker, retryLimitMs: host.retryLimitMs }),
    );
  } catch (error) {
    await lease.release("now");
    throw error;
  }
}

interface Entry {
  lease: Lease<AppServer>;
  order: StartOrder;
  options: CodexOptions;
  params: JsonObject;
  sink: BackendSink;
  marker: string;
  retryLimitMs: number;
}

async function enter(entry: Entry): Promise<Run> {
  const { lease, order, options, params, sink } = entry;
  const { server } = lease;
  const lane = server.openLane();
  const result = await openThread({ server, lane }, order, withMcpServers(params, order.mcp));
  const threadId = asString(asObject(asObject(result)["thread"])["id"]);
  if (threadId === undefined) throw new CodedError("spawn_failed", "codex opened a thread without an id");
  const home = readHome(server);
  const { session_id, generation } = order;
  const run = new CodexRun({
    lease,
    lane,
    state: createState({ threadId, options, ...defined({ codexHome: home }) }),
    sink,
    log: order.log,
    turnParams: toTurnParams(options, asString(asObject(result)["model"])),
    reload: () => reload(lane, threadId, withMcpServers(params, order.mcp)),
    retryLimitMs: entry.retryLimitMs,
    marker: entry.marker,
    kept: { session_id, generation, threadParams: params },
  });
  if (!server.moveIn(run))
    throw new CodedError("spawn_failed", "codex exited while the thread was being opened");
  sink.nativeId(threadId);
  run.introduce(result);
  server.router.claim(threadId, run);
  return run;
}

/** Codex has unloaded the thread. */
export async function reload(lane: SessionLane, threadId: string, params: JsonObject): Promise<void> {
  await lane.request("thread/resume", resumeParams(threadId, params), OPEN_LIMIT_MS);
}

interface Place {
  server: AppServer;
  lane: SessionLane;
}

async function openThread({ server, lane }: Place, order: StartOrder, params: JsonObject): Promise<unknown> {
  if (!order.resume) return begin(lane, params, order);
  const threadId = order.native_session_id ?? order.session_id;
  if (server.router.findOwner(threadId) !== undefined) {
    throw new CodedError("spawn_failed", `thread ${threadId} is open in another session of this daemon`);
  }
  try {
    const result = await lane.request("thread/resume", resumeParams(threadId, params), OPEN_LIMIT_MS);
    refuseActive(threadId, result);
    return result;
  } catch (error) {
    if (!(error instanceof RpcError)) throw toSpawnError(error);
    if (NOTHING_THERE.test(error.message) && order.began_here) return begin(lane, params, order);
    if (/already has an active writer/.test(error.message)) throw inUse(threadId, error);
    throw toSpawnError(error);
  }
}

/** A thread without a turn has no rollout; a session id that is not a UUID never was a thread id. */
const NOTHING_THERE = /^no rollout found|^invalid session id|^invalid thread id/;

function resumeParams(threadId: string, params: JsonObject): JsonObject {
  return { ...params, threadId, excludeTurns: true };
}

/** A thread keeps the tools that it was started with. */
async function begin(lane: SessionLane, params: JsonObject, { tools }: StartOrder): Promise<unknown> {
  const dynamicTools = tools?.map((tool) => ({ type: "function", ...tool }));
  try {
    return await lane.request("thread/start", { ...params, ...defined({ dynamicTools }) }, OPEN_LIMIT_MS);
  } catch (error) {
    throw toSpawnError(error);
  }
}

/** A message to it would be added to the running turn. */
function refuseActive(threadId: string, result: unknown): void {
  const status = asObject(asObject(asObject(result)["thread"])["status"]);
  if (status["type"] !== "active") return;
  throw new CodedError(
    "spawn_failed",
    `thread ${threadId} is still running a turn that could not be stopped; try again when it is over`,
  );
}

function inUse(threadId: string, cause: Error): CodedError {
  return new CodedError(
    "spawn_failed",
    `thread ${threadId} is open in another Codex (its terminal, its desktop app or another daemon); close it there`,
    { cause },
  );
}

function toSpawnError(cause: unknown): CodedError {
  if (cause instanceof CodedError) return cause;
  return new CodedError("spawn_failed", `codex: ${toMessage(cause)}`, { cause });
}

/**
 * `$CODEX_HOME/<name>.config.toml`, merged over the user's config. Codex reads it only in its own terminal programs
 * (`--profile`); `codex app-server` 0.166.0 has no such flag, so we read it and pass it on.
 */
async function readProfile(codexHome: string, name: string): Promise<JsonObject> {
  const path = join(codexHome, `${name}.config.toml`);
  try {
    return parseToml(await readFile(path, "utf8"));
  } catch (cause) {
    const words = `profile "${name}": cannot read ${path}: ${toMessage(cause)}`;
    throw new CodedError("spawn_failed", words, { cause });
  }
}
