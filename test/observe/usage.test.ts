// What turns used: from results to sums, the same from memory, from disk and from both; what a deletion leaves; and the
// rows made from those of an earlier version.
import { join } from "node:path";
import * as fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { closeDatabase, openDatabase } from "../../src/base/sqlite/database.ts";
import { EventsDatabase } from "../../src/observe/database.ts";
import { MemoryRows } from "../../src/observe/memory-rows.ts";
import { observe } from "../../src/observe/reduce.ts";
import { createState } from "../../src/observe/state.ts";
import type { UsageQuery } from "../../src/observe/types.ts";
import { mergeSlices, type TurnUsage } from "../../src/observe/usage.ts";
import { sliceRows } from "../../src/observe/usage-table.ts";
import { USAGE_GROUPS } from "../../src/protocol/usage-report.ts";
import { rowOf } from "../sessions/fakes.ts";
import { BEFORE_TRACES, tempDir, turnRow } from "./material.ts";

const HOUR_MS = 3_600_000;
const BASE_MS = Date.parse("2026-03-28T12:00:00Z");
const ALL: UsageQuery = {
  by: "day",
  from_ms: BASE_MS - 1,
  to_ms: BASE_MS + 1_000 * HOUR_MS,
  time_zone: "Europe/Berlin",
};
const spent = (n: number, over: Partial<TurnUsage> = {}): TurnUsage => ({
  ...{
    session_id: "s",
    turn_id: `t${n}`,
    ended_at_ms: BASE_MS + n * HOUR_MS,
    agent: "claude",
    project: "/p",
  },
  ...over,
});
const toRow = (row: TurnUsage) => ({ kind: "usage" as const, row });

async function open(path = join(tempDir(), "observability.db")): Promise<EventsDatabase> {
  const events = await EventsDatabase.open({ path, now: () => BASE_MS, onAside: () => undefined });
  onTestFinished(() => events.close());
  return events;
}

function endTurn(backend: string, result: object, inputHasCached = false): unknown {
  const session = { ...rowOf("s"), backend, cwd: "/srv/app" };
  const rows = observe(
    createState(session, backend, inputHasCached),
    session,
    { type: "agent.result", turn_id: "t", ...result },
    BASE_MS,
  );
  return rows.find(({ kind }) => kind === "usage")?.row;
}

test("input, cached and output add up to all tokens, however the agent counts", () => {
  const usage = {
    input_tokens: 100,
    cache_read_input_tokens: 70,
    cache_creation_input_tokens: 5,
    output_tokens: 9,
  };
  const row = { session_id: "s", turn_id: "t", ended_at_ms: BASE_MS, project: "/srv/app" };
  const result = { subtype: "success", usage, cost_usd: 0.5, duration_ms: 40 };
  const rest = { cached_tokens: 70, output_tokens: 9, cost_usd: 0.5, duration_ms: 40 };
  expect(endTurn("claude", result)).toEqual({ ...row, agent: "claude", input_tokens: 105, ...rest });
  expect(endTurn("codex", result, true)).toEqual({ ...row, agent: "codex", input_tokens: 30, ...rest });
});

test("a turn without usage and cost has neither, not 0, and works in its worktree's repository", () => {
  expect(endTurn("acp", { subtype: "interrupted" })).toEqual({
    session_id: "s",
    turn_id: "t",
    ended_at_ms: BASE_MS,
    agent: "acp",
    project: "/srv/app",
  });
  const worktree = { name: "w", path: "/w", branch: "b", repository: "/srv/main" };
  const session = { ...rowOf("s"), cwd: "/w", worktree };
  const rows = observe(createState(session), session, { type: "agent.result", subtype: "success" }, BASE_MS);
  expect(rows.find(({ kind }) => kind === "usage")?.row).toMatchObject({ project: "/srv/main" });
});

test("an unknown cost stays unknown in the sums, and is counted where others are known", async () => {
  const events = await open();
  events.write(
    [spent(1, { agent: "acp" }), spent(2, { cost_usd: 0.25, input_tokens: 4 }), spent(3)].map(toRow),
  );
  const { slices } = events.usage({ ...ALL, by: "agent", unstored: [] });
  const counts = { duration_ms: 0, waited_ms: 0 };
  expect(slices).toEqual([
    { key: "acp", turns: 1, turns_without_tokens: 1, turns_without_cost: 1, ...counts },
    {
      key: "claude",
      turns: 2,
      input_tokens: 4,
      turns_without_tokens: 1,
      cost_usd: 0.25,
      turns_without_cost: 1,
      ...counts,
    },
  ]);
});

test("days are those of the time zone, and a moment before midnight is in the day before", async () => {
  const midnight = Date.parse("2026-03-29T22:00:00Z");
  const events = await open();
  events.write([spent(1, { ended_at_ms: midnight - 1 }), spent(2, { ended_at_ms: midnight })].map(toRow));
  const days = (time_zone: string) =>
    events.usage({ ...ALL, time_zone, unstored: [] }).slices.map(({ key, turns }) => `${key} ${turns}`);
  expect(days("Europe/Berlin")).toEqual(["2026-03-29 1", "2026-03-30 1"]);
  expect(days("UTC")).toEqual(["2026-03-29 2"]);
});

const turnUsage = fc.record(
  {
    session_id: fc.constantFrom("a", "b"),
    ended_at_ms: fc.integer({ min: BASE_MS, max: BASE_MS + 90 * HOUR_MS }),
    agent: fc.constantFrom("claude", "codex"),
    turn_id: fc.constant(""),
    project: fc.constantFrom("/p", "/q"),
    ...{
      input_tokens: fc.nat(9),
      cached_tokens: fc.nat(9),
      output_tokens: fc.nat(9),
      duration_ms: fc.nat(9),
    },
    cost_usd: fc.nat(64).map((n) => n / 64),
  },
  { requiredKeys: ["session_id", "ended_at_ms", "agent", "turn_id"] },
);

test("memory, disk and a part of each give the same sums", async () => {
  const events = await open();
  let run = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(turnUsage, { maxLength: 30 }),
      fc.nat(30),
      fc.constantFrom(...USAGE_GROUPS),
      async (made, split, by) => {
        run += 1;
        const rows = made.map((row, at) => ({
          ...row,
          session_id: `${row.session_id}${run}`,
          turn_id: `t${at}`,
        }));
        const memory = new MemoryRows();
        for (const row of rows) memory.add(toRow(row));
        events.write([...rows.slice(0, split)].map(toRow));
        const query = { ...ALL, by, session_id: `a${run}` };
        const order = (all: object[]) =>
          all.map((one) => JSON.stringify(one, Object.keys(one).sort())).sort();
        const wanted = order(mergeSlices(sliceRows(rows, query)));
        expect(order((await memory.usage(query)).slices)).toEqual(wanted);
        // Rows that are being written may be stored already.
        expect(
          order(events.usage({ ...query, unstored: rows.slice(Math.max(0, split - 3)) }).slices),
        ).toEqual(wanted);
      },
    ),
    { numRuns: 60 },
  );
});

test("a deleted session's turns stay in the sums, and nothing names it or its project", async () => {
  const events = await open();
  events.write([
    toRow(spent(1, { cost_usd: 1 })),
    toRow(spent(2, { session_id: "other", project: "/q", cost_usd: 2 })),
  ]);
  events.write([{ kind: "forget", row: { session_id: "s" } }]);
  const keys = (by: UsageQuery["by"]) =>
    events.usage({ ...ALL, by, unstored: [] }).slices.map(({ key, cost_usd }) => `${key} ${cost_usd}`);
  expect(keys("session")).toEqual([" 1", "other 2"]);
  expect(keys("project")).toEqual([" 1", "/q 2"]);
  expect(keys("agent")).toEqual(["claude 3"]);
  // The same id can be used, and deleted, again.
  events.write([toRow(spent(1)), { kind: "forget", row: { session_id: "s" } }]);
  expect(events.usage({ ...ALL, by: "agent", unstored: [] }).slices[0]?.turns).toBe(3);
});

test("what turns used is kept after their rows, and removed by its own age", async () => {
  const events = await open();
  const old = { ended_at_ms: BASE_MS - 50 * HOUR_MS };
  events.write([toRow(spent(1, old)), toRow(spent(2)), turnRow({ created_at_ms: old.ended_at_ms })]);
  const limits = { maxAgeMs: HOUR_MS, maxToolRows: 0, maxTurnRows: 0 };
  expect(events.prune({ ...limits, maxUsageAgeMs: 51 * HOUR_MS })).toEqual({ tool: 0, turn: 1, usage: 0 });
  expect(events.prune({ ...limits, maxUsageAgeMs: 49 * HOUR_MS })).toEqual({ tool: 0, turn: 0, usage: 1 });
});

test("a file of an earlier version is filled from the turns that it has", async () => {
  const path = join(tempDir(), "observability.db");
  const events = await open(path);
  const usage = { input_tokens: 100, cache_read_input_tokens: 70, output_tokens: 9 };
  const end = {
    ...({ event_type: "completed", input_tokens: 100, output_tokens: 9, cost_usd: 0.5 } as const),
    raw_payload_json: JSON.stringify({ subtype: "success", usage }),
    created_at_ms: BASE_MS,
  };
  events.write([turnRow(), turnRow(end), turnRow({ ...end, turn_id: "t2", source_provider: "claude" })]);
  events.write([
    turnRow({ event_type: "failed", turn_id: "t3", raw_payload_json: "{cut", created_at_ms: BASE_MS }),
  ]);
  events.close();
  const options = { path, now: Date.now, onRecovery: () => undefined, isShared: true };
  const old = await openDatabase({ ...options, prepare: () => undefined });
  old.exec(`${BEFORE_TRACES} DROP TABLE turn_usage; PRAGMA user_version=3`);
  closeDatabase(old);
  const { slices, recorded_since_ms } = (await open(path)).usage({ ...ALL, by: "agent", unstored: [] });
  expect(recorded_since_ms).toBe(BASE_MS);
  expect(slices).toMatchObject([
    { key: "claude", turns: 1, input_tokens: 100, cached_tokens: 70, output_tokens: 9, cost_usd: 0.5 },
    { key: "codex", turns: 2, input_tokens: 30, cached_tokens: 70, output_tokens: 9, turns_without_cost: 1 },
  ]);
});
