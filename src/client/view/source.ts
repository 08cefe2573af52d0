// Inputs for the view of one session: stored events, then live ones, requests and queue. Each event comes once and in
// order, across daemon restarts. Also runs in browsers.

import { readErrno, toMessage } from "../../base/coded-error.ts";
import { defined } from "../../base/values.ts";
import type { Backoff } from "../backoff.ts";
import { type Batches, createBatches, keepNewest } from "./batches.ts";
import { readHistory } from "./history.ts";
import { combineStates, keepOpen, type StreamState } from "./keep-open.ts";
import type { ChangeView, StreamItem, ViewPort } from "./port.ts";
import { createRefresher } from "./refresh.ts";
import { readRequests } from "./requests.ts";
import type { ViewInput } from "./types.ts";
import { Unstored } from "./unstored.ts";

export interface SourceOptions {
  /** Number of past events to read at first. */
  history?: number;
  /** An event to start before, however long ago it was; nothing after it is dropped. */
  at_seq?: number;
  backoff?: Backoff;
  /** The shortest time between two calls of the listener. */
  tickMs?: number;
}

export interface Source {
  /**
   * Starts earlier in the history, with twice as much as before: everything follows a `reset`, in one batch.
   * `kept_from`: the first event kept, if the view dropped some (view.ts, `findFirstSeq`). False if nothing is earlier.
   */
  loadEarlier(kept_from?: number): Promise<boolean>;
  /** Adds a line of our own, which keeps its place after a `loadEarlier`. */
  addLine(line: Extract<ViewInput, { kind: "local" }>): void;
  /** The listener is not called afterwards. Safe to call twice. */
  close(): Promise<void>;
}

const HISTORY_EVENTS = 2_000;
/** Read before the event that is to be shown, so that it is not at the very top. */
const BEFORE_EVENTS = 200;

/** Starts immediately; the listener is never called before this returns. */
export function openSource(
  port: ViewPort,
  session_id: string,
  listener: (inputs: readonly ViewInput[]) => void,
  options: SourceOptions = {},
): Source {
  return new SessionSource(port, session_id, listener, options);
}

type Kept = "session" | "requests" | "queue" | "link";
type StateInput = Extract<ViewInput, { kind: Kept }>;

class SessionSource implements Source {
  readonly #port: ViewPort;
  readonly #id: string;
  readonly #history: number;
  readonly #atSeq: number | undefined;
  readonly #backoff: Backoff | undefined;
  readonly #batches: Batches<ViewInput>;
  readonly #over = new AbortController();
  readonly #streams: { events: StreamState; changes: StreamState };
  readonly #done: Promise<unknown>;
  /** The latest state inputs. */
  readonly #states = new Map<Kept, ViewInput>();
  readonly #unstored = new Unstored();
  /** Number of reads: only the newest reply counts. */
  readonly #reads = { requests: 0, queue: 0 };
  /** Events after this one are shown; undefined until the history is read. */
  #start: number | undefined;
  #earliest = 1;
  /** The last event delivered. */
  #cursor = 0;
  #lastGap = "";
  #isClosed = false;
  #earlier: Promise<boolean> | undefined;

  constructor(
    port: ViewPort,
    session_id: string,
    listener: (inputs: readonly ViewInput[]) => void,
    { history = HISTORY_EVENTS, at_seq, backoff, tickMs }: SourceOptions,
  ) {
    this.#port = port;
    this.#id = session_id;
    this.#history = history;
    this.#atSeq = at_seq;
    this.#backoff = backoff;
    this.#batches = createBatches(
      (inputs) => {
        if (!this.#isClosed) listener(inputs);
      },
      thin,
      tickMs,
    );
    this.#streams = { events: { state: "connecting" }, changes: { state: "connecting" } };
    this.#addState({ kind: "link", state: "connecting" });
    this.#done = Promise.all([
      this.#keep("events", (opened) => this.#followEvents(opened)),
      this.#keep("changes", (opened) => this.#followChanges(opened)),
    ]);
  }

  loadEarlier(kept_from = 0): Promise<boolean> {
    this.#earlier ??= this.#loadEarlier(kept_from).finally(() => {
      this.#earlier = undefined;
    });
    return this.#earlier;
  }

  addLine(line: Extract<ViewInput, { kind: "local" }>): void {
    this.#addUnstored(line);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#batches.close();
    this.#over.abort();
    await this.#done;
  }

  async #keep(name: "events" | "changes", stream: (opened: () => void) => Promise<boolean>): Promise<void> {
    const { signal } = this.#over;
    try {
      await keepOpen(stream, {
        signal,
        isFinal: isGone,
        report: (state) => {
          this.#streams[name] = state;
          this.#addState({ kind: "link", ...combineStates(Object.values(this.#streams)) });
        },
        ...defined({ backoff: this.#backoff }),
      });
    } catch (error) {
      const reason = this.#states.has("session") ? "deleted" : "unknown";
      this.#end({ session_id: this.#id, reason, message: toMessage(error) });
    }
  }

  /** Stored events first, because they have timestamps; then the stream. */
  async #followEvents(opened: () => void): Promise<boolean> {
    const { signal } = this.#over;
    if (this.#start === undefined) {
      const session = await this.#port.session(this.#id);
      // The stream of changes may have a newer one.
      if (!this.#states.has("session")) this.#addState({ kind: "session", session });
      const { last_seq } = session;
      const place = this.#atSeq === undefined ? last_seq : this.#atSeq - BEFORE_EVENTS;
      this.#start = Math.max(0, Math.min(last_seq - this.#history, place));
      if (this.#atSeq !== undefined)
        this.#batches.push([{ kind: "reset", up_to: last_seq }, ...this.#states.values()]);
      this.#cursor = this.#start;
    }
    for await (const page of readHistory(this.#port, this.#id, this.#cursor, signal)) {
      if (signal.aborted) return true;
      if (page.isReplaced) {
        this.#startOver();
        return false;
      }
      this.#earliest = page.earliest_seq ?? this.#earliest;
      this.#cursor = page.seq;
      this.#batches.push(page.inputs);
    }
    const stream = this.#port.follow(this.#id, { since_seq: this.#cursor, signal, onOpen: opened });
    for await (const item of stream) {
      if (signal.aborted) return true;
      if (item.kind === "closed") {
        this.#end(item.data);
        return true;
      }
      this.#onItem(item);
    }
    return false;
  }

  #onItem(item: StreamItem): void {
    if (item.kind === "frame") this.#onFrame(item);
    else if (item.kind !== "gap") this.#batches.push([item]);
    else if (this.#isNewGap(item.data)) this.#addUnstored(item);
  }

  #onFrame(frame: Extract<StreamItem, { kind: "frame" }>): void {
    const input = { ...frame, at_ms: Date.now() };
    if (frame.seq === null) this.#addUnstored(input);
    else if (frame.seq > this.#cursor) {
      this.#cursor = frame.seq;
      this.#batches.push([input]);
    }
  }

  /** A reopened stream reports the same gap again. */
  #isNewGap({ since_seq, gap_reason }: Readonly<Record<string, unknown>>): boolean {
    const gap = `${since_seq} ${gap_reason}`;
    if (gap === this.#lastGap) return false;
    this.#lastGap = gap;
    return true;
  }

  /** The daemon lost events we have seen (restored state or disk failure): start over. */
  #startOver(): void {
    this.#start = undefined;
    this.#cursor = 0;
    this.#lastGap = "";
    this.#unstored.clear();
    this.#batches.push([{ kind: "reset" }, ...this.#states.values()]);
  }

  async #followChanges(opened: () => void): Promise<boolean> {
    const ended = new AbortController();
    const signal = AbortSignal.any([this.#over.signal, ended.signal]);
    let failed: unknown;
    const createRefresh = (read: () => Promise<void>): (() => void) =>
      createRefresher(read, (error) => {
        failed ??= error;
        ended.abort();
      });
    const requests = createRefresh(() => this.#readRequests());
    const queue = createRefresh(() => this.#readQueue());
    try {
      for await (const change of this.#port.changes(signal)) {
        if (signal.aborted) break;
        if (change.kind === "reset") {
          await Promise.all([this.#readSession(), this.#readRequests(), this.#readQueue()]);
          opened();
        } else if (isAbout(change, this.#id)) {
          if (change.kind === "session_removed") {
            this.#end({ session_id: this.#id, reason: "deleted" });
            return true;
          }
          if (change.kind === "session") this.#addState({ kind: "session", session: change.session });
          if (change.kind === "request") requests();
          if (change.kind === "queue") queue();
        }
      }
    } catch (error) {
      throw failed ?? error;
    } finally {
      ended.abort();
    }
    if (failed !== undefined) throw failed;
    return this.#over.signal.aborted;
  }

  async #readSession(): Promise<void> {
    this.#addState({ kind: "session", session: await this.#port.session(this.#id) });
  }

  #readRequests(): Promise<void> {
    return this.#read("requests", async () => ({
      kind: "requests",
      requests: await readRequests(this.#port, this.#id),
    }));
  }

  #readQueue(): Promise<void> {
    return this.#read("queue", async () => ({
      kind: "queue",
      queue: (await this.#port.queue(this.#id)).queued,
    }));
  }

  async #read(what: "requests" | "queue", load: () => Promise<StateInput>): Promise<void> {
    this.#reads[what] += 1;
    const turn = this.#reads[what];
    const input = await load();
    if (turn === this.#reads[what]) this.#addState(input);
  }

  async #loadEarlier(kept_from: number): Promise<boolean> {
    const start = this.#start;
    if (start === undefined || this.#over.signal.aborted) return false;
    const shown = Math.max(start, kept_from - 1);
    if (shown < this.#earliest) return false;
    const from = Math.max(0, shown - Math.max(this.#history, this.#cursor - shown));
    const inputs: ViewInput[] = [];
    let read = from;
    // The stream continues meanwhile; its new events are read too.
    while (read < this.#cursor || inputs.length === 0) {
      const before = read;
      for await (const page of readHistory(this.#port, this.#id, read, this.#over.signal)) {
        read = page.seq;
        inputs.push(...page.inputs);
      }
      if (read === before) break;
    }
    // The history was replaced meanwhile; the stream starts over.
    if (this.#over.signal.aborted || this.#start !== start) return false;
    const upTo = this.#cursor;
    if (read < upTo) throw new Error("the daemon no longer has all events shown; try again");
    const known = inputs.filter((input) => input.kind !== "frame" || (input.seq ?? 0) <= upTo);
    this.#start = from;
    const reset = { kind: "reset", up_to: upTo } as const;
    this.#batches.push([reset, ...this.#states.values(), ...this.#unstored.mergeInto(known, from)]);
    return true;
  }

  #addState(input: StateInput): void {
    this.#states.set(input.kind, input);
    this.#batches.push([input]);
  }

  #addUnstored(input: ViewInput): void {
    this.#unstored.keep(this.#cursor, input);
    this.#batches.push([input]);
  }

  #end(data: Record<string, unknown>): void {
    if (this.#over.signal.aborted) return;
    this.#batches.push([{ kind: "closed", data }]);
    this.#over.abort();
  }
}

/** Keeps only the newest state inputs, and drops everything before a `reset`. */
function thin(inputs: readonly ViewInput[]): readonly ViewInput[] {
  const from = inputs.findLastIndex(({ kind }) => kind === "reset");
  const kept: ReadonlySet<string> = new Set<Kept>(["session", "requests", "queue", "link"]);
  return keepNewest(inputs.slice(Math.max(0, from)), ({ kind }) => (kept.has(kind) ? kind : undefined));
}

function isAbout(change: ChangeView, session_id: string): boolean {
  if (change.kind === "session") return change.session.session_id === session_id;
  if (change.kind === "request") return change.request.session_id === session_id;
  return change.kind !== "reset" && change.session_id === session_id;
}

function isGone(error: unknown): boolean {
  return readErrno(error) === "session_unknown";
}
