// An agent process that serves many sessions over JSON-RPC: start with a handshake, requests, residents, and an end
// that is reported to each of them once. The backend's router decides which session gets a message.

import { AgentProcess, EXIT_FOLLOWS_MS } from "../base/agent-process.ts";
import { type ChildExit, type ChildOrder, waitAtMost } from "../base/child.ts";
import { CodedError, toMessage } from "../base/coded-error.ts";
import { formatCrash, formatExit, formatTail } from "../base/exit-message.ts";
import type { JsonObject } from "../base/json.ts";
import { FrameReader, type LineAside } from "../base/json-lines.ts";
import {
  isNameless,
  JsonRpcPeer,
  type PeerPlace,
  type RpcAnswer,
  RpcError,
  type RpcErrorBody,
  type RpcId,
  RpcSilence,
} from "../base/jsonrpc.ts";
import type { LanePlace } from "../base/jsonrpc-lanes.ts";
import type { Log } from "../base/log.ts";
import type { FoundRun } from "../base/runs/adopt.ts";
import { describeRun } from "../base/runs/description.ts";
import type { RunMark } from "../base/runs/mark.ts";
import type { RunFiles } from "../base/runs/run-files.ts";
import { defined } from "../base/values.ts";
import type { NoticeEvent } from "../protocol/events.ts";
import { toNotice } from "../protocol/notices.ts";
import type { SnapshotKeeper } from "./keeper.ts";
import type { Ended } from "./types.ts";

/** A session in the process. */
export interface Resident {
  /** A turn is running. */
  readonly isBusy: boolean;
  /** Absent: the process ends with this daemon. */
  readonly keeper?: SnapshotKeeper | undefined;
  stderr(line: string): void;
  /** About a line that may belong to this session, but cannot be read. */
  notice(event: NoticeEvent): void;
  processEnded(why: Ended): void;
}

/** Decides which session gets a message. */
export interface ResidentRouter<R extends Resident> {
  /** No more messages for this one. */
  retire(resident: R): void;
  close(): void;
  /** Messages were handled by an earlier daemon, until `endReplay`. */
  startReplay(): void;
  endReplay(): void;
}

/** The requests of one session. */
export interface SessionLane {
  /** For snapshots. */
  readonly place: LanePlace;
  /** No request waits for its response. */
  readonly isQuiet: boolean;
  request(method: string, params: JsonObject, timeoutMs?: number): Promise<unknown>;
  /**
   * The response is handled in order with the messages, however long it takes. It may never come. Returns the id of the
   * request; undefined if the process has ended.
   */
  call(
    method: string,
    params: JsonObject,
    answered: (answer: RpcAnswer, size: number) => void,
  ): RpcId | undefined;
}

/** How a process is started. */
export interface SharedOrder extends ChildOrder {
  /** Describes it to later daemons; absent: it ends with this one. */
  kept?: { version: string; backend: string } | undefined;
}

export interface SharedProcessParts<R extends Resident, T extends ResidentRouter<R> | undefined> {
  /** For error messages. */
  name: string;
  /** A longer name for messages about its start and end. */
  title?: string;
  /** Undefined: it serves one session. */
  router: T;
  /** Adds `"jsonrpc":"2.0"` to every message. */
  withVersion?: boolean;
  maxLineBytes: number;
  finishMs: number;
  graceMs?: number;
  log: Log;
  /** Ids that were used by an earlier daemon. */
  used?: PeerPlace | undefined;
  /** Notifications without which a turn never ends. */
  vital?: ReadonlySet<unknown>;
  /** A line that is not JSON. Returns true if it was handled, so that it is not reported as unreadable. */
  notJson?(text: string): boolean;
  /** `size`: bytes on the wire. */
  notification(method: string, params: JsonObject, size: number, message: JsonObject): void;
  request(id: RpcId, method: string, params: JsonObject, size: number): void;
  /** A line of stderr outside any turn. */
  strayLine(line: string): void;
  /** It is about to be killed. */
  condemned(why: string, pid: number | undefined): void;
}

const METHOD_NOT_FOUND = -32601;

export class SharedProcess<R extends Resident, T extends ResidentRouter<R> | undefined> {
  readonly router: T;
  readonly #parts: SharedProcessParts<R, T>;
  readonly #title: string;
  readonly #peer: JsonRpcPeer;
  readonly #process: AgentProcess;
  readonly #reader: FrameReader;
  readonly #holders = new Set<object>();
  readonly #residents = new Set<R>();
  #verdict: string | undefined;
  #end: Ended | undefined;
  /** Of the line being handled. */
  #size = 0;
  #intro: JsonObject = {};

  constructor(parts: SharedProcessParts<R, T>) {
    this.router = parts.router;
    this.#parts = parts;
    this.#title = parts.title ?? parts.name;
    const options = {
      write: (line: string) => this.#process.write(line),
      handlers: {
        notification: (method: string, params: JsonObject, message: JsonObject) =>
          parts.notification(method, params, this.#size, message),
        request: (id: RpcId, method: string, params: JsonObject) =>
          parts.request(id, method, params, this.#size),
      },
      ...defined({ withVersion: parts.withVersion }),
    };
    this.#peer = new JsonRpcPeer(options, parts.used);
    this.#reader = new FrameReader(parts.maxLineBytes, {
      limitName: "max_line_bytes",
      frame: (frame, size) => {
        this.#size = size;
        this.#peer.receive(frame);
      },
      skipped: (size, reason, aside) => this.#reportSkipped(size, reason, aside),
      notJson: (text) => parts.notJson?.(text) === true,
    });
    this.#process = new AgentProcess({
      name: parts.name,
      reader: this.#reader,
      finishMs: parts.finishMs,
      ...defined({ graceMs: parts.graceMs }),
      errorLine: (line) => this.#errorLine(line),
      ended: (exit, expected) => this.#onExit(exit, expected),
    });
  }

  get pid(): number | undefined {
    return this.#process.child?.pid;
  }

  get isAlive(): boolean {
    // A process that is being killed accepts no new session.
    return !this.#process.hasEnded && !this.#process.isStopping && this.#verdict === undefined;
  }

  /** Its handshake response. */
  get intro(): JsonObject {
    return this.#intro;
  }

  /** The last lines of its stderr. */
  get lastLines(): readonly string[] {
    return this.#process.lastLines;
  }

  /** Why it was killed. */
  get verdict(): string | undefined {
    return this.#verdict;
  }

  get residents(): ReadonlySet<R> {
    return this.#residents;
  }

  /** Its run directory; absent if it ends with this daemon. */
  get files(): RunFiles | undefined {
    return this.#process.child?.files;
  }

  /** In the environment of everything it starts, unless a session sets another one. */
  get runId(): string | undefined {
    return this.#process.child?.runId;
  }

  /** The end of the output that was handled. */
  get readTo(): number {
    return (this.files?.mark.out ?? 0) - this.#reader.bytesAfterFrame;
  }

  /** The same without the line that is being handled. */
  get readBefore(): number {
    return (this.files?.mark.out ?? 0) - this.#reader.bytesFromFrame;
  }

  /** Ids that were used, for snapshots. */
  get usedIds(): PeerPlace {
    return this.#peer.place;
  }

  /** Of all its sessions. */
  keepers(): SnapshotKeeper[] {
    return [...this.#residents].flatMap(({ keeper }) => keeper ?? []);
  }

  /** Resolves when `shakeHands` has; otherwise the process is ended, and `spawn_failed` has its output. */
  async start(order: SharedOrder, shakeHands: () => Promise<JsonObject>): Promise<void> {
    const { kept, ...child } = order;
    await this.#process.start(child);
    try {
      this.#intro = await shakeHands();
      await this.#describe(order);
    } catch (cause) {
      await waitAtMost(EXIT_FOLLOWS_MS, Promise.resolve(this.#process.child?.done));
      const { hasEnded, exit, lastLines } = this.#process;
      // Silence says less than the exit that explains it.
      const isMute = hasEnded && !(cause instanceof RpcError);
      const why = this.#verdict ?? (isMute ? formatExit(exit) : toMessage(cause));
      const words = formatTail(lastLines) || why;
      await this.stop("now");
      throw new CodedError("spawn_failed", `${this.#title} did not start: ${words}`, { cause });
    }
  }

  /** Connects to a process of an earlier daemon. Until `endReplay` what it is asked is a repetition. */
  adopt(found: FoundRun, from: RunMark, unrecorded: (error: unknown) => void): RunFiles | undefined {
    this.#intro = found.description.intro;
    this.router?.startReplay();
    this.#peer.startReplay(found.history.writes.map(({ line }) => line));
    return this.#process.adopt(found, from, unrecorded).files;
  }

  endReplay(): void {
    this.#peer.endReplay();
    this.router?.endReplay();
  }

  /** In a replay: whether the earlier daemon made this request, for no session. */
  wasRequested(method: string, params: JsonObject): boolean {
    return this.#peer.wasMade(method, params);
  }

  /** For no session. */
  request(method: string, params: JsonObject, timeoutMs?: number): Promise<unknown> {
    return this.#peer.request(method, params, defined({ timeoutMs }));
  }

  /** `place`: of a session that is continued. */
  openLane(place?: LanePlace): SessionLane {
    const lane = this.#peer.openLane(place);
    return {
      get place() {
        return lane.place;
      },
      get isQuiet() {
        return lane.isQuiet;
      },
      request: (method, params, timeoutMs) =>
        this.#peer.request(method, params, { lane, ...defined({ timeoutMs }) }),
      call: (method, params, answered) =>
        this.#peer.call(method, params, (answer) => answered(answer, this.#size), lane),
    };
  }

  notify(method: string, params?: JsonObject): void {
    this.#peer.notify(method, params);
  }

  /** Rejects if the agent could not be reached; callers may ignore that. */
  respond(id: RpcId, result: unknown): Promise<void> {
    return this.#peer.respond(id, result);
  }

  respondError(id: RpcId, error: RpcErrorBody): void {
    this.#peer.respondError(id, error);
  }

  /** A request for no session. */
  refuse(id: RpcId, message: string): void {
    this.respondError(id, { code: METHOD_NOT_FOUND, message });
  }

  /** False if the process has exited meanwhile. */
  moveIn(resident: R): boolean {
    if (this.#end !== undefined) return false;
    this.#residents.add(resident);
    return true;
  }

  moveOut(resident: R): void {
    this.#residents.delete(resident);
    this.router?.retire(resident);
    this.release(resident);
  }

  /** Nothing is read from the agent while any session holds it. */
  hold(holder: object): void {
    this.#holders.add(holder);
    this.#process.pause();
  }

  /** Its silence means nothing then. */
  get isHeld(): boolean {
    return this.#holders.size > 0;
  }

  release(holder: object): void {
    if (this.#holders.delete(holder) && this.#holders.size === 0) this.#process.resume();
  }

  /** It no longer works. Every session in it gets the reason. */
  async kill(why: string): Promise<void> {
    this.#verdict ??= why;
    this.#parts.condemned(why, this.pid);
    await this.#process.kill();
  }

  stop(how: "finish" | "now"): Promise<void> {
    return this.#process.stop(how);
  }

  async #describe({ kept, command }: SharedOrder): Promise<void> {
    const { child } = this.#process;
    if (kept === undefined || child === undefined) return;
    await describeRun(child, { ...kept, command, intro: this.#intro });
  }

  #errorLine(line: string): void {
    const busy = [...this.#residents].filter((resident) => resident.isBusy);
    for (const resident of busy) resident.stderr(line);
    if (busy.length === 0) this.#parts.strayLine(line);
  }

  #reportSkipped(size: number, reason: string, aside: LineAside | undefined): void {
    const { log, name } = this.#parts;
    log.warn("backend.unreadable_stdout", { backend: name, size, reason });
    const why = `a line of ${size} bytes from ${name} was skipped: ${reason}`;
    const details = { level: "warn", text: why, data: aside?.data } as const;
    const notice = toNotice(name, "unreadable_output", details);
    for (const resident of this.#residents) if (resident.isBusy) resident.notice(notice);
    if (aside === undefined) return;
    const { outline, isCut } = aside;
    const method = outline.get("method");
    if (this.#parts.vital?.has(method)) void this.kill(`${String(method)}: ${why}`);
    else if (isCut && isNameless(outline)) void this.kill(why);
    else {
      this.#size = size;
      this.#peer.rejectUnreadable(outline, why);
    }
  }

  /** It may have run for days: its last output need not be why it ended. */
  #endMessage(exit: ChildExit, expected: boolean): string {
    const how = `${this.#title}: ${formatExit(exit)}`;
    const { lastLines } = this.#process;
    return expected || lastLines.length === 0 ? how : `${how}; ${formatCrash(exit, lastLines)}`;
  }

  #onExit(exit: ChildExit, expected: boolean): void {
    const end = { expected, message: this.#verdict ?? this.#endMessage(exit, expected), ...exit };
    this.#end = end;
    this.#peer.close(new RpcSilence(`${this.#parts.name} has ended`));
    const residents = [...this.#residents];
    this.#residents.clear();
    for (const resident of residents) resident.processEnded(end);
    this.router?.close();
  }
}
