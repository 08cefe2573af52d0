// The process of an agent that serves any number of sessions over JSON-RPC: its start with a handshake, requests to it,
// who lives in it, and an end that each of them is told exactly once. Which message is for whom is the backend's router.
import { type ChildExit, type ChildOrder, within } from "../base/child.ts";
import { CodedError, messageOf } from "../base/coded-error.ts";
import type { JsonObject } from "../base/json.ts";
import { FrameReader, type LineAside } from "../base/json-lines.ts";
import {
  isNameless,
  JsonRpcPeer,
  type RpcAnswer,
  type RpcErrorBody,
  type RpcId,
  RpcSilence,
} from "../base/jsonrpc.ts";
import type { Log } from "../base/log.ts";
import { AgentProcess, EXIT_FOLLOWS_MS } from "./agent-process.ts";
import { crashMessage, exitMessage, lastWords } from "./last-words.ts";
import type { Ended } from "./types.ts";
import { optional } from "./values.ts";

/** A session in the process. */
export interface Resident {
  /** A turn runs. */
  readonly isBusy: boolean;
  stderr(line: string): void;
  /** A line that could not be read, so perhaps something of this session. */
  unreadable(size: number, reason: string, aside?: LineAside["data"]): void;
  processEnded(why: Ended): void;
}

/** Knows which of them gets a message. */
export interface ResidentRouter<R extends Resident> {
  /** Nothing is for this one any more. */
  retire(resident: R): void;
  close(): void;
}

export interface SharedProcessParts<R extends Resident, T extends ResidentRouter<R>> {
  /** For messages to people. */
  name: string;
  /** The same where its start and its end are told, when it has a longer one. */
  title?: string;
  order: ChildOrder;
  router: T;
  /** Put `"jsonrpc":"2.0"` into every message. */
  withVersion?: boolean;
  maxLineBytes: number;
  finishMs: number;
  graceMs?: number;
  log: Log;
  /** Notifications without which a turn never ends. */
  vital?: ReadonlySet<unknown>;
  /** `size`: bytes on the wire. */
  notification(method: string, params: JsonObject, size: number, message: JsonObject): void;
  request(id: RpcId, method: string, params: JsonObject, size: number): void;
  /** A line of stderr while no turn runs. */
  strayLine(line: string): void;
  /** It is about to be killed. */
  condemned(why: string, pid: number | undefined): void;
}

const METHOD_NOT_FOUND = -32601;

export class SharedProcess<R extends Resident, T extends ResidentRouter<R>> {
  readonly router: T;
  readonly #parts: SharedProcessParts<R, T>;
  readonly #title: string;
  readonly #peer: JsonRpcPeer;
  readonly #process: AgentProcess;
  readonly #holders = new Set<object>();
  readonly #residents = new Set<R>();
  #verdict: string | undefined;
  #end: Ended | undefined;
  /** Of the line that is being handled. */
  #size = 0;
  #intro: JsonObject = {};

  constructor(parts: SharedProcessParts<R, T>) {
    this.router = parts.router;
    this.#parts = parts;
    this.#title = parts.title ?? parts.name;
    this.#peer = new JsonRpcPeer({
      write: (line) => this.#process.write(line),
      handlers: {
        notification: (method, params, message) => parts.notification(method, params, this.#size, message),
        request: (id, method, params) => parts.request(id, method, params, this.#size),
      },
      ...optional("withVersion", parts.withVersion),
    });
    this.#process = new AgentProcess({
      name: parts.name,
      reader: new FrameReader(parts.maxLineBytes, {
        limitName: "max_line_bytes",
        frame: (frame, size) => {
          this.#size = size;
          this.#peer.receive(frame);
        },
        skipped: (size, reason, aside) => this.#skipped(size, reason, aside),
      }),
      finishMs: parts.finishMs,
      ...optional("graceMs", parts.graceMs),
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

  /** What it said about itself in the handshake. */
  get intro(): JsonObject {
    return this.#intro;
  }

  get residents(): number {
    return this.#residents.size;
  }

  /** Resolves when `shakeHands` has; otherwise the process is ended, and its own words are in `spawn_failed`. */
  async start(shakeHands: () => Promise<JsonObject>): Promise<void> {
    await this.#process.start(this.#parts.order);
    try {
      this.#intro = await shakeHands();
    } catch (cause) {
      await within(EXIT_FOLLOWS_MS, this.#process.child?.done ?? Promise.resolve());
      const words = lastWords(this.#process.lastLines) || this.#end?.message || messageOf(cause);
      await this.stop("now");
      throw new CodedError("spawn_failed", `${this.#title} did not start: ${words}`, { cause });
    }
  }

  request(method: string, params: JsonObject, timeoutMs?: number): Promise<unknown> {
    return this.#peer.request(method, params, optional("timeoutMs", timeoutMs));
  }

  /** The answer comes in its turn among the messages, however long it takes. */
  call(method: string, params: JsonObject, answered: (answer: RpcAnswer, size: number) => void): void {
    this.#peer.call(method, params, (answer) => answered(answer, this.#size));
  }

  notify(method: string, params?: JsonObject): void {
    this.#peer.notify(method, params);
  }

  /** Rejects when the agent could not be reached. Whoever does not care need not look. */
  respond(id: RpcId, result: unknown): Promise<void> {
    return this.#peer.respond(id, result);
  }

  respondError(id: RpcId, error: RpcErrorBody): void {
    this.#peer.respondError(id, error);
  }

  /** A request that is for nobody. */
  refuse(id: RpcId, message: string): void {
    this.respondError(id, { code: METHOD_NOT_FOUND, message });
  }

  /** False when the process has gone meanwhile. */
  moveIn(resident: R): boolean {
    if (this.#end !== undefined) return false;
    this.#residents.add(resident);
    return true;
  }

  moveOut(resident: R): void {
    this.#residents.delete(resident);
    this.router.retire(resident);
    this.release(resident);
  }

  /** Nothing is read from the agent as long as anybody holds it. */
  hold(holder: object): void {
    this.#holders.add(holder);
    this.#process.pause();
  }

  /** Its silence says nothing then. */
  get isHeld(): boolean {
    return this.#holders.size > 0;
  }

  release(holder: object): void {
    if (this.#holders.delete(holder) && this.#holders.size === 0) this.#process.resume();
  }

  /** It no longer does what it is for. Everybody in it is told why. */
  async kill(why: string): Promise<void> {
    this.#verdict ??= why;
    this.#parts.condemned(why, this.pid);
    await this.#process.kill();
  }

  stop(how: "finish" | "now"): Promise<void> {
    return this.#process.stop(how);
  }

  #errorLine(line: string): void {
    const busy = [...this.#residents].filter((resident) => resident.isBusy);
    for (const resident of busy) resident.stderr(line);
    if (busy.length === 0) this.#parts.strayLine(line);
  }

  #skipped(size: number, reason: string, aside: LineAside | undefined): void {
    const { log, name } = this.#parts;
    log.warn("backend.unreadable_stdout", { backend: name, size, reason });
    for (const resident of this.#residents) {
      if (resident.isBusy) resident.unreadable(size, reason, aside?.data);
    }
    if (aside === undefined) return;
    const why = `a line of ${size} bytes from ${name} was skipped: ${reason}`;
    const { outline, isCut } = aside;
    const method = outline.get("method");
    if (this.#parts.vital?.has(method)) void this.kill(`${String(method)}: ${why}`);
    else if (isCut && isNameless(outline)) void this.kill(why);
    else {
      this.#size = size;
      this.#peer.lost(outline, why);
    }
  }

  /** It may have lived for days: what it said last need not be why it ended. */
  #lastWords(exit: ChildExit, expected: boolean): string {
    const how = `${this.#title}: ${exitMessage(exit)}`;
    const { lastLines } = this.#process;
    return expected || lastLines.length === 0 ? how : `${how}; ${crashMessage(exit, lastLines)}`;
  }

  #ended(exit: ChildExit, expected: boolean): void {
    const end = { expected, message: this.#verdict ?? this.#lastWords(exit, expected), ...exit };
    this.#end = end;
    this.#peer.close(new RpcSilence(`${this.#parts.name} has ended`));
    const residents = [...this.#residents];
    this.#residents.clear();
    for (const resident of residents) resident.processEnded(end);
    this.router.close();
  }
}
