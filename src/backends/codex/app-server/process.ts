// One `codex app-server` process: handshake, and messages to the router. Its lifetime is shared-process.ts;
// translate.ts interprets messages.

import { isObject, type JsonObject } from "../../../base/json.ts";
import type { PeerPlace } from "../../../base/jsonrpc.ts";
import { type Log, redact } from "../../../base/log.ts";
import { asObject, asString } from "../../../base/values.ts";
import { type RunsHost, toRunOrder } from "../../runs-host.ts";
import { type Resident as ProcessResident, SharedProcess } from "../../shared-process.ts";
import { ThreadRouter, type ThreadTenant } from "./router.ts";

/** What every process needs, also one that an earlier daemon started. */
export interface AppServerParts {
  maxLineBytes: number;
  log: Log;
}

export interface AppServerOrder extends AppServerParts {
  command: string;
  args: readonly string[];
  env: Record<string, string | undefined>;
  /** Timeout of the handshake. */
  handshakeMs?: number;
  /** Absent: it ends with this daemon. */
  runs?: RunsHost | undefined;
}

export interface AppServerResident extends ThreadTenant, ProcessResident {}

export type AppServer = SharedProcess<AppServerResident, ThreadRouter>;

const NAME = "codex";
const LOOK_UP = "thread/read";
const HANDSHAKE_MS = 15_000;
const LOOK_UP_MS = 5000;
const FINISH_MS = 2000;
/** Notifications that no session needs. */
const UNWANTED = ["remoteControl/status/changed"];

/** Resolves when codex has answered the handshake; throws `spawn_failed` with its output. */
export async function startAppServer(order: AppServerOrder): Promise<AppServer> {
  const { command, args, env, runs, log, handshakeMs = HANDSHAKE_MS } = order;
  const server = createAppServer(order);
  const kept =
    runs === undefined ? {} : { run: toRunOrder(runs, log), kept: { version: runs.version, backend: NAME } };
  await server.start({ command, args, env, ...kept }, () => shakeHands(server, handshakeMs));
  return server;
}

/** `used`: ids of requests that an earlier daemon made. */
export function createAppServer({ maxLineBytes, log }: AppServerParts, used?: PeerPlace): AppServer {
  const router = new ThreadRouter({
    lookUp: (threadId) => lookUp(server, threadId),
    wasLookedUp: (threadId) => server.wasRequested(LOOK_UP, { threadId }),
    refuse: (id, why) => server.refuse(id, why),
    log,
  });
  const server: AppServer = new SharedProcess({
    name: NAME,
    title: "codex app-server",
    router,
    used,
    maxLineBytes,
    finishMs: FINISH_MS,
    log,
    vital: new Set(["turn/completed"]),
    notification: (method, params, size, { emittedAtMs }) => {
      const emitted = typeof emittedAtMs === "number" ? { emittedAtMs } : {};
      router.route({ kind: "notification", method, params, size, ...emitted });
    },
    request: (id, method, params, size) => router.route({ kind: "request", id, method, params, size }),
    strayLine: (line) => log.debug("codex.stderr", { line: redact(line) }),
    condemned: (why, pid) => log.warn("codex.process_killed", { why, pid }),
  });
  return server;
}

/** "0.166.0", from `userAgent: "<our name>/0.166.0 (…) …"`. */
export function readVersion({ intro }: AppServer): string | undefined {
  return /\/(\d+(?:\.\d+)+\S*)/.exec(asString(intro["userAgent"]) ?? "")?.[1];
}

/** The directory of this process's threads. */
export function readHome({ intro }: AppServer): string | undefined {
  return asString(intro["codexHome"]);
}

async function shakeHands(server: AppServer, limitMs: number): Promise<JsonObject> {
  const capabilities = {
    experimentalApi: true,
    requestAttestation: false,
    optOutNotificationMethods: UNWANTED,
  };
  const clientInfo = { name: "blemees", title: "blemees", version: "2" };
  const intro = await server.request("initialize", { clientInfo, capabilities }, limitMs);
  server.notify("initialized");
  return asObject(intro);
}

async function lookUp(server: AppServer, threadId: string): Promise<JsonObject | undefined> {
  const found = await server.request(LOOK_UP, { threadId }, LOOK_UP_MS).catch(() => undefined);
  const thread = isObject(found) ? found["thread"] : undefined;
  return isObject(thread) ? thread : undefined;
}
