// One process of an ACP agent: its start with the handshake, requests to it, what it says to the router, and an end that
// every session in it is told exactly once. The frames are read raw, in order: the SDK would drop what it does not know.
import { type ChildExit, within } from "../../base/child.ts";
import { CodedError, messageOf } from "../../base/coded-error.ts";
import type { JsonObject } from "../../base/json.ts";
import {
  JsonRpcPeer,
  type RpcAnswer,
  type RpcErrorBody,
  type RpcId,
  RpcSilence,
} from "../../base/jsonrpc.ts";
import { type Log, redact } from "../../base/log.ts";
import { AgentProcess, EXIT_FOLLOWS_MS } from "../agent-process.ts";
import { FrameReader } from "../frames.ts";
import { crashMessage, exitMessage } from "../last-words.ts";
import type { Ended } from "../types.ts";
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

/** A session in the process. */
export interface Resident extends Tenant {
  /** A turn runs. */
  readonly isBusy: boolean;
  stderr(line: string): void;
  /** A line that could not be read, so perhaps something of this session. */
  unreadable(size: number, reason: string): void;
  processEnded(why: Ended): void;
}

const PROTOCOL_VERSION = 1;
const METHOD_NOT_FOUND = -32601;
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
};

/** Resolves when the agent has answered the handshake; throws `spawn_failed` with its own words. */
export async function startAcpProcess(order: ProcessOrder): Promise<AcpProcess> {
  const server = new AcpProcess(order);
  await server.start();
  return server;
}

export class AcpProcess {
  readonly router: Router;
  readonly #order: ProcessOrder;
  readonly #peer: JsonRpcPeer;
  readonly #process: AgentProcess;
  readonly #holders = new Set<object>();
  readonly #residents = new Set<Resident>();
  #verdict: string | undefined;
  #end: Ended | undefined;
  #size = 0;
  #intro: JsonObject = {};

  constructor(order: ProcessOrder) {
    this.#order = order;
    const refuse = (id: RpcId, message: string) => this.respondError(id, { code: METHOD_NOT_FOUND, message });
    this.router = new Router({ refuse, log: order.log });
    this.#peer = new JsonRpcPeer({
      withVersion: true,
      write: (line) => this.#process.write(line),
      handlers: {
        notification: (method, params) =>
          this.router.route({ kind: "notification", method, params }, this.#size),
        request: (id, method, params) =>
          this.router.route({ kind: "request", id, method, params }, this.#size),
      },
    });
    this.#process = new AgentProcess({
      name: order.name,
      reader: new FrameReader(order.maxLineBytes, {
        frame: (frame, size) => {
          this.#size = size;
          this.#peer.receive(frame);
        },
        skipped: (size, reason) => this.#skipped(size, reason),
      }),
      finishMs: order.finishMs,
      graceMs: order.graceMs,
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

  /** The answer to initialize. */
  get intro(): JsonObject {
    return this.#intro;
  }

  get version(): string | undefined {
    return textOf(objectOf(this.#intro["agentInfo"])["version"]);
  }

  get residents(): number {
    return this.#residents.size;
  }

  /** Whether it offers `session/<name>`. */
  canSession(name: "resume" | "close"): boolean {
    const offered = objectOf(objectOf(this.#intro["agentCapabilities"])["sessionCapabilities"])[name];
    return offered !== undefined && offered !== null && offered !== false;
  }

  get canLoad(): boolean {
    return objectOf(this.#intro["agentCapabilities"])["loadSession"] === true;
  }

  async start(): Promise<void> {
    await this.#process.start(this.#order);
    try {
      const clientInfo = { name: "blemees", title: "blemees", version: "2" };
      const params = {
        protocolVersion: PROTOCOL_VERSION,
        clientCapabilities: CLIENT_CAPABILITIES,
        clientInfo,
      };
      this.#intro = objectOf(await this.request("initialize", params, this.#order.handshakeMs));
      const { protocolVersion } = this.#intro;
      if (protocolVersion !== PROTOCOL_VERSION) {
        throw new Error(`it speaks version ${String(protocolVersion)} of ACP; version 1 is needed`);
      }
    } catch (cause) {
      await within(EXIT_FOLLOWS_MS, this.#process.child?.done ?? Promise.resolve());
      const words = this.#process.lastLines.join("\n") || this.#end?.message || messageOf(cause);
      await this.stop("now");
      throw new CodedError("spawn_failed", `${this.#order.name} did not start: ${words}`, { cause });
    }
  }

  request(method: string, params: JsonObject, timeoutMs: number): Promise<unknown> {
    return this.#peer.request(method, params, { timeoutMs });
  }

  /** The answer comes in its turn among the messages, however long it takes. */
  call(method: string, params: JsonObject, answered: (answer: RpcAnswer, size: number) => void): void {
    this.#peer.call(method, params, (answer) => answered(answer, this.#size));
  }

  notify(method: string, params: JsonObject): void {
    this.#peer.notify(method, params);
  }

  /** Rejects when the agent could not be reached. Whoever does not care need not look. */
  respond(id: RpcId, result: unknown): Promise<void> {
    return this.#peer.respond(id, result);
  }

  respondError(id: RpcId, error: RpcErrorBody): void {
    this.#peer.respondError(id, error);
  }

  /** Whether it answers anything at all: that it does not know the method is an answer too. */
  async isResponsive(): Promise<boolean> {
    const answer = this.#peer.request(PING, {}, { timeoutMs: PING_MS });
    return answer.then(
      () => true,
      (error: unknown) => !(error instanceof RpcSilence) && this.isAlive,
    );
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

  /** Nothing is read from the agent as long as anybody holds it. */
  hold(holder: object): void {
    this.#holders.add(holder);
    this.#process.child?.pause();
  }

  /** Its silence says nothing then. */
  get isHeld(): boolean {
    return this.#holders.size > 0;
  }

  release(holder: object): void {
    if (this.#holders.delete(holder) && this.#holders.size === 0) this.#process.child?.resume();
  }

  /** It no longer does what it is for. Everybody in it is told why. */
  async kill(why: string): Promise<void> {
    this.#verdict ??= why;
    this.#order.log.warn("acp.process_killed", { agent: this.#order.name, why, pid: this.pid });
    await this.#process.kill();
  }

  stop(how: "finish" | "now"): Promise<void> {
    return this.#process.stop(how);
  }

  #errorLine(line: string): void {
    const busy = [...this.#residents].filter((resident) => resident.isBusy);
    for (const resident of busy) resident.stderr(line);
    if (busy.length === 0)
      this.#order.log.debug("acp.stderr", { agent: this.#order.name, line: redact(line) });
  }

  #skipped(size: number, reason: string): void {
    this.#order.log.warn("backend.unreadable_stdout", { backend: this.#order.name, size, reason });
    for (const resident of this.#residents) if (resident.isBusy) resident.unreadable(size, reason);
  }

  /** It may have lived for days: what it said last need not be why it ended. */
  #lastWords(exit: ChildExit, expected: boolean): string {
    const how = `${this.#order.name}: ${exitMessage(exit)}`;
    const { lastLines } = this.#process;
    return expected || lastLines.length === 0 ? how : `${how}; ${crashMessage(exit, lastLines)}`;
  }

  #ended(exit: ChildExit, expected: boolean): void {
    const end = { expected, message: this.#verdict ?? this.#lastWords(exit, expected), ...exit };
    this.#end = end;
    this.#peer.close(new RpcSilence(`${this.#order.name} has ended`));
    const residents = [...this.#residents];
    this.#residents.clear();
    for (const resident of residents) resident.processEnded(end);
    this.router.close();
  }
}
