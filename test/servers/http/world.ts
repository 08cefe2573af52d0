// An HTTP server on a Unix socket and on loopback, with a fake manager, and clients for it.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type IncomingMessage, type RequestOptions, request } from "node:http";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, vi } from "vitest";
import { silentLog } from "../../../src/base/log.ts";
import { ErrorBody } from "../../../src/protocol/wire/http.ts";
import { matchPath } from "../../../src/servers/http/find-route.ts";
import { createHttpDoor, HTTP_DEFAULTS, Loopback } from "../../../src/servers/http/index.ts";
import type { HttpListening } from "../../../src/servers/http/listen.ts";
import { ROUTES } from "../../../src/servers/http/routes/index.ts";
import type { HttpLimits } from "../../../src/servers/http/types.ts";
import { listenOnSocket } from "../../../src/servers/socket/index.ts";
import type { DaemonFacts, Listening } from "../../../src/servers/types.ts";
import { type Hub, LOCAL } from "../../../src/sessions/index.ts";
import { Policy } from "../../../src/sessions/policy/policy.ts";
import { Worktrees } from "../../../src/sessions/worktrees/worktrees.ts";
import { createDefaultRow } from "../../../src/store/default-row.ts";
import { createMemoryStore } from "../../../src/store/index.ts";
import { FakeManager } from "./fake-manager.ts";

export interface Answer {
  status: number;
  headers: Record<string, unknown>;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: what a test reads from a reply, after it was checked
  body: any;
}

export interface Ask {
  body?: unknown;
  headers?: Record<string, string>;
  /** On loopback instead of the Unix socket; without headers of its own it has the token. */
  tcp?: boolean;
}

export interface World {
  manager: FakeManager;
  home: string;
  path: string;
  tokenFile: string;
  http: HttpListening;
  unix: Listening;
  loopback: Loopback;
  /** Of the one-time links. */
  clock: { nowMs: number };
  logged: { event: string; fields: unknown }[];
  /** Each time the daemon was asked to stop. */
  stops: { leaveAgents: boolean }[];
  ask(method: string, path: string, ask?: Ask): Promise<Answer>;
  open(path: string, ask?: Ask): Promise<IncomingMessage>;
  raw(tcp?: boolean): Promise<Socket>;
  close(): Promise<void>;
}

export async function createWorld(limits: Partial<HttpLimits> = {}, maxConnections = 1000): Promise<World> {
  const home = mkdtempSync(join(tmpdir(), "bl-http-"));
  const path = join(home, "d.sock");
  const manager = new FakeManager();
  const logged: World["logged"] = [];
  const stops: World["stops"] = [];
  const note = (event: string, fields?: unknown) => void logged.push({ event, fields });
  const log = { ...silentLog, debug: note, info: note, warn: note, error: note, with: () => log };
  const rules = join(home, "policy.toml");
  writeFileSync(rules, '[[rules]]\nid = "r-1"\nthen = "ask"\nwhen.tool = "x"\n', { mode: 0o600 });
  const context = {
    manager,
    identify: () => LOCAL,
    policy: new Policy({
      path: rules,
      store: createMemoryStore(),
      log,
      agentPath: "/usr/bin:/bin",
      findSession: async (session_id) => createDefaultRow({ session_id }, 0),
      changed: () => undefined,
    }),
    worktrees: new Worktrees({
      ...{ root: join(home, "worktrees"), setUp: new Map(), env: {}, log },
      findGit: async () => ({ reason: "git is missing" }),
      listBusy: () => [],
    }),
    transcripts: {
      list: async () => ({ transcripts: [] }),
      view: async (session_id: string) => ({
        ...{ session_id, backend: "claude", provider: "claude", last_active_at_ms: 1, size_bytes: 1 },
      }),
      events: async () => ({ events: [], next_seq: 0, is_end: true }),
    },
    metrics: {
      counter: () => ({ add: () => undefined }),
      gauge: () => undefined,
      beforeScrape: () => undefined,
      text: () => "up 1\n",
      scrape: async () => "up 1\n",
    },
    hub: {
      counts: () => ({ total: 0, attached: 0, detached: 0, active_turns: 0, by_backend: {} }),
      runningAgents: () => 0,
    },
    facts: facts(path),
    log,
    control: {
      leavesAgents: (asked: boolean | undefined) => asked ?? true,
      stop: (how: { leaveAgents: boolean }) => void stops.push(how),
      restart: async () => ({ pid: 2 }),
    },
  };
  const all: HttpLimits = {
    ...HTTP_DEFAULTS,
    maxBodyBytes: 1024 * 1024,
    outboxBytes: 64 * 1024,
    slowConsumerMs: 30_000,
    maxConnections,
    tokenFile: join(home, "http-token"),
    ...limits,
  };
  const clock = { nowMs: 1_000_000 };
  const webDirectory = join(home, "web");
  writeWebFiles(webDirectory);
  const loopback = new Loopback(context, { limits: all, port: 0, webDirectory, now: () => clock.nowMs });
  const hub = { detach: () => undefined } as unknown as Hub;
  const socketLimits = { maxLineBytes: 1024 * 1024, outboxBytes: 64 * 1024, helloTimeoutMs: 5_000 };
  // A test's thread may not set it; the permissions of the socket are tested on the program.
  const umask = vi.spyOn(process, "umask").mockReturnValue(0o022);
  const unix = await listenOnSocket(
    { path, maxConnections, slowConsumerMs: 30_000, ...socketLimits },
    { hub, identify: context.identify, facts: context.facts, log },
    createHttpDoor(loopback.context, all),
  );
  umask.mockRestore();
  const http = await loopback.open();
  const open = (method: string, target: string, ask: Ask) => send(method, target, ask, path, http);
  return {
    manager,
    home,
    path,
    tokenFile: all.tokenFile,
    http,
    unix,
    loopback,
    clock,
    logged,
    stops,
    ask: async (method, target, ask = {}) =>
      checked(method, target, await readAll(await open(method, target, ask))),
    open: (target, ask = {}) => open("GET", target, ask),
    raw: (tcp = false) => connected(tcp ? connect(http.port, "127.0.0.1") : connect(path)),
    async close() {
      await loopback.close();
      await unix.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

/** The files a browser loads, and one file that is not among them. */
export const WEB_FILES = {
  "index.html": '<!doctype html><script type="module" src="/web/main-ABCD1234.js"></script>',
  "main-ABCD1234.js": 'console.log("here");',
  "main-EFGH5678.css": "body { margin: 0 }",
  "icon.svg": "<svg></svg>",
  "manifest.webmanifest": "{}",
} as const;

function writeWebFiles(directory: string): void {
  mkdirSync(directory);
  for (const [name, text] of Object.entries(WEB_FILES)) writeFileSync(join(directory, name), text);
  writeFileSync(join(directory, "secret.txt"), "not served");
  mkdirSync(join(directory, "sub.js"));
}

function facts(socket_path: string): DaemonFacts {
  return {
    daemon: "blemeesd/0.0.1",
    pid: 1,
    socket_path,
    state_dir: "/state",
    log: () => ({ to: "file", path: "/state/blemeesd.log" }),
    startedAtMs: Date.now(),
    backends: () => ({ demo: "1" }),
    backendStates: () => ({ demo: "1" }),
    detected: () => Promise.resolve(),
    config: {
      ring_buffer_size: 1,
      event_log_enabled: true,
      idle_timeout_s: 1,
      shutdown_grace_s: 1,
      max_concurrent_sessions: 1,
      max_line_bytes: 1,
      retention_total_bytes: 1,
      session_retention_days: 1,
      summary_retention_days: 1,
    },
  };
}

function send(method: string, target: string, ask: Ask, path: string, http: HttpListening) {
  const text =
    ask.body === undefined ? undefined : typeof ask.body === "string" ? ask.body : JSON.stringify(ask.body);
  const place: RequestOptions =
    ask.tcp === true ? { host: "127.0.0.1", port: http.port } : { socketPath: path };
  const own: Record<string, string> =
    ask.headers ?? (ask.tcp === true ? { authorization: `Bearer ${http.token}` } : {});
  const type = method === "GET" || method === "DELETE" ? {} : { "content-type": "application/json" };
  return new Promise<IncomingMessage>((resolve, reject) => {
    const outgoing = request({ ...place, method, path: target, agent: false, headers: { ...type, ...own } });
    outgoing.once("response", resolve);
    outgoing.once("error", reject);
    outgoing.end(text);
  });
}

async function readAll(response: IncomingMessage): Promise<Answer> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString("utf8");
  const isJson = /json/.test(response.headers["content-type"] ?? "");
  const body = isJson && text !== "" ? JSON.parse(text) : undefined;
  return { status: response.statusCode ?? 0, headers: response.headers, text, body };
}

/** Every reply of every test fits the schema that the route has for it. */
function checked(method: string, target: string, answer: Answer): Answer {
  // Its replies, also errors, are those of another protocol, once the guard has let the request pass.
  if (target === "/mcp" && answer.text.includes("jsonrpc")) return answer;
  if (answer.status >= 400) {
    ErrorBody.parse(answer.body);
    return answer;
  }
  const path = target.split("?")[0] ?? "";
  const row = ROUTES.find(
    (one) => one.method.toUpperCase() === method && matchPath(one.path, path) !== undefined,
  );
  const shape = row?.replies[answer.status];
  if (shape === undefined) throw new Error(`${method} ${target} has no reply ${answer.status} in its row`);
  shape.schema?.parse(answer.body);
  return answer;
}

function connected(socket: Socket): Promise<Socket> {
  return new Promise((resolve, reject) => {
    socket.once("error", reject);
    socket.once("connect", () => {
      socket.off("error", reject);
      socket.on("error", () => undefined);
      resolve(socket);
    });
  });
}

/** As `expect.poll`, with the patience that a busy machine needs. */
export function eventually<T>(look: () => T) {
  return expect.poll(look, { timeout: 45_000, interval: 10 });
}

/** Everything received until the other side closes. */
export function untilClosed(socket: Socket): Promise<string> {
  let text = "";
  socket.on("data", (chunk: Buffer) => {
    text += chunk.toString("latin1");
  });
  return new Promise((resolve) => {
    socket.once("close", () => resolve(text));
  });
}
