// What sessions add to the statistics of the observability database: what is running and waiting now, and what is not.
import { expect, test } from "vitest";
import type { Stats } from "../../src/protocol/stats.ts";
import { type NowKnown, settleStats } from "../../src/sessions/views/stats.ts";

const EMPTY: Stats = { since_ms: 0, until_ms: 9_000, turns: [], tools: [], waits: [], is_cut: false };
const runs = {
  session_id: "s",
  backend: "codex-app",
  turn_id: "t1",
  started_at_ms: 10,
  status: "running",
} as const;
const session = (turn_id?: string) => ({
  session_id: "s",
  backend: "codex",
  ...(turn_id === undefined ? {} : { turn: { turn_id, started_at_ms: 10 } }),
});
const known = (over: Partial<NowKnown> & { turn_id?: string } = {}): NowKnown => ({
  rows: new Map([["s", session(over.turn_id)]]),
  toBackend: (provider) => (provider === "codex-app" ? "codex" : provider),
  pending: [],
  limit: 100,
  ...over,
});

test("a turn has the name of its backend, even if its session is not in memory", () => {
  const ended = { ...runs, status: "success", ended_at_ms: 20 } as const;
  const { turns } = settleStats({ ...EMPTY, turns: [ended, { ...ended, session_id: "gone" }] }, known());
  expect(turns.map(({ backend }) => backend)).toEqual(["codex", "codex"]);
});

test("a turn or tool without an end is running only while its session has that turn", () => {
  const tool = {
    session_id: "s",
    turn_id: "t1",
    tool: "Bash",
    started_at_ms: 11,
    status: "running",
  } as const;
  const stats = { ...EMPTY, turns: [runs], tools: [tool] };
  const now = settleStats(stats, known({ turn_id: "t1" }));
  expect([now.turns.length, now.tools.length]).toEqual([1, 1]);
  for (const other of [known(), known({ turn_id: "t2" })]) {
    const later = settleStats(stats, other);
    expect(later.turns.some(({ turn_id }) => turn_id === "t1")).toBe(false);
    expect(later.tools).toEqual([]);
  }
});

test("a running turn is listed once, even if it started before the requested time", () => {
  expect(settleStats(EMPTY, known({ turn_id: "t1" })).turns).toEqual([{ ...runs, backend: "codex" }]);
  expect(settleStats({ ...EMPTY, turns: [runs] }, known({ turn_id: "t1" })).turns.length).toBe(1);
});

test("a wait without an end is listed while the ledger has it, and so is one that only the ledger has", () => {
  const open = { session_id: "s", request_id: "r1", started_at_ms: 30 };
  const lost = { session_id: "s", request_id: "r0", started_at_ms: 20 };
  const pending = ["r1", "r2"].map((request_id) => ({ session_id: "s", request_id, requested_at_ms: 5 }));
  const { waits } = settleStats({ ...EMPTY, waits: [lost, open] }, known({ pending }));
  expect(waits).toEqual([{ session_id: "s", request_id: "r2", started_at_ms: 5 }, open]);
});

test("the limit includes what is running now, and truncation is reported", () => {
  const ended = { ...runs, turn_id: "t0", status: "success", started_at_ms: 1, ended_at_ms: 2 } as const;
  const stats = settleStats({ ...EMPTY, turns: [ended] }, known({ turn_id: "t1", limit: 1 }));
  expect([stats.turns.map(({ turn_id }) => turn_id), stats.is_cut]).toEqual([["t1"], true]);
  expect(settleStats({ ...EMPTY, is_cut: true }, known()).is_cut).toBe(true);
});
