// observability.db itself: its tables and views, pruning, and what happens to a damaged file.
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { closeDatabase, type Database, openDatabase } from "../../src/base/sqlite/database.ts";
import { EventsDatabase } from "../../src/observe/database.ts";
import type { Row } from "../../src/observe/rows.ts";
import { tempDir, toolRow, turnRow } from "./material.ts";
import { replayCodex } from "./replays.ts";

interface Opened {
  path: string;
  events: EventsDatabase;
  asides: string[];
}

async function open(path = join(tempDir(), "state", "observability.db"), now = Date.now): Promise<Opened> {
  const asides: string[] = [];
  const events = await EventsDatabase.open({ path, now, onAside: ({ aside }) => asides.push(aside) });
  onTestFinished(() => events.close());
  return { path, events, asides };
}

/** As an external tool would. */
async function look(path: string): Promise<Database> {
  const db = await openDatabase({
    path,
    prepare: () => undefined,
    now: Date.now,
    onRecovery: () => undefined,
    isShared: true,
  });
  onTestFinished(() => closeDatabase(db));
  return db;
}

const columnsOf = (db: Database, table: string) =>
  (db.prepare(`PRAGMA table_info(${table})`).all() as { name: string }[]).map(({ name }) => name);

describe("the file", () => {
  test("the views have exactly the columns that session managers read", async () => {
    const db = await look((await open()).path);
    expect(columnsOf(db, "codex_tool_events")).toEqual([
      ...["session_id", "thread_id", "turn_id", "item_id", "request_id", "event_type", "item_type", "phase"],
      ...["command", "cwd", "exit_code", "file_path", "diff_summary", "approval_decision", "latency_ms"],
      ...["final_status", "error_code", "error_message", "raw_payload_json", "created_at"],
    ]);
    expect(columnsOf(db, "codex_turn_events")).toEqual([
      ...[
        "session_id",
        "thread_id",
        "turn_id",
        "event_type",
        "origin",
        "duration_ms",
        "time_to_first_token_ms",
      ],
      ...["input_tokens", "output_tokens", "cost_usd", "final_status", "error_code", "error_message"],
      ...["raw_payload_json", "created_at"],
    ]);
  });

  test("others can read it while we write; the views show only Codex, with readable times", async () => {
    const { path, events } = await open();
    const claude = toolRow({ source_provider: "claude", session_id: "c" });
    events.write([toolRow({ created_at_ms: 1_767_225_600_123 }), claude]);
    const rows = (await look(path)).prepare("SELECT session_id, created_at FROM codex_tool_events").all();
    expect(rows).toEqual([{ session_id: "s", created_at: "2026-01-01T00:00:00.123Z" }]);
    expect(events.write([claude])).toEqual({ refused: 0 });
  });

  test("it is private to the user, and in WAL mode", async () => {
    const { path, events } = await open();
    events.write([toolRow()]);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(join(path, ".."))).toContain("observability.db-wal");
  });

  test("every row of a real session is read back unchanged, newest first", async () => {
    const { events } = await open();
    const { rows: made } = replayCodex("04-command-approval");
    const rows = made.filter(({ kind }) => kind !== "usage");
    events.write(rows);
    const found = events.page({ limit: 1_000 });
    expect(found.map(({ kind, row }) => ({ kind, row })).reverse()).toEqual(rows);
    expect(events.page({ limit: 3, before: found[4]?.id ?? 0 })).toEqual(found.slice(5, 8));
    expect(events.page({ kind: "turn", limit: 2 })).toEqual(
      found.filter(({ kind }) => kind === "turn").slice(0, 2),
    );
  });

  test("ids continue after those of an earlier daemon", async () => {
    const { path, events } = await open();
    events.write([toolRow(), turnRow()]);
    events.close();
    const again = await open(path);
    again.events.write([toolRow({ item_id: "later" })]);
    expect(again.events.page({ limit: 9 }).map(({ id }) => id)).toEqual([3, 2, 1]);
  });

  test("a row that can never be stored is counted, and the others are stored", async () => {
    const { events } = await open();
    const bad = toolRow({ latency_ms: "soon" as unknown as number });
    expect(events.write([toolRow(), bad, toolRow()])).toEqual({ refused: 1 });
    expect(events.page({ limit: 9 })).toHaveLength(2);
  });

  test("deleting a session removes all its rows, and no others", async () => {
    const { events } = await open();
    events.write([toolRow(), turnRow(), toolRow({ session_id: "other" })]);
    events.write([{ kind: "forget", row: { session_id: "s" } }]);
    expect(events.page({ limit: 9 }).map(({ row }) => row.session_id)).toEqual(["other"]);
  });
});

describe("calls left open by a dead daemon", () => {
  const cut: Row = {
    kind: "cut",
    row: {
      session_id: "s",
      turn_id: "t1",
      error_code: "backend_crashed",
      error_message: "died",
      created_at_ms: 9_000,
    },
  };

  test("get an end with the crash code; those that have one keep it", async () => {
    const { events } = await open();
    const call = { turn_id: "t1", command: "make" };
    events.write([
      toolRow({ ...call, item_id: "ended" }),
      toolRow({ ...call, item_id: "ended", phase: "post", event_type: "completed" }),
      toolRow({ ...call, item_id: "open", created_at_ms: 2_000 }),
      toolRow({
        ...call,
        item_id: "open",
        request_id: "r",
        phase: "post",
        event_type: "approval_decision",
        approval_decision: "accept",
        latency_ms: 3_000,
      }),
      toolRow({ turn_id: "t2", item_id: "of another turn" }),
    ]);
    events.write([cut, turnRow({ event_type: "failed" })]);
    const added = events.page({ limit: 2 }).reverse();
    expect(added).toMatchObject([
      {
        id: 6,
        row: {
          item_id: "open",
          event_type: "failed",
          phase: "post",
          command: "make",
          latency_ms: 4_000,
          final_status: "failed",
          error_code: "backend_crashed",
          error_message: "died",
        },
      },
      { id: 7, kind: "turn" },
    ]);
    expect(added[0]?.row).not.toHaveProperty("not_run");
  });

  test.each([
    ["is still open", []],
    ["was declined", [{ event_type: "approval_decision", approval_decision: "decline" }]],
    ["is orphaned by the restart", [{ event_type: "interrupted", turn_id: "the agent's own name" }]],
  ] as const)("did not run when what was asked about them %s", async (_name, ends) => {
    const { events } = await open();
    const asked = { turn_id: "t1", item_id: "i", request_id: "r" };
    events.write([
      toolRow({ turn_id: "t1", item_id: "i", command: "make", created_at_ms: 2_000 }),
      toolRow({ ...asked, phase: "pre", event_type: "request_approval" }),
      ...ends.map((end) => toolRow({ ...asked, phase: "post", latency_ms: 5_000, ...end })),
      cut,
    ]);
    expect(events.page({ limit: 1 })).toMatchObject([
      { row: { item_id: "i", phase: "post", not_run: "daemon_stopped", latency_ms: 0 } },
    ]);
  });
});

describe("retention", () => {
  const DAY_MS = 86_400_000;
  const OFF = { maxAgeMs: 0, maxToolRows: 0, maxTurnRows: 0 };

  test("rows older than the maximum age are removed from both tables", async () => {
    const nowMs = 100 * DAY_MS;
    const { events } = await open(undefined, () => nowMs);
    const at = (days: number) => ({ created_at_ms: nowMs - days * DAY_MS });
    events.write([toolRow(at(15)), toolRow(at(13)), turnRow(at(15)), turnRow(at(14)), turnRow(at(1))]);
    expect(events.prune({ ...OFF, maxAgeMs: 14 * DAY_MS })).toEqual({ tool: 1, turn: 1, usage: 0 });
    expect(events.page({ limit: 9 })).toHaveLength(3);
  });

  test("the newest rows of each session are kept, up to the limit of each table", async () => {
    const { events } = await open();
    const many = (session_id: string, count: number) =>
      Array.from({ length: count }, (_, n) => [
        toolRow({ session_id, item_id: `i${n}` }),
        turnRow({ session_id, turn_id: `t${n}` }),
      ]).flat();
    events.write([...many("a", 10), ...many("b", 3)]);
    expect(events.prune({ ...OFF, maxToolRows: 4, maxTurnRows: 2 })).toEqual({ tool: 6, turn: 9, usage: 0 });
    const left = events.page({ session_id: "a", limit: 99 }).map(({ row }) => row);
    expect(left.flatMap((row) => ("item_id" in row ? [row.item_id] : []))).toEqual(["i9", "i8", "i7", "i6"]);
    expect(events.page({ session_id: "b", kind: "tool", limit: 99 })).toHaveLength(3);
  });

  test("0 keeps everything", async () => {
    const { events } = await open();
    events.write([toolRow({ created_at_ms: 1 }), turnRow({ created_at_ms: 1 })]);
    expect(events.prune(OFF)).toEqual({ tool: 0, turn: 0, usage: 0 });
  });
});

describe("a damaged file", () => {
  test("is set aside with its content, reported, and replaced by an empty one", async () => {
    const path = join(tempDir(), "observability.db");
    writeFileSync(path, "this is no database, but somebody may want it\n".repeat(100));
    const { events, asides } = await open(path);
    expect(asides).toHaveLength(1);
    expect(readFileSync(asides[0] ?? "", "utf8")).toContain("somebody may want it");
    expect(events.write([toolRow()])).toEqual({ refused: 0 });
  });

  test("that is detected only later is set aside then", async () => {
    const { path, events } = await open();
    events.write(
      Array.from({ length: 500 }, (_, n) => toolRow({ item_id: `i${n}`, command: "x".repeat(300) })),
    );
    events.close();
    const bytes = readFileSync(path);
    // Everything except the schema and the path to the newest rows.
    bytes.fill(0xff, 8 * 4096, bytes.length - 16 * 4096);
    writeFileSync(path, bytes);
    const again = await open(path);
    const error = catchError(() => again.events.page({ limit: 1_000 }));
    expect(await again.events.repair(error)).toBe(true);
    expect(again.asides).toHaveLength(1);
    expect(again.events.page({ limit: 1_000 })).toEqual([]);
  });

  test("is not assumed when the disk is full", async () => {
    const { events, asides } = await open();
    expect(await events.repair(new Error("database or disk is full"))).toBe(false);
    expect(asides).toEqual([]);
  });
});

function catchError(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error("nothing was thrown");
}
