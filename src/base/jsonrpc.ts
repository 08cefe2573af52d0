// One end of a JSON-RPC connection over lines, without a process or socket: it is given a function that writes a line, and is
// fed parsed messages. Codex's app-server omits the "jsonrpc" field, MCP requires it.

import { isObject, type JsonObject } from "./json.ts";
import { type LanePlace, RpcLane } from "./jsonrpc-lanes.ts";
import { RpcReplay } from "./jsonrpc-replay.ts";
import { readMonotonicMs } from "./monotonic.ts";
import { defined } from "./values.ts";

export type RpcId = number | string;

export interface RpcErrorBody {
  code: number;
  message: string;
  data?: unknown;
}

/** The other side replied with an error. */
export class RpcError extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(method: string, body: RpcErrorBody) {
    super(body.message);
    this.name = `RpcError(${method})`;
    this.code = body.code;
    this.data = body.data;
  }
}

/** No reply in time, or none ever: the connection is closed. */
export class RpcSilence extends Error {}

export interface RpcHandlers {
  notification(method: string, params: JsonObject, message: JsonObject): void;
  /** Must be answered with `respond` or `respondError`, at any time. */
  request(id: RpcId, method: string, params: JsonObject, message: JsonObject): void;
}

export interface RpcOptions {
  /** A rejected write fails the request it carried. */
  write(line: string): Promise<void>;
  handlers: RpcHandlers;
  /** Add `"jsonrpc":"2.0"` to every message. */
  withVersion?: boolean;
}

/** `error` is what `request` would reject with. */
export type RpcAnswer = { result: unknown } | { error: Error };

export interface RequestOptions {
  /** No timeout if absent. */
  timeoutMs?: number;
  /** Whose request it is; absent: the connection's own. */
  lane?: RpcLane;
}

/** For snapshots: which ids were used. */
export interface PeerPlace {
  lanes: number;
  /** Of the connection's own requests. */
  count: number;
}

interface Pending {
  method: string;
  resolve(result: unknown): void;
  reject(error: Error): void;
}

/** "Server overloaded": nothing was done; retry. */
const OVERLOADED = -32001;
const PARSE_ERROR = -32700;
const RETRY_MS = [50, 100, 200, 400, 800];

/** Whether a partial message does not identify itself yet. */
export function isNameless(outline: ReadonlyMap<string, unknown>): boolean {
  if (outline.get("id") !== undefined || outline.get("method") !== undefined) return false;
  return ["id", "method", "params", "result", "error"].some((key) => outline.has(key));
}

export class JsonRpcPeer {
  readonly #options: RpcOptions;
  readonly #pending = new Map<RpcId, Pending>();
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #own: RpcLane;
  #lanes: number;
  #replay: RpcReplay | undefined;
  /** Starts the clocks of requests that are made in a replay. */
  #clocks: Array<() => void> = [];
  #closed: Error | undefined;

  /** `used`: ids of an earlier connection to the same process, which are not used again. */
  constructor(options: RpcOptions, used: PeerPlace = { lanes: 0, count: 0 }) {
    this.#options = options;
    this.#own = new RpcLane({ number: 0, count: used.count });
    this.#lanes = used.lanes;
  }

  /** For snapshots. */
  get place(): PeerPlace {
    return { lanes: this.#lanes, count: this.#own.place.count };
  }

  /** A lane for a new session, or one that is continued. */
  openLane(place?: LanePlace): RpcLane {
    if (place === undefined) this.#lanes += 1;
    else this.#lanes = Math.max(this.#lanes, place.number);
    const lane = new RpcLane(place ?? { number: this.#lanes, count: 0 });
    if (this.#replay !== undefined) lane.skipTo(this.#replay.highestOf(lane.number));
    return lane;
  }

  /** `lines`: what an earlier daemon has written to the process. What follows is a repetition, until `endReplay`. */
  startReplay(lines: readonly string[]): void {
    this.#replay = new RpcReplay(lines);
    this.#own.skipTo(this.#replay.highestOf(0));
    this.#lanes = Math.max(this.#lanes, this.#replay.lastLane);
  }

  endReplay(): void {
    this.#replay = undefined;
    for (const start of this.#clocks.splice(0)) start();
  }

  /** In a replay: whether this request of the connection's own was made before and not repeated yet. */
  wasMade(method: string, params: JsonObject): boolean {
    return this.#replay?.wasMade(this.#own, method, params) === true;
  }

  /** Rejects with `RpcError` (an error reply), `RpcSilence` (no reply) or the write error. */
  request(method: string, params?: JsonObject, options: RequestOptions = {}): Promise<unknown> {
    const { lane = this.#own, timeoutMs = Number.POSITIVE_INFINITY } = options;
    return lane.track(this.#request(lane, method, params, timeoutMs));
  }

  async #request(
    lane: RpcLane,
    method: string,
    params: JsonObject | undefined,
    timeoutMs: number,
  ): Promise<unknown> {
    const deadline = readMonotonicMs() + timeoutMs;
    for (const waitMs of RETRY_MS) {
      try {
        return await this.#ask(lane, method, params, deadline - readMonotonicMs());
      } catch (error) {
        if (!(error instanceof RpcError) || error.code !== OVERLOADED) throw error;
        if (readMonotonicMs() + waitMs >= deadline) throw error;
      }
      // If the peer was closed meanwhile, the next attempt fails.
      await new Promise((resolve) => setTimeout(resolve, waitMs));
    }
    return this.#ask(lane, method, params, deadline - readMonotonicMs());
  }

  /**
   * The same in one attempt and without a timeout. `answered` is called in order: before any message after the reply is
   * handled, which a promise cannot guarantee. The lane does not count it as open. Returns its id; undefined if the
   * connection is closed.
   */
  call(
    method: string,
    params: JsonObject,
    answered: (answer: RpcAnswer) => void,
    lane: RpcLane = this.#own,
  ): RpcId | undefined {
    if (this.#closed !== undefined) {
      answered({ error: this.#closed });
      return undefined;
    }
    const resolve = (result: unknown) => answered({ result });
    return this.#begin(lane, method, params, resolve, (error) => answered({ error }));
  }

  notify(method: string, params?: JsonObject): void {
    void this.#send({ method, ...defined({ params }) });
  }

  /** Rejects if the reply could not be written; callers may ignore that. */
  respond(id: RpcId, result: unknown): Promise<void> {
    return this.#send({ id, result });
  }

  respondError(id: RpcId, error: RpcErrorBody): void {
    void this.#send({ id, error });
  }

  /** Replies to unknown requests, and anything that is not a message, are ignored. */
  receive(message: JsonObject): void {
    const { method, id } = message;
    const hasId = typeof id === "number" || typeof id === "string";
    if (typeof method === "string") {
      const params = isObject(message["params"]) ? message["params"] : {};
      if (hasId) this.#options.handlers.request(id, method, params, message);
      else this.#options.handlers.notification(method, params, message);
      return;
    }
    if (hasId) this.#settle(id, message);
  }

  /** A message could not be read: the side that waits for it gets an error instead. */
  rejectUnreadable(outline: ReadonlyMap<string, unknown>, why: string): void {
    const id = outline.get("id");
    if (typeof id !== "number" && typeof id !== "string") return;
    const error = { code: PARSE_ERROR, message: why };
    if (outline.has("method") || outline.has("params")) this.respondError(id, error);
    else this.#settle(id, { error });
  }

  /** Rejects all pending requests with this error, and all later ones. */
  close(reason: Error): void {
    if (this.#closed !== undefined) return;
    this.#closed = reason;
    for (const timer of this.#timers) clearTimeout(timer);
    const waiting = [...this.#pending.values()];
    this.#pending.clear();
    for (const { reject } of waiting) reject(reason);
  }

  #ask(lane: RpcLane, method: string, params: JsonObject | undefined, limitMs: number): Promise<unknown> {
    if (this.#closed !== undefined) return Promise.reject(this.#closed);
    return new Promise<unknown>((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined;
      const settle = <T>(then: (value: T) => void) => {
        return (value: T) => {
          if (timer !== undefined) this.#forget(timer);
          then(value);
        };
      };
      const id = this.#begin(lane, method, params, settle(resolve), settle(reject));
      if (Number.isFinite(limitMs)) {
        const silence = () => new RpcSilence(`no answer to ${method} within ${Math.round(limitMs)} ms`);
        const start = () => {
          if (!this.#pending.has(id)) return;
          timer = this.#later(Math.max(0, limitMs), () => this.#pending.get(id)?.reject(silence()));
        };
        if (this.#replay === undefined) start();
        else this.#clocks.push(start);
      }
    });
  }

  #begin(
    lane: RpcLane,
    method: string,
    params: JsonObject | undefined,
    resolve: (result: unknown) => void,
    reject: (error: Error) => void,
  ): RpcId {
    const id = this.#replay?.take(lane, method, params) ?? lane.next();
    const settle = <T>(then: (value: T) => void) => {
      return (value: T) => {
        this.#pending.delete(id);
        then(value);
      };
    };
    this.#pending.set(id, { method, resolve: settle(resolve), reject: settle(reject) });
    const line = this.#line({ method, id, ...defined({ params }) });
    this.#options.write(line).catch((error: Error) => this.#pending.get(id)?.reject(error));
    const early = this.#replay?.takeReply(id);
    if (early !== undefined) queueMicrotask(() => this.#settle(id, early));
    return id;
  }

  #settle(id: RpcId, message: JsonObject): void {
    const pending = this.#pending.get(id);
    if (pending === undefined) {
      if (typeof id === "number") this.#replay?.keep(id, message);
      return;
    }
    const { error } = message;
    if (!isObject(error)) {
      pending.resolve(message["result"]);
      return;
    }
    const { code, data } = error;
    const text = typeof error["message"] === "string" ? error["message"] : "no reason given";
    const body = { code: typeof code === "number" ? code : 0, message: text, data };
    pending.reject(new RpcError(pending.method, body));
  }

  #send(message: JsonObject): Promise<void> {
    const written =
      this.#closed === undefined
        ? this.#options.write(this.#line(message))
        : Promise.reject<void>(this.#closed);
    // Most callers do not await this: the owner of the connection learns of its end elsewhere.
    written.catch(() => undefined);
    return written;
  }

  #line(message: JsonObject): string {
    return JSON.stringify(this.#options.withVersion ? { jsonrpc: "2.0", ...message } : message);
  }

  #later(ms: number, run: () => void): NodeJS.Timeout {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      run();
    }, ms);
    this.#timers.add(timer);
    return timer;
  }

  #forget(timer: NodeJS.Timeout): void {
    clearTimeout(timer);
    this.#timers.delete(timer);
  }
}
