// The sessions used by the HTTP server, under a test's control: calls are recorded, answers are preset, and streams are
// fed from a log of frames.
import { CodedError } from "../../../src/base/coded-error.ts";
import type { InputRecord } from "../../../src/protocol/queue.ts";
import type { RequestRow } from "../../../src/protocol/requests.ts";
import type { ChangeView, EventsPage, SessionView, WaitReply } from "../../../src/protocol/wire/http.ts";
import type { Attachment, Batch, Subscriber } from "../../../src/sessions/index.ts";
import type { EventsOrder, Manager, WaitOrder } from "../../../src/sessions/manager-types.ts";

export const SESSION = "s-1";

export class FakeManager implements Manager {
  /** Every call: its name and arguments. */
  readonly calls: { name: string; args: unknown[] }[] = [];
  readonly ears = new Set<Ear>();
  readonly listeners = new Set<(change: ChangeView) => void>();
  readonly log: string[] = [];
  /** The oldest frame that is still there. */
  earliest = 1;
  /** Thrown by the next call. */
  refusal: Error | undefined;
  repeated = false;
  hasLost = false;
  waits: Promise<unknown> = Promise.resolve();
  aborted = 0;
  readonly #batches = new Map<string, Batch>();

  spawn = (...args: unknown[]) =>
    this.#note("spawn", args, { session: view(), message_id: "m-1", repeated: this.repeated });
  views = (...args: unknown[]) => this.#note("views", args, { sessions: [view(), view("s-2")], next: "n-2" });
  view = (session_id: string) => this.#note("view", [session_id], view(known(session_id)));
  family = (...args: unknown[]) => this.#note("family", args, [{ depth: 0, session: view() }]);
  mark: Manager["mark"] = (session_id, change) =>
    this.#note("mark", [session_id, change], {
      ...view(session_id),
      ...(typeof change.name === "string" ? { name: change.name } : {}),
    });
  settings = (session_id: string) =>
    this.#note("settings", [session_id], { session_id, running: true, model: { values: [] } });
  adjust = (session_id: string, ...args: unknown[]) =>
    this.#note("adjust", [session_id, ...args], { session_id, running: true });
  input = (...args: unknown[]) =>
    this.#note("input", args, { input: input(), position: 0, repeated: this.repeated });
  queue = (...args: unknown[]) => this.#note("queue", args, { queued: [queued()], recent: [input()] });
  cancelInput = (...args: unknown[]) =>
    this.#note("cancelInput", args, { ...input(), state: "cancelled" as const });
  continueQueue = (...args: unknown[]) => this.#note("continueQueue", args, { queued: 1 });
  interrupt = (...args: unknown[]) => this.#note("interrupt", args, { was_idle: false });
  stop = (...args: unknown[]) => this.#note("stop", args, [SESSION]);
  remove = (...args: unknown[]) => this.#note("remove", args, [SESSION]);
  respond = (...args: unknown[]) =>
    this.#note("respond", args, { request: requestRow(), repeated: this.repeated });
  requests = (...args: unknown[]) =>
    this.#note("requests", args, {
      requests: [requestRow()],
      sessions: [{ session_id: SESSION, name: "fixer" }],
      next: "n-1",
    });
  request = (session_id: string | undefined, request_id: string) =>
    this.#note("request", [session_id, request_id], request_id === "r-1" ? requestRow() : undefined);
  stats = (...args: unknown[]) =>
    this.#note("stats", args, {
      since_ms: 1,
      until_ms: 2,
      turns: [],
      tools: [],
      waits: [],
      is_cut: false,
    });
  changes = (session_id: string, ...args: unknown[]) =>
    this.#note("changes", [session_id, ...args], {
      session_id,
      state: "none" as const,
      reason: "no repository",
      turns: [],
      files: [],
      totals: { files: 0, additions: 0, deletions: 0 },
    });
  files = (session_id: string, ...args: unknown[]) =>
    this.#note("files", [session_id, ...args], { session_id, files: [{ path: "src/a.ts" }] });
  fileChanges = (...args: unknown[]) =>
    this.#note("fileChanges", args, { path: "a.ts", status: "added" as const, hunks: [] });
  undo = (session_id: string, ...args: unknown[]) =>
    this.#note("undo", [session_id, ...args], {
      session_id,
      turn: 1,
      done: true,
      files: [],
      conversation: { rewound: false },
    });
  usage = (...args: unknown[]) =>
    this.#note("usage", args, {
      ...{ by: "day" as const, from_ms: 0, to_ms: 1, time_zone: "UTC", groups: [] },
      total: { turns: 0, turns_without_tokens: 0, turns_without_cost: 0, duration_ms: 0, waited_ms: 0 },
    });
  search = (...args: unknown[]) => this.#note("search", args, { hits: [] });
  quota = (...args: unknown[]) => this.#note("quota", args, { windows: [], waiting: [] });
  orderQuota = (...args: unknown[]) => this.#note("orderQuota", args, view("s-1"));
  actions = (...args: unknown[]) => this.#note("actions", args, [action()]);

  async events(order: EventsOrder): Promise<EventsPage> {
    await this.#note("events", [{ ...order, signal: undefined }], undefined);
    await this.#held(order.signal);
    return page(order.since_seq);
  }

  async wait(order: WaitOrder): Promise<WaitReply> {
    await this.#note("wait", [{ ...order, signal: undefined }], undefined);
    await this.#held(order.signal);
    return { reason: "idle", session: view() };
  }

  async watch(_client: unknown, subscriber: Subscriber, session_id: string, since_seq: number | undefined) {
    await this.#note("watch", [session_id, since_seq], undefined);
    known(session_id);
    const ear = new Ear(this, subscriber, since_seq ?? this.log.length);
    this.ears.add(ear);
    const { hasLost } = this;
    return { last_seq: this.log.length, hasLost, attachment: ear, end: () => void this.ears.delete(ear) };
  }

  as(): Manager {
    return this;
  }

  requirePerson(): void {}

  requireSight(): void {}

  onChange(listener: (change: ChangeView) => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /** Stores one more frame and sends it to all listeners. */
  publish(fields: Record<string, unknown> = {}): void {
    const seq = this.log.length + 1;
    const frame = { session_id: SESSION, seq, type: "agent.delta", text: `t${seq}`, ...fields };
    this.log.push(`${JSON.stringify(frame)}\n`);
    for (const ear of this.ears) ear.pump();
  }

  publishUnstored(): void {
    const frame = { session_id: SESSION, persisted: false, type: "agent.notice", category: "x" };
    const bytes = Buffer.from(`${JSON.stringify(frame)}\n`);
    for (const { subscriber } of this.ears)
      subscriber.write({ session_id: SESSION, first_seq: 0, last_seq: 0, bytes });
  }

  /** The same object for every listener, as live batches are. */
  batch(first_seq: number, last_seq: number): Batch {
    const name = `${first_seq}-${last_seq}`;
    const known = this.#batches.get(name);
    if (known !== undefined) return known;
    const bytes = Buffer.from(this.log.slice(first_seq - 1, last_seq).join(""));
    const batch = { session_id: SESSION, first_seq, last_seq, bytes };
    this.#batches.set(name, batch);
    return batch;
  }

  change(change: ChangeView): void {
    for (const listener of this.listeners) listener(change);
  }

  named(name: string): unknown[][] {
    return this.calls.filter((call) => call.name === name).map(({ args }) => args);
  }

  async #note<T>(name: string, args: unknown[], reply: T): Promise<T> {
    this.calls.push({ name, args });
    const { refusal } = this;
    this.refusal = undefined;
    if (refusal !== undefined) throw refusal;
    return reply;
  }

  async #held(signal: AbortSignal | undefined): Promise<void> {
    signal?.addEventListener("abort", () => {
      this.aborted += 1;
    });
    await this.waits;
  }
}

/** A small copy of sessions/stream/feed.ts: live or lagging, never more than the reader accepts. */
export class Ear implements Attachment {
  readonly #manager: FakeManager;
  readonly subscriber: Subscriber;
  /** The last frame that was delivered. */
  cursor: number;
  #isStarted = false;
  isOver = false;

  constructor(manager: FakeManager, subscriber: Subscriber, cursor: number) {
    this.#manager = manager;
    this.subscriber = subscriber;
    this.cursor = cursor;
  }

  start(): void {
    this.#isStarted = true;
    const { earliest } = this.#manager;
    if (this.cursor < earliest - 1) {
      this.subscriber.gap(this.cursor, earliest);
      this.cursor = earliest - 1;
    }
    this.pump();
  }

  onDrain(): void {
    this.pump();
  }

  pump(): void {
    const { log } = this.#manager;
    while (this.#isStarted && this.cursor < log.length && !this.subscriber.isFull()) {
      const batch = this.#manager.batch(this.cursor + 1, Math.min(log.length, this.cursor + 100));
      this.cursor = batch.last_seq;
      this.subscriber.write(batch);
    }
  }
}

function known(session_id: string): string {
  if (session_id !== "nobody") return session_id;
  throw new CodedError("session_unknown", `no session ${session_id} here`);
}

export function view(session_id = SESSION): SessionView {
  return {
    session_id,
    backend: "codex",
    provider: "codex-app",
    children: [],
    managed: true,
    activity_state: "idle",
    attached: false,
    running: true,
    stalled: false,
    pending_requests: 0,
    family_pending_requests: 0,
    queued: 0,
    turns: 1,
    usage: { input_tokens: 1 },
    context_tokens: 1,
    started_at_ms: 1,
    last_active_at_ms: 2,
    last_seq: 3,
  };
}

function input(): InputRecord {
  return { message_id: "m-1", kind: "user", state: "queued", queued_at_ms: 5 };
}

function queued() {
  const message = { role: "user" as const, content: "hello" };
  return { message_id: "m-1", kind: "user" as const, message, queued_at_ms: 5 };
}

export function requestRow(): RequestRow {
  return {
    request_id: "r-1",
    session_id: SESSION,
    backend: "codex",
    request_type: "command",
    status: "pending",
    turn_id: "t-1",
    payload: { title: "ls", choices: [{ decision: "accept" }] },
    shown_hash: "00",
    requested_at_ms: 1_700_000_000_000,
    expires_at_ms: 1_700_000_060_000,
    generation: "g",
  };
}

function action() {
  return {
    session_id: SESSION,
    source_provider: "codex-app",
    action_kind: "command" as const,
    summary_text: "ran ls",
    status: "success" as const,
    started_at_ms: 1,
  };
}

function page(since_seq: number): EventsPage {
  const frame = { type: "agent.delta", session_id: SESSION, seq: since_seq + 1 };
  return {
    events: [
      {
        session_id: SESSION,
        seq: since_seq + 1,
        persisted: true,
        timestamp_ms: 1_700_000_000_000,
        type: "agent.delta",
        turn_id: null,
        preview: "x",
        frame,
      },
    ],
    earliest_seq: 1,
    latest_seq: since_seq + 1,
    next_seq: since_seq + 1,
    history_gap: false,
    gap_reason: null,
  };
}
