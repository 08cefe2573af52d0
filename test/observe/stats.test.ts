// Statistics from rows: pairs of starts and ends, limits, and the same results from memory, from disk and from both at
// once.
import { join } from "node:path";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createMetrics } from "../../src/base/metrics.ts";
import { closeDatabase, type Database, openDatabase } from "../../src/base/sqlite/database.ts";
import { EventsDatabase } from "../../src/observe/database.ts";
import { createObserver, type Observer } from "../../src/observe/index.ts";
import type { EventRow } from "../../src/observe/rows.ts";
import { toStats } from "../../src/observe/stats.ts";
import { rowOf } from "../sessions/fakes.ts";
import { type Bundle, bundleWorker } from "../store/worker-bundle.ts";
import { BEFORE_TRACES, keptLog, tempDir, toolRow, turnRow } from "./material.ts";

const ALL = { since_ms: 0, limit: 100 };

const turn = (n: number, startMs: number, endMs: number): EventRow[] => [
  turnRow({ turn_id: `t${n}`, created_at_ms: startMs }),
  turnRow({
    turn_id: `t${n}`,
    event_type: "completed",
    duration_ms: endMs - startMs,
    input_tokens: n,
    output_tokens: 2 * n,
    cost_usd: n / 100,
    created_at_ms: endMs,
  }),
];
const tool = (item_id: string, startMs: number, endMs: number): EventRow[] => [
  toolRow({ item_id, turn_id: "t1", tool_name: "Bash", created_at_ms: startMs }),
  toolRow({
    ...{ item_id, turn_id: "t1", tool_name: "Bash", event_type: "completed", phase: "post" },
    latency_ms: endMs - startMs,
    created_at_ms: endMs,
  }),
];
const wait = (request_id: string, startMs: number, endMs: number, item_id?: string): EventRow[] => {
  const item = item_id === undefined ? {} : { item_id };
  return [
    toolRow({ request_id, ...item, event_type: "request_approval", phase: "pre", created_at_ms: startMs }),
    toolRow({
      ...{ request_id, ...item, event_type: "approval_decision", phase: "post", approval_decision: "accept" },
      latency_ms: endMs - startMs,
      created_at_ms: endMs,
    }),
  ];
};

describe("rows", () => {
  test("a turn is its start and its end, with its cost", () => {
    expect(toStats(turn(3, 1_000, 5_000), ALL).turns).toEqual([
      {
        ...{ session_id: "s", backend: "codex-app", turn_id: "t3", started_at_ms: 1_000, ended_at_ms: 5_000 },
        ...{ status: "success", input_tokens: 3, output_tokens: 6, cost_usd: 0.03 },
      },
    ]);
  });

  test("a turn with only a start has no end; one with only an end starts its duration earlier", () => {
    const [begun] = turn(1, 1_000, 5_000);
    const [, ended] = turn(2, 2_000, 6_000);
    const { turns } = toStats(
      [begun, ended].filter((row) => row !== undefined),
      ALL,
    );
    expect(turns).toMatchObject([
      { turn_id: "t1", status: "running", started_at_ms: 1_000 },
      { turn_id: "t2", status: "success", started_at_ms: 2_000, ended_at_ms: 6_000 },
    ]);
    expect(turns[0]).not.toHaveProperty("ended_at_ms");
  });

  test.each([
    ["failed", "failed"],
    ["interrupted", "interrupted"],
    ["cancelled", "cancelled"],
    ["timeout", "timeout"],
  ] as const)("a turn or tool with event %s has status %s", (event_type, status) => {
    const rows = [turnRow({ event_type }), toolRow({ item_id: "i", event_type, phase: "post" })];
    const { turns, tools } = toStats(rows, ALL);
    expect([turns[0]?.status, tools[0]?.status]).toEqual([status, status]);
  });

  test("a tool that needed approval starts when it was approved", () => {
    const rows = [
      toolRow({ item_id: "a", created_at_ms: 1_000 }),
      toolRow({
        item_id: "a",
        event_type: "completed",
        phase: "post",
        latency_ms: 500,
        created_at_ms: 61_500,
      }),
    ];
    const expected = [{ started_at_ms: 61_000, ended_at_ms: 61_500, latency_ms: 500 }];
    expect(toStats(rows, ALL).tools).toMatchObject(expected);
    expect(toStats(rows.toReversed(), ALL).tools).toMatchObject(expected);
  });

  test.each([
    [{ event_type: "approval_decision", approval_decision: "decline" }, "decline"],
    [{ event_type: "user_input_submitted" }, "answers"],
    [{ event_type: "timeout" }, "expired"],
    [{ event_type: "cancelled" }, "withdrawn"],
    [{ event_type: "interrupted" }, "orphaned"],
  ] as const)("a wait that ended by %j has the outcome %s", (end, outcome) => {
    const row = toolRow({ request_id: "r", phase: "post", latency_ms: 400, ...end });
    expect(toStats([row], ALL).waits).toEqual([
      { session_id: "s", request_id: "r", started_at_ms: 600, ended_at_ms: 1_000, outcome },
    ]);
  });

  test("a tool without a name is listed by its kind; output and messages are not counted", () => {
    const rows = [
      toolRow({ item_id: "a", item_type: "fileChange" }),
      toolRow({ item_id: "b", event_type: "output_delta", tool_name: "Bash" }),
      turnRow({ event_type: "message" }),
    ];
    const stats = toStats(rows, ALL);
    expect(stats.tools.map((one) => one.tool)).toEqual(["file change"]);
    expect(stats.turns).toEqual([]);
  });

  test("what ended before the cutoff is left out; what ended at it or is still running is not", () => {
    const rows = [
      ...turn(1, 100, 999),
      ...turn(2, 200, 1_000),
      turnRow({ turn_id: "t3", created_at_ms: 300 }),
    ];
    expect(toStats(rows, { since_ms: 1_000, limit: 9 }).turns.map(({ turn_id }) => turn_id)).toEqual([
      "t2",
      "t3",
    ]);
  });

  test("a clock set back in the middle of a turn gives no turn that ends before it starts", () => {
    const [begun, ended] = turn(1, 9_000, 5_000);
    for (const rows of [
      [begun, ended],
      [ended, begun],
    ])
      expect(
        toStats(
          rows.filter((row) => row !== undefined),
          ALL,
        ).turns,
      ).toMatchObject([{ started_at_ms: 5_000, ended_at_ms: 5_000, status: "success" }]);
  });

  test("beyond the limit the oldest are left out, and that is reported; other sessions do not count", () => {
    const rows = [1, 2, 3].flatMap((n) => turn(n, n * 1_000, n * 1_000 + 10));
    const cut = toStats(rows, { since_ms: 0, limit: 2 });
    expect([cut.turns.map(({ turn_id }) => turn_id), cut.is_cut]).toEqual([["t2", "t3"], true]);
    expect(toStats(rows, { since_ms: 0, limit: 3 }).is_cut).toBe(false);
    expect(toStats(rows, { ...ALL, session_id: "other" }).turns).toEqual([]);
  });

  test("the order of rows and duplicate rows change nothing", () => {
    const rows = [...turn(1, 1, 9), ...tool("a", 2, 8), ...wait("r", 3, 7, "a"), ...tool("b", 4, 5)];
    const wanted = toStats(rows, ALL);
    fc.assert(
      fc.property(
        fc.shuffledSubarray([...rows.keys()], { minLength: rows.length }),
        fc.array(fc.nat({ max: rows.length - 1 })),
        (order, again) => {
          const mixed = [...order, ...again].flatMap((at) => rows[at] ?? []);
          expect(toStats(mixed, ALL)).toEqual(wanted);
        },
      ),
    );
  });
});

describe("the database", () => {
  async function open(path = join(tempDir(), "observability.db")): Promise<EventsDatabase> {
    const events = await EventsDatabase.open({ path, now: Date.now, onAside: () => undefined });
    onTestFinished(() => events.close());
    return events;
  }
  async function look(path: string): Promise<Database> {
    const quiet = { prepare: () => undefined, now: Date.now, onRecovery: () => undefined };
    const db = await openDatabase({ path, ...quiet, isShared: true });
    onTestFinished(() => closeDatabase(db));
    return db;
  }
  const many = Array.from({ length: 30 }, (_, n) => [
    ...turn(n, n * 1_000, n * 1_000 + 900),
    ...tool(`i${n}`, n * 1_000 + 10, n * 1_000 + 800),
    ...wait(`r${n}`, n * 1_000 + 20, n * 1_000 + 500, `i${n}`),
    turnRow({ turn_id: `t${n}`, event_type: "message", created_at_ms: n * 1_000 + 850 }),
  ]).flat();

  test("gives the same as the rows, also for one session and with rows that are not stored yet", async () => {
    const events = await open();
    const others = many.map(({ kind, row }) => ({ kind, row: { ...row, session_id: "x" } }) as EventRow);
    events.write([...many, ...others]);
    for (const scope of [{}, { session_id: "s" }, { session_id: "x" }]) {
      const query = { since_ms: 4_000, limit: 1_000, ...scope };
      expect(events.stats({ ...query, unstored: [] })).toEqual(toStats([...many, ...others], query));
    }
    const late = turn(99, 40_000, 41_000);
    const { turns } = events.stats({ since_ms: 39_000, limit: 10, unstored: [...late, ...many.slice(0, 9)] });
    expect(turns.map(({ turn_id }) => turn_id)).toEqual(["t99"]);
  });

  test("reads only what it needs, and still detects that there is more", async () => {
    const events = await open();
    events.write(many);
    for (const scope of [{}, { session_id: "s" }]) {
      const few = events.stats({ since_ms: 0, limit: 5, unstored: [], ...scope });
      expect([few.turns.length, few.tools.length, few.waits.length, few.is_cut]).toEqual([5, 5, 5, true]);
      expect(few).toEqual(toStats(many, { since_ms: 0, limit: 5, ...scope }));
      expect(events.stats({ since_ms: 0, limit: 30, unstored: [], ...scope }).is_cut).toBe(false);
    }
  });

  test("a file of an earlier version gets the indexes that the query names", async () => {
    const path = join(tempDir(), "observability.db");
    const first = await EventsDatabase.open({ path, now: Date.now, onAside: () => undefined });
    first.write(many);
    first.close();
    const old = await look(path);
    old.exec(BEFORE_TRACES);
    old.exec("DROP INDEX turn_stats; DROP INDEX call_stats; DROP INDEX request_stats; PRAGMA user_version=1");
    old.exec("ALTER TABLE tool_events DROP COLUMN change_kind; ALTER TABLE tool_events DROP COLUMN not_run");
    old.exec("ALTER TABLE turn_events DROP COLUMN waited_ms; DROP TABLE turn_usage");
    const events = await open(path);
    expect(events.stats({ ...ALL, unstored: [] })).toEqual(toStats(many, ALL));
    const names = old.prepare("SELECT name FROM sqlite_schema WHERE name LIKE '%_stats' ORDER BY name").all();
    expect(names).toEqual([{ name: "call_stats" }, { name: "request_stats" }, { name: "turn_stats" }]);
  });
});

describe("the observer", () => {
  let bundle: Bundle;
  beforeAll(async () => {
    bundle = await bundleWorker("src/observe/worker.ts");
  });
  afterAll(() => bundle.remove());

  function start(path?: string): { observer: Observer; log: ReturnType<typeof keptLog> } {
    const log = keptLog();
    const observer = createObserver({
      ...(path === undefined ? {} : { path }),
      workerUrl: bundle.url,
      log: log.log,
      metrics: createMetrics(),
      retention: { maxAgeMs: 0, maxToolRows: 0, maxTurnRows: 0 },
      times: { batchMs: 60_000 },
      now: () => 2_000,
    });
    onTestFinished(() => observer.close());
    return { observer, log };
  }
  function begin(observer: Observer): void {
    const data = { turn_id: "t1", started_at_ms: 1_500 };
    const session = { ...rowOf("s"), backend: "demo" };
    observer.frame(session, { type: "agent.notice", category: "task_started", data });
    observer.frame(session, { type: "agent.tool_use", tool_use_id: "i", name: "demo_shell", input: {} });
  }
  const wanted = {
    turns: [{ session_id: "s", backend: "demo", turn_id: "t1", started_at_ms: 1_500, status: "running" }],
    tools: [{ session_id: "s", turn_id: "t1", tool: "demo_shell", started_at_ms: 2_000, status: "running" }],
    waits: [],
    is_cut: false,
  };

  test.each(["memory", "disk"])("includes what happened a moment ago, in %s", async (where) => {
    const { observer } = start(where === "disk" ? join(tempDir(), "observability.db") : undefined);
    expect((await observer.stats(ALL)).turns).toEqual([]);
    begin(observer);
    expect(await observer.stats(ALL)).toEqual(wanted);
  });

  test("a disk that refuses writes leaves what is in memory", async () => {
    const { observer, log } = start("/dev/null/observability.db");
    begin(observer);
    expect(await observer.stats(ALL)).toEqual(wanted);
    expect(log.of("observe.write_failed").length + log.of("observe.read_failed").length).toBeGreaterThan(0);
  });
});
