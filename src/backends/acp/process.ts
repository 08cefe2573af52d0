// One process of an ACP agent: handshake, messages to the router, capabilities. Its lifetime is shared-process.ts.
// Frames are read raw, in order: the SDK would drop unknown ones.

import type { JsonObject } from "../../base/json.ts";
import { type PeerPlace, RpcSilence } from "../../base/jsonrpc.ts";
import { type Log, redact } from "../../base/log.ts";
import { asObject, asText, defined } from "../../base/values.ts";
import { type RunsHost, toRunOrder } from "../runs-host.ts";
import { type Resident as ProcessResident, SharedProcess } from "../shared-process.ts";
import { AcpRouter, type AcpTenant } from "./router.ts";

/** What every process needs, also one that an earlier daemon started. */
export interface AcpProcessParts {
  /** Of the agent. */
  name: string;
  maxLineBytes: number;
  log: Log;
  finishMs: number;
  graceMs: number;
}

export interface AcpProcessOrder extends AcpProcessParts {
  command: string;
  args: readonly string[];
  env: Record<string, string | undefined>;
  cwd?: string;
  handshakeMs: number;
  /** Absent: it ends with this daemon. */
  runs?: RunsHost | undefined;
}

export interface AcpResident extends AcpTenant, ProcessResident {}

export type AcpProcess = SharedProcess<AcpResident, AcpRouter>;

const PROTOCOL_VERSION = 1;
const PING = "_blemees/ping";
const PING_MS = 2000;

/**
 * No `fs` and no `terminal`: gemini would read and write through us and fail with new files. `notices`: without it
 * codex-acp prepends its warnings to the answer.
 */
const CLIENT_CAPABILITIES = {
  fs: { readTextFile: false, writeTextFile: false },
  terminal: false,
  session: { notices: {}, compaction: {}, configOptions: { boolean: {} } },
  elicitation: { form: {} },
  // demian's extensions of ACP (translate.ts).
  _meta: { demian: { events: true, notices: true } },
};

/** Resolves when the agent has answered the handshake; throws `spawn_failed` with its output. */
export async function startAcpProcess(order: AcpProcessOrder): Promise<AcpProcess> {
  const { name, command, args, env, cwd, runs, log } = order;
  const server = createAcpProcess(order);
  const kept =
    runs === undefined ? {} : { run: toRunOrder(runs, log), kept: { version: runs.version, backend: name } };
  const place = defined({ cwd });
  await server.start({ command, args, env, ...place, ...kept }, () => shakeHands(server, order.handshakeMs));
  return server;
}

/** `used`: ids of requests that an earlier daemon made. */
export function createAcpProcess(parts: AcpProcessParts, used?: PeerPlace): AcpProcess {
  const { name, maxLineBytes, finishMs, graceMs, log } = parts;
  const router = new AcpRouter({ refuse: (id, why) => server.refuse(id, why), log });
  const server: AcpProcess = new SharedProcess({
    name,
    router,
    used,
    withVersion: true,
    maxLineBytes,
    finishMs,
    graceMs,
    log,
    notification: (method, params, size) => router.route({ kind: "notification", method, params }, size),
    request: (id, method, params, size) => router.route({ kind: "request", id, method, params }, size),
    strayLine: (line) => log.debug("acp.stderr", { agent: name, line: redact(line) }),
    condemned: (why, pid) => log.warn("acp.process_killed", { agent: name, why, pid }),
  });
  return server;
}

export function readVersion({ intro }: AcpProcess): string | undefined {
  return asText(asObject(intro["agentInfo"])["version"]);
}

/** Whether it offers `session/<name>`. */
export function canSession({ intro }: AcpProcess, name: "resume" | "close"): boolean {
  const offered = asObject(asObject(intro["agentCapabilities"])["sessionCapabilities"])[name];
  return offered !== undefined && offered !== null && offered !== false;
}

/** Whether it offers `session/load`. */
export function canLoad({ intro }: AcpProcess): boolean {
  return asObject(intro["agentCapabilities"])["loadSession"] === true;
}

/** Whether it responds at all: "method not found" is a response too. */
export function isResponsive(server: AcpProcess): Promise<boolean> {
  return server.request(PING, {}, PING_MS).then(
    () => true,
    (error: unknown) => !(error instanceof RpcSilence) && server.isAlive,
  );
}

async function shakeHands(server: AcpProcess, limitMs: number): Promise<JsonObject> {
  const params = {
    protocolVersion: PROTOCOL_VERSION,
    clientCapabilities: CLIENT_CAPABILITIES,
    clientInfo: { name: "blemees", title: "blemees", version: "2" },
  };
  const intro = asObject(await server.request("initialize", params, limitMs));
  const { protocolVersion } = intro;
  if (protocolVersion !== PROTOCOL_VERSION) {
    throw new Error(`it implements version ${String(protocolVersion)} of ACP; version 1 is required`);
  }
  return intro;
}
