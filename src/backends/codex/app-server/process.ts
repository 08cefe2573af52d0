// One `codex app-server` process: its start with the handshake, requests to it, what it says to the router, and an end
// that every session in it is told exactly once. What messages mean is translate.ts.
import { type ChildExit, within } from "../../../base/child.ts";
import { CodedError, messageOf } from "../../../base/coded-error.ts";
import { isObject, type JsonObject } from "../../../base/json.ts";
import { JsonRpcPeer, type RpcErrorBody, type RpcId, RpcSilence } from "../../../base/jsonrpc.ts";
import { type Log, redact } from "../../../base/log.ts";
import { AgentProcess, EXIT_FOLLOWS_MS } from "../../agent-process.ts";
import { FrameReader } from "../../frames.ts";
import { crashMessage, exitMessage } from "../../last-words.ts";
import type { Ended } from "../../types.ts";
import { Router, type Tenant } from "./router.ts";

export interface ProcessOrder {
  command: string;
  args: readonly string[];
  env: Record<string, string | undefined>;
  maxLineBytes: number;
  log: Log;
  /** How long it may take to answer the handshake. */
  handshakeMs?: number;
}

/** A session in the process. */
export interface Resident extends Tenant {
  stderr(line: string): void;
  /** A line that could not be read, so perhaps something of this session. */
  unreadable(size: number, reason: string): void;
  processEnded(why: Ended): void;
}

const HANDSHAKE_MS = 15_000;
const LOOK_UP_MS = 5000;
const FINISH_MS = 2000;
/** What says nothing that a session wants to hear. */
const UNWANTED = ["remoteControl/status/changed"];

/** Resolves when codex has answered the handshake; throws `spawn_failed` with its own words. */
export async function startAppServer(order: ProcessOrder): Promise<AppServer> {
  const server = new AppServer(order);
  await server.start();
  return server;
}

export class AppServer {
  readonly router: Router;
  readonly #order: ProcessOrder;
  readonly #peer: JsonRpcPeer;
  readonly #process: AgentProcess;
  readonly #holders = new Set<object>();
  readonly #residents = new Set<Resident>();
  #verdict: string | undefined;
  #end: Ended | undefined;
  #size = 0;
  /** What codex said about itself. */
  #intro: JsonObject = {};

  constructor(order: ProcessOrder) {
    this.#order = order;
    const lookUp = (threadId: string) => this.#lookUp(threadId);
    const refuse = (id: RpcId, message: string) => this.respondError(id, { code: -32601, message });
    this.router = new Router({ lookUp, refuse, log: order.log });
    this.#peer = new JsonRpcPeer({
      write: (line) => this.#process.write(line),
      handlers: {
        notification: (method, params, message) => {
          const at = message["emittedAtMs"];
          const emitted = typeof at === "number" ? { emittedAtMs: at } : {};
          this.router.route({ kind: "notification", method, params, size: this.#size, ...emitted });
        },
        request: (id, method, params) =>
          this.router.route({ kind: "request", id, method, params, size: this.#size }),
      },
    });
    this.#process = new AgentProcess({
      name: "codex",
      reader: new FrameReader(order.maxLineBytes, {
        frame: (frame, size) => {
          this.#size = size;
          this.#peer.receive(frame);
        },
        skipped: (size, reason) => this.#skipped(size, reason),
      }),
      finishMs: FINISH_MS,
      errorLine: (line) => this.#errorLine(line),
      ended: (exit, expected) => this.#ended(exit, expected),
    });
  }

  get pid(): number | undefined {
    return this.#process.child?.pid;
  }

  get isAlive(): boolean {
    // One that is being killed takes no new session.
    return !this.#process.hasEnded && !this.#process.isStopping && this.#verdict === undefined;
  }

  /** "0.166.0", from `userAgent: "<our name>/0.166.0 (…) …"`. */
  get version(): string | undefined {
    return /\/(\d+(?:\.\d+)+\S*)/.exec(String(this.#intro["userAgent"]))?.[1];
  }

  get codexHome(): string | undefined {
    const home = this.#intro["codexHome"];
    return typeof home === "string" ? home : undefined;
  }

  get residents(): number {
    return this.#residents.size;
  }

  async start(): Promise<void> {
    await this.#process.start(this.#order);
    try {
      const capabilities = {
        experimentalApi: true,
        requestAttestation: false,
        optOutNotificationMethods: UNWANTED,
      };
      const { handshakeMs = HANDSHAKE_MS } = this.#order;
      const clientInfo = { name: "blemees", title: "blemees", version: "2" };
      const intro = await this.request("initialize", { clientInfo, capabilities }, handshakeMs);
      this.#intro = isObject(intro) ? intro : {};
      this.#peer.notify("initialized");
    } catch (cause) {
      await within(EXIT_FOLLOWS_MS, this.#process.child?.done ?? Promise.resolve());
      const words = this.#process.lastLines.join("\n") || this.#end?.message || messageOf(cause);
      await this.stop("now");
      throw new CodedError("spawn_failed", `codex app-server did not start: ${words}`, { cause });
    }
  }

  request(method: string, params: JsonObject, timeoutMs?: number): Promise<unknown> {
    return this.#peer.request(method, params, timeoutMs === undefined ? {} : { timeoutMs });
  }

  /** Rejects when codex could not be reached. Whoever does not care need not look. */
  respond(id: RpcId, result: unknown): Promise<void> {
    return this.#peer.respond(id, result);
  }

  respondError(id: RpcId, error: RpcErrorBody): void {
    this.#peer.respondError(id, error);
  }

  /** False when the process has gone meanwhile. */
  moveIn(resident: Resident): boolean {
    if (this.#end !== undefined) return false;
    this.#residents.add(resident);
    return true;
  }

  moveOut(resident: Resident): void {
    this.#residents.delete(resident);
    this.router.retire(resident);
    this.release(resident);
  }

  /** Nothing is read from codex as long as anybody holds it. */
  hold(holder: object): void {
    this.#holders.add(holder);
    this.#process.child?.pause();
  }

  release(holder: object): void {
    if (this.#holders.delete(holder) && this.#holders.size === 0) this.#process.child?.resume();
  }

  /** It no longer does what it is for. Everybody in it is told why. */
  async kill(why: string): Promise<void> {
    this.#verdict ??= why;
    this.#order.log.warn("codex.process_killed", { why, pid: this.pid });
    await this.#process.kill();
  }

  stop(how: "finish" | "now"): Promise<void> {
    return this.#process.stop(how);
  }

  #errorLine(line: string): void {
    const busy = [...this.#residents].filter((resident) => resident.isBusy);
    for (const resident of busy) resident.stderr(line);
    if (busy.length === 0) this.#order.log.debug("codex.stderr", { line: redact(line) });
  }

  async #lookUp(threadId: string): Promise<JsonObject | undefined> {
    const found = await this.request("thread/read", { threadId }, LOOK_UP_MS).catch(() => undefined);
    const thread = isObject(found) ? found["thread"] : undefined;
    return isObject(thread) ? thread : undefined;
  }

  #skipped(size: number, reason: string): void {
    this.#order.log.warn("backend.unreadable_stdout", { backend: "codex", size, reason });
    for (const resident of this.#residents) if (resident.isBusy) resident.unreadable(size, reason);
  }

  /** It may have lived for days: what it said last need not be why it ended. */
  #lastWords(exit: ChildExit, expected: boolean): string {
    const how = `codex app-server: ${exitMessage(exit)}`;
    const { lastLines } = this.#process;
    return expected || lastLines.length === 0 ? how : `${how}; ${crashMessage(exit, lastLines)}`;
  }

  #ended(exit: ChildExit, expected: boolean): void {
    const end = { expected, message: this.#verdict ?? this.#lastWords(exit, expected), ...exit };
    this.#end = end;
    this.#peer.close(new RpcSilence("codex has ended"));
    const residents = [...this.#residents];
    this.#residents.clear();
    for (const resident of residents) resident.processEnded(end);
    this.router.close();
  }
}
