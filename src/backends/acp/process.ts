// One process of an ACP agent: its handshake, its messages to the router, and what it says that it can do. How it lives
// and ends is shared-process.ts. The frames are read raw, in order: the SDK would drop what it does not know.
import type { JsonObject } from "../../base/json.ts";
import { RpcSilence } from "../../base/jsonrpc.ts";
import { type Log, redact } from "../../base/log.ts";
import { type Resident as ProcessResident, SharedProcess } from "../shared-process.ts";
import { objectOf, textOf } from "../values.ts";
import { Router, type Tenant } from "./router.ts";

export interface ProcessOrder {
  /** Of the agent. */
  name: string;
  command: string;
  args: readonly string[];
  env: Record<string, string | undefined>;
  cwd?: string;
  maxLineBytes: number;
  log: Log;
  handshakeMs: number;
  finishMs: number;
  graceMs: number;
}

export interface Resident extends Tenant, ProcessResident {}

export type AcpProcess = SharedProcess<Resident, Router>;

const PROTOCOL_VERSION = 1;
const PING = "_blemees/ping";
const PING_MS = 2000;

/**
 * No `fs` and no `terminal`: gemini would read and write through us and fail with new files. `notices`: without it
 * codex-acp puts its warnings in front of the answer.
 */
const CLIENT_CAPABILITIES = {
  fs: { readTextFile: false, writeTextFile: false },
  terminal: false,
  session: { notices: {}, compaction: {}, configOptions: { boolean: {} } },
  elicitation: { form: {} },
  // What demian tells beyond ACP (translate.ts).
  _meta: { demian: { events: true, notices: true } },
};

/** Resolves when the agent has answered the handshake; throws `spawn_failed` with its own words. */
export async function startAcpProcess(order: ProcessOrder): Promise<AcpProcess> {
  const { name, maxLineBytes, finishMs, graceMs, log } = order;
  const router = new Router({ refuse: (id, why) => server.refuse(id, why), log });
  const server: AcpProcess = new SharedProcess({
    name,
    order,
    router,
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
  await server.start(() => shakeHands(server, order.handshakeMs));
  return server;
}

export function versionOf({ intro }: AcpProcess): string | undefined {
  return textOf(objectOf(intro["agentInfo"])["version"]);
}

/** Whether it offers `session/<name>`. */
export function canSession({ intro }: AcpProcess, name: "resume" | "close"): boolean {
  const offered = objectOf(objectOf(intro["agentCapabilities"])["sessionCapabilities"])[name];
  return offered !== undefined && offered !== null && offered !== false;
}

/** Whether it offers `session/load`. */
export function canLoad({ intro }: AcpProcess): boolean {
  return objectOf(intro["agentCapabilities"])["loadSession"] === true;
}

/** Whether it answers anything at all: that it does not know the method is an answer too. */
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
  const intro = objectOf(await server.request("initialize", params, limitMs));
  const { protocolVersion } = intro;
  if (protocolVersion !== PROTOCOL_VERSION) {
    throw new Error(`it speaks version ${String(protocolVersion)} of ACP; version 1 is needed`);
  }
  return intro;
}
