// One session as a stream of inputs for its view: what is stored, then what happens, with what waits and what is
// queued, across restarts of the daemon: each event once and in order. Runs in a browser too.
import { errnoOf, messageOf } from "../../base/coded-error.ts";
import type { Backoff } from "../backoff.ts";
import { again } from "./again.ts";
import { type Batches, createBatches, keepNewest } from "./batches.ts";
import { readHistory } from "./history.ts";
import { keepOpen, linkOf, type StreamState } from "./keep-open.ts";
import type { ChangeView, StreamItem, ViewPort } from "./port.ts";
import { readRequests } from "./requests.ts";
import type { ViewInput } from "./types.ts";
import { Unstored } from "./unstored.ts";

export interface SourceOptions {
  /** How many events of the past are read at first. */
  history?: number;
  backoff?: Backoff;
}

export interface Source {
  /**
   * Begins earlier in the history, with twice as much as before: everything comes anew behind a `reset`, in one batch.
   * `kept_from`: where the view begins, when it dropped what came before (view.ts, `keptFrom`). False: there is nothing
   * earlier.
   */
  loadEarlier(kept_from?: number): Promise<boolean>;
  /** A line of our own, told like an event, and in its place again behind a `loadEarlier`. */
  say(line: Extract<ViewInput, { kind: "local" }>): void;
  /** Nothing is told behind it. Safe to call twice. */
  close(): Promise<void>;
}

const HISTORY_EVENTS = 2_000;

/** Begins at once; the listener is never called before this returns. */
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
  readonly #backoff: Backoff | undefined;
  readonly #batches: Batches<ViewInput>;
  readonly #over = new AbortController();
  readonly #streams: { events: StreamState; changes: StreamState };
  readonly #done: Promise<unknown>;
  /** What stands beside the events, as it was told last. */
  readonly #told = new Map<Kept, ViewInput>();
  readonly #unstored = new Unstored();
  /** How often each was asked for: only the newest reply counts. */
  readonly #asked = { requests: 0, queue: 0 };
  /** The first event that is shown comes behind this one; undefined until the history has begun. */
  #start: number | undefined;
  #earliest = 1;
  /** The last event that was told. */
  #cursor = 0;
  #lastGap = "";
  #isClosed = false;
  #earlier: Promise<boolean> | undefined;

  constructor(
    port: ViewPort,
    session_id: string,
    listener: (inputs: readonly ViewInput[]) => void,
    { history = HISTORY_EVENTS, backoff }: SourceOptions,
  ) {
    this.#port = port;
    this.#id = session_id;
    this.#history = history;
    this.#backoff = backoff;
    this.#batches = createBatches((inputs) => {
      if (!this.#isClosed) listener(inputs);
    }, thin);
    this.#streams = { events: { state: "connecting" }, changes: { state: "connecting" } };
    this.#tell({ kind: "link", state: "connecting" });
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

  say(line: Extract<ViewInput, { kind: "local" }>): void {
    this.#tellUnstored(line);
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
        tell: (state) => {
          this.#streams[name] = state;
          this.#tell({ kind: "link", ...linkOf(Object.values(this.#streams)) });
        },
        ...(this.#backoff === undefined ? {} : { backoff: this.#backoff }),
      });
    } catch (error) {
      const reason = this.#told.has("session") ? "deleted" : "unknown";
      this.#end({ session_id: this.#id, reason, message: messageOf(error) });
    }
  }

  /** What is stored first, because that has times; then the stream. */
  async #followEvents(opened: () => void): Promise<boolean> {
    const { signal } = this.#over;
    if (this.#start === undefined) {
      const session = await this.#port.session(this.#id);
      // The stream of changes may have told a newer one.
      if (!this.#told.has("session")) this.#tell({ kind: "session", session });
      this.#start = Math.max(0, session.last_seq - this.#history);
      this.#cursor = this.#start;
    }
    for await (const page of readHistory(this.#port, this.#id, this.#cursor, signal)) {
      if (signal.aborted) return true;
      if (page.isAnother) {
        this.#beginAnew();
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
    else if (this.#isNewGap(item.data)) this.#tellUnstored(item);
  }

  #onFrame(frame: Extract<StreamItem, { kind: "frame" }>): void {
    const input = { ...frame, at_ms: Date.now() };
    if (frame.seq === null) this.#tellUnstored(input);
    else if (frame.seq > this.#cursor) {
      this.#cursor = frame.seq;
      this.#batches.push([input]);
    }
  }

  /** A stream that is opened again tells again what is missing behind the same event. */
  #isNewGap({ since_seq, gap_reason }: Readonly<Record<string, unknown>>): boolean {
    const gap = `${since_seq} ${gap_reason}`;
    if (gap === this.#lastGap) return false;
    this.#lastGap = gap;
    return true;
  }

  /** The daemon lost what we have seen (its state was put back, or the disk): what it has now counts. */
  #beginAnew(): void {
    this.#start = undefined;
    this.#cursor = 0;
    this.#lastGap = "";
    this.#unstored.clear();
    this.#batches.push([{ kind: "reset" }, ...this.#told.values()]);
  }

  async #followChanges(opened: () => void): Promise<boolean> {
    const ended = new AbortController();
    const signal = AbortSignal.any([this.#over.signal, ended.signal]);
    let failed: unknown;
    const refreshed = (read: () => Promise<void>): (() => void) =>
      again(read, (error) => {
        failed ??= error;
        ended.abort();
      });
    const requests = refreshed(() => this.#readRequests());
    const queue = refreshed(() => this.#readQueue());
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
          if (change.kind === "session") this.#tell({ kind: "session", session: change.session });
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
    this.#tell({ kind: "session", session: await this.#port.session(this.#id) });
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
    this.#asked[what] += 1;
    const turn = this.#asked[what];
    const input = await load();
    if (turn === this.#asked[what]) this.#tell(input);
  }

  async #loadEarlier(kept_from: number): Promise<boolean> {
    const start = this.#start;
    if (start === undefined || this.#over.signal.aborted) return false;
    const shown = Math.max(start, kept_from - 1);
    if (shown < this.#earliest) return false;
    const from = Math.max(0, shown - Math.max(this.#history, this.#cursor - shown));
    const inputs: ViewInput[] = [];
    let read = from;
    // The stream goes on meanwhile; what it told since is read too.
    while (read < this.#cursor || inputs.length === 0) {
      const before = read;
      for await (const page of readHistory(this.#port, this.#id, read, this.#over.signal)) {
        read = page.seq;
        inputs.push(...page.inputs);
      }
      if (read === before) break;
    }
    // Another history meanwhile: the stream begins anew, and knows better.
    if (this.#over.signal.aborted || this.#start !== start) return false;
    const upTo = this.#cursor;
    if (read < upTo) throw new Error("the daemon does not have all that it told before; try again");
    const known = inputs.filter((input) => input.kind !== "frame" || (input.seq ?? 0) <= upTo);
    this.#start = from;
    const reset = { kind: "reset", up_to: upTo } as const;
    this.#batches.push([reset, ...this.#told.values(), ...this.#unstored.among(known, from)]);
    return true;
  }

  #tell(input: StateInput): void {
    this.#told.set(input.kind, input);
    this.#batches.push([input]);
  }

  #tellUnstored(input: ViewInput): void {
    this.#unstored.keep(this.#cursor, input);
    this.#batches.push([input]);
  }

  /** There will be nothing more of it. */
  #end(data: Record<string, unknown>): void {
    if (this.#over.signal.aborted) return;
    this.#batches.push([{ kind: "closed", data }]);
    this.#over.abort();
  }
}

/** Of what is only a state the newest counts, and what stands before a `reset` is gone with it. */
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
  return errnoOf(error) === "session_unknown";
}
