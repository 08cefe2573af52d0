// Fakes around the sessions: a store that can fail or block, a subscriber that can be full, a backend with scripted
// agents.
import { onTestFinished, TestRunner } from "vitest";
import { readAcpRights } from "../../src/backends/acp/rights.ts";
import type {
  Ask,
  Backend,
  BackendSink,
  Rewound,
  Run,
  RunKeeper,
  SendAbout,
  StartOrder,
  ToolOutcome,
} from "../../src/backends/types.ts";
import { CodedError } from "../../src/base/coded-error.ts";
import { silentLog } from "../../src/base/log.ts";
import { defined } from "../../src/base/values.ts";
import type { AgentEvent, ResultEvent } from "../../src/protocol/events.ts";
import { type Answer, isSettled, type RequestRow } from "../../src/protocol/requests.ts";
import type { SessionRow } from "../../src/protocol/session.ts";
import type { Offers, SettingsChange } from "../../src/protocol/settings.ts";
import { createUsage } from "../../src/sessions/core/usage.ts";
import { createPublisher, type HubOptions, Ledger, SessionHub } from "../../src/sessions/index.ts";
import type { LedgerOptions } from "../../src/sessions/requests/types.ts";
import type { Batch, Client, Hub, OpenOrder, RequestsFilter, Subscriber } from "../../src/sessions/types.ts";
import type {
  AppendOrder,
  Kin,
  LogBatch,
  PruneCounts,
  RequestFilter,
  RowFilter,
  RuleUses,
  SessionRunMark,
  Store,
} from "../../src/store/index.ts";
import { countUse } from "../../src/store/ledger.ts";
import { countRows, findKin, selectRows } from "../support/row-queries.ts";

/** A stream that failed retries forever, and would disturb later tests of the same worker. */
export function atEndOfTest(clean: () => void): void {
  if (TestRunner.getCurrentTest() !== undefined) onTestFinished(clean);
}

/** Runs everything queued for the next turn of the event loop. */
export async function settle(turns = 4): Promise<void> {
  for (let n = 0; n < turns; n += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** A promise and its resolver. */
export function gate(): { open: () => void; passed: Promise<void> } {
  let open: () => void = () => undefined;
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, passed };
}

/** All pages, joined. */
export async function allRequests(hub: Hub, filter: RequestsFilter): Promise<RequestRow[]> {
  const rows: RequestRow[] = [];
  for (let after: string | undefined; ; ) {
    const page = await hub.requests(after === undefined ? filter : { ...filter, after });
    rows.push(...page.requests);
    after = page.next;
    if (after === undefined) return rows;
  }
}

export class FakeStore implements Store {
  readonly durable = true;
  readonly log: LogBatch[] = [];
  readonly saved = new Map<string, SessionRow>();
  readonly ledger = new Map<string, RequestRow>();
  readonly orders: AppendOrder[] = [];
  failing = false;
  unreadable = false;
  /** Appends wait for it. */
  held: Promise<void> | undefined;
  reads = 0;

  async append(order: AppendOrder): Promise<(string | undefined)[]> {
    this.orders.push(order);
    await this.held;
    const { requests = [] } = order;
    const parts = [...order.batches, ...order.rows, ...requests];
    if (this.failing) return parts.map(() => "disk full");
    for (const batch of order.batches) this.log.push({ ...batch, bytes: Buffer.from(batch.bytes) });
    for (const row of order.rows) this.saved.set(row.session_id, structuredClone(row));
    for (const row of requests) {
      countUse(this.uses, row, this.ledger.get(row.request_id));
      this.ledger.set(row.request_id, structuredClone(row));
    }
    return parts.map(() => undefined);
  }

  async read(session_id: string, after_seq: number): Promise<LogBatch | undefined> {
    this.reads += 1;
    if (this.unreadable) throw new Error("I/O error");
    for (const batch of this.log) {
      if (batch.session_id !== session_id || batch.last_seq <= after_seq) continue;
      const lines = Buffer.from(batch.bytes).toString().split("\n").slice(0, -1);
      const skip = Math.max(0, after_seq + 1 - batch.first_seq);
      const bytes = Buffer.from(
        lines
          .slice(skip)
          .map((line) => `${line}\n`)
          .join(""),
      );
      return { session_id, first_seq: batch.first_seq + skip, last_seq: batch.last_seq, bytes };
    }
    return undefined;
  }

  async earliest(session_id: string): Promise<number | undefined> {
    if (this.unreadable) throw new Error("I/O error");
    return this.log.find((batch) => batch.session_id === session_id)?.first_seq;
  }

  /** With the last seq of the log, as every driver does. */
  async loadRow(session_id: string): Promise<SessionRow | undefined> {
    const row = structuredClone(this.saved.get(session_id));
    const last = this.#lastSeq(session_id);
    if (row !== undefined && last !== undefined) row.last_seq = last;
    return row;
  }

  async highestSeq() {
    return 0;
  }

  async rows(filter?: RowFilter): Promise<SessionRow[]> {
    const rows = await Promise.all([...this.saved.keys()].map((session_id) => this.loadRow(session_id)));
    return selectRows(
      rows.filter((row) => row !== undefined),
      filter,
    );
  }

  async countRows(): Promise<Record<string, number>> {
    return countRows(this.saved.values());
  }

  async kin(session_ids: readonly string[]): Promise<Kin[]> {
    return findKin(this.saved.values(), session_ids);
  }

  #lastSeq(session_id: string): number | undefined {
    return this.log.filter((batch) => batch.session_id === session_id).at(-1)?.last_seq;
  }

  async saveRow(row: SessionRow): Promise<void> {
    this.saved.set(row.session_id, structuredClone(row));
  }

  async requests(filter: RequestFilter): Promise<RequestRow[]> {
    const { session_id, open = false, after, limit } = filter;
    const place = (row: { requested_at_ms: number; request_id: string }) =>
      `${String(row.requested_at_ms).padStart(16, "0")} ${row.request_id}`;
    const rows = [...this.ledger.values()]
      .filter((row) => session_id === undefined || row.session_id === session_id)
      .filter((row) => !open || !isSettled(row))
      .filter((row) => after === undefined || place(row) > place(after))
      .sort((a, b) => (place(a) < place(b) ? -1 : 1));
    return structuredClone((filter.newest === true ? rows.toReversed() : rows).slice(0, limit));
  }

  async request(session_id: string, request_id: string): Promise<RequestRow | undefined> {
    if (this.unreadable) throw new Error("I/O error");
    const row = this.ledger.get(request_id);
    return row?.session_id === session_id ? structuredClone(row) : undefined;
  }

  readonly uses = new Map<string, RuleUses>();

  async ruleUses(): Promise<RuleUses[]> {
    return [...this.uses.values()];
  }

  async runMarks(): Promise<SessionRunMark[]> {
    const marks = new Map<string, SessionRunMark>();
    for (const { session_id, run } of this.log)
      if (run !== undefined) marks.set(session_id, { session_id, ...run });
    return [...marks.values()];
  }

  async delete(session_id: string): Promise<void> {
    this.saved.delete(session_id);
    for (const row of this.ledger.values())
      if (row.session_id === session_id) this.ledger.delete(row.request_id);
    this.log.splice(0, this.log.length, ...this.log.filter((batch) => batch.session_id !== session_id));
  }

  async prune(): Promise<PruneCounts> {
    return { sessions: 0, events: 0, bytes: 0, over_total: 0 };
  }

  async close(): Promise<void> {}
}

export type Heard = Record<string, unknown> & { type: string };

/** A subscriber that keeps everything it receives, in order. */
export class Ear implements Subscriber {
  readonly heard: Heard[] = [];
  full = false;

  write(batch: Batch): void {
    for (const line of batch.bytes.toString().split("\n")) if (line !== "") this.heard.push(JSON.parse(line));
  }

  isFull(): boolean {
    return this.full;
  }

  gap(since_seq: number, first_available_seq: number): void {
    this.heard.push({ type: "gap", since_seq, first_available_seq });
  }

  lagging(since_seq: number, last_seq: number): void {
    this.heard.push({ type: "lagging", since_seq, last_seq });
  }

  taken(by_peer_pid: number | undefined): void {
    this.heard.push({ type: "taken", by_peer_pid });
  }

  closed(reason: string): void {
    this.heard.push({ type: "closed", reason });
  }

  get seqs(): unknown[] {
    return this.heard.filter((frame) => "seq" in frame).map((frame) => frame["seq"]);
  }

  of(type: string): Heard[] {
    return this.heard.filter((frame) => frame.type === type);
  }
}

export function rowOf(session_id: string, fields: Partial<SessionRow> = {}): SessionRow {
  return {
    session_id,
    backend: "fake",
    options: {},
    started_at_ms: 1,
    last_active_at_ms: 1,
    last_seq: 0,
    ...createUsage(),
    began_here: true,
    ...fields,
  };
}

/** One agent of the scripted backend. */
export class FakeRun implements Run {
  readonly pid: number;
  readonly sink: BackendSink;
  readonly order: StartOrder;
  readonly sent: unknown[] = [];
  /** The ids of the turns that its messages started. */
  readonly turns: (string | undefined)[] = [];
  readonly calls: string[] = [];
  /** What it was asked to forget, and its answer; by default it forgets everything. */
  readonly forgotten: (readonly string[])[] = [];
  rewound: Promise<Rewound> | undefined;
  /** `send` waits for it: an agent that does not read. */
  stuck: Promise<void> | undefined;
  /** Its pending requests. */
  readonly asked = new Map<string, Ask>();
  readonly answered: { native_id: string; answer: Answer }[] = [];
  /** Every answer delivered to it, including those it no longer waited for. */
  readonly offered: string[] = [];
  /** `answer` waits for it: an agent that does not take its answer. */
  deaf: Promise<void> | undefined;
  isBusy = false;
  isOver = false;
  /** Absent: it ends with the daemon. */
  keeper: RunKeeper | undefined;

  constructor(pid: number, order: StartOrder, sink: BackendSink) {
    this.pid = pid;
    this.order = order;
    this.sink = sink;
  }

  async send(message: unknown, { turn_id }: SendAbout = {}): Promise<void> {
    this.sent.push(message);
    this.turns.push(turn_id);
    await this.stuck;
  }

  /** Changes of settings that it took. */
  readonly adjusted: SettingsChange[] = [];
  /** Thrown by `adjust`. */
  stubborn: Error | undefined;

  async adjust(change: SettingsChange): Promise<void> {
    await this.stuck;
    if (this.stubborn !== undefined) throw this.stubborn;
    this.adjusted.push(change);
  }

  offers(): Offers {
    return { model: { values: [{ value: "m-1" }, { value: "m-2" }] }, commands: [{ name: "compact" }] };
  }

  async interrupt(): Promise<void> {
    this.calls.push("interrupt");
    await settle(1);
    this.result("error");
  }

  async answer(native_id: string, answer: Answer): Promise<boolean> {
    this.offered.push(native_id);
    await this.deaf;
    if (this.isOver || !this.asked.delete(native_id)) return false;
    this.answered.push({ native_id, answer });
    return true;
  }

  /** Results of the tools that it called. */
  readonly returned: { native_id: string; outcome: ToolOutcome }[] = [];

  async returnTool(native_id: string, outcome: ToolOutcome): Promise<boolean> {
    this.returned.push({ native_id, outcome });
    return true;
  }

  async rewind(turns: readonly string[]): Promise<Rewound> {
    this.forgotten.push(turns);
    const [first] = turns;
    return this.rewound ?? (first === undefined ? {} : { first });
  }

  ask(ask: Ask): void {
    this.asked.set(ask.native_id, ask);
    this.sink.ask(ask);
  }

  /** What its turn has used so far. */
  used(used: Parameters<NonNullable<BackendSink["used"]>>[0]): void {
    this.sink.used?.(used);
  }

  get interrupts(): number {
    return this.calls.filter((call) => call === "interrupt").length;
  }

  withdraw(native_id: string): void {
    this.asked.delete(native_id);
    this.sink.withdrawn(native_id, "it decided by itself");
  }

  pause(): void {
    this.calls.push("pause");
  }

  resume(): void {
    this.calls.push("resume");
  }

  async stop(how: "finish" | "now"): Promise<void> {
    this.calls.push(`stop ${how}`);
    await settle(1);
    this.end(true);
  }

  event(event: Record<string, unknown> & { type: AgentEvent["type"] }): void {
    this.sink.event({ backend: "fake", ...event } as AgentEvent);
  }

  say(text: string): void {
    this.event({ type: "agent.delta", kind: "text", text });
  }

  result(subtype: ResultEvent["subtype"] = "success", more: Partial<ResultEvent> = {}): void {
    const usage = { input_tokens: 1, output_tokens: 2 };
    this.event({ type: "agent.result", subtype, num_turns: 1, usage, ...more });
  }

  end(expected: boolean, code = 0): void {
    if (this.isOver) return;
    this.isOver = true;
    this.sink.ended({ expected, message: `exit ${code}`, code });
  }
}

export class FakeBackend implements Backend {
  readonly name = "fake";
  readonly options = undefined as unknown as Backend["options"];
  readonly runs: FakeRun[] = [];
  canRewind = true;
  extras: Backend["extras"] = { tools: true, mcp: true };
  /** `start` waits for it. */
  slow: Promise<void> | undefined;
  failing: Error | undefined;

  checkOptions(block: Record<string, unknown>): Record<string, unknown> {
    return block;
  }

  spawnOptions(wish: object): Record<string, unknown> {
    return { ...wish };
  }

  rights = (options: Record<string, unknown>) => readAcpRights(options);

  settings: NonNullable<Backend["settings"]> = {
    change(options, { model, permission_mode: mode, effort }) {
      if (mode === "none") throw new CodedError("invalid_message", "/permission_mode: no mode none");
      return { ...options, ...defined({ model, mode, effort }) };
    },
    list: (options) => ({
      permission_mode: {
        values: [{ value: "plan" }],
        ...defined({ current: options["mode"] as string | undefined }),
      },
    }),
  };

  async detect(): Promise<string> {
    return "1";
  }

  async start(order: StartOrder, sink: BackendSink): Promise<FakeRun> {
    await this.slow;
    if (this.failing !== undefined) throw this.failing;
    const run = new FakeRun(1000 + this.runs.length, order, sink);
    this.runs.push(run);
    return run;
  }

  get last(): FakeRun {
    const run = this.runs.at(-1);
    if (run === undefined) throw new Error("no agent was started");
    return run;
  }

  get alive(): FakeRun[] {
    return this.runs.filter((run) => !run.isOver);
  }
}

export interface Stage {
  hub: SessionHub;
  store: FakeStore;
  backend: FakeBackend;
  ledger: Ledger;
  /** Answers in the audit. */
  audited: RequestRow[];
  open(client: Client, more?: Partial<OpenOrder>): Promise<Ear>;
}

/** A hub with all its dependencies faked. */
export function stage(
  over: Partial<HubOptions> & Pick<Partial<LedgerOptions>, "expiryMs" | "policy"> = {},
): Stage {
  const store = new FakeStore();
  const backend = new FakeBackend();
  const publisher = createPublisher(over.store ?? store, silentLog);
  const audited: RequestRow[] = [];
  const ledger = new Ledger({
    audit: { recordAnswer: async (row) => void audited.push(row) },
    store: over.store ?? store,
    publisher,
    log: silentLog,
    expiryMs: over.expiryMs ?? 0,
    policy: over.policy,
  });
  const hub = new SessionHub({
    backends: [backend],
    store,
    publisher,
    ledger,
    log: silentLog,
    ready: Promise.resolve(),
    limits: { maxSessions: 64, maxSessionsPerClient: 32 },
    ringSize: 1024,
    stderrRate: { lines: 50, windowMs: 10_000 },
    env: {},
    ...over,
  } as HubOptions);
  atEndOfTest(() => {
    for (const { stream } of hub.sessions) stream.close();
  });
  const open = async (client: Client, more: Partial<OpenOrder> = {}): Promise<Ear> => {
    const ear = new Ear();
    const order = { session_id: "s", backend: "fake", resume: false, options: {}, ...more };
    const { attachment } = await hub.open(client, ear, order);
    attachment.start();
    return ear;
  };
  return { hub, store, backend, ledger, audited, open };
}

export const user = (content: string) => ({ role: "user" as const, content });

/** A command that needs approval, unless the fields say otherwise. */
export function askOf(native_id: string, fields: Partial<Ask> = {}): Ask {
  return {
    native_id,
    request_type: "command",
    payload: {
      title: `run ${native_id}`,
      command: `make ${native_id}`,
      choices: [{ decision: "accept" }, { decision: "decline", takes: ["message"] }],
    },
    ...fields,
  };
}
