// Sessions as a manager sees them: rows, live state, and family totals.
import { describe, expect, test } from "vitest";
import type { Action } from "../../src/protocol/actions.ts";
import { SessionView } from "../../src/protocol/views.ts";
import type { ViewFilter } from "../../src/sessions/manager-types.ts";
import {
  countPending,
  indexChildren,
  type LiveFacts,
  listFamily,
  selectParts,
  settleAction,
  sumFamilyPending,
  toView,
  type ViewWorld,
} from "../../src/sessions/views/view.ts";
import { request } from "../store/material.ts";
import { rowOf } from "./fakes.ts";

const worldOf = (over: Partial<ViewWorld> = {}): ViewWorld => ({
  pending: new Map(),
  familyPending: new Map(),
  children: new Map(),
  lastAction: () => undefined,
  quota: () => [],
  provider: (backend) => (backend === "codex" ? "codex-app" : backend),
  stallMs: 60_000,
  nowMs: 1_000_000,
  ...over,
});

const busy: LiveFacts = { activity: "working", isTurnActive: true, isRunning: true, attached: false };

test("a session that is only in the store is stopped, and nothing of it runs", () => {
  const row = rowOf("s", { backend: "codex", turn: { turn_id: "t", started_at_ms: 5 } });
  const view = toView({ row }, worldOf());
  SessionView.parse(view);
  expect(view).toEqual({
    session_id: "s",
    backend: "codex",
    provider: "codex-app",
    children: [],
    managed: false,
    activity_state: "stopped",
    attached: false,
    running: false,
    stalled: false,
    pending_requests: 0,
    family_pending_requests: 0,
    queued: 0,
    turns: 0,
    usage: row.cumulative_usage,
    context_tokens: 0,
    started_at_ms: 1,
    last_active_at_ms: 1,
    last_seq: 0,
  });
});

const failedTurn = { turn_id: "t", subtype: "error", ended_at_ms: 1 };
const rest: LiveFacts = { activity: "idle", isTurnActive: false, isRunning: true, attached: false };
const refused = { message_id: "m", kind: "user", state: "failed", queued_at_ms: 1 } as const;

test.each([
  ["its last turn failed", { last_result: failedTurn }, rest, true],
  ["its last turn failed and it was put away", { last_result: failedTurn }, undefined, true],
  ["its agent did not start for its last message", { inputs: [refused] }, rest, true],
  ["its last turn went well", { last_result: { ...failedTurn, subtype: "success" } }, rest, undefined],
  [
    "its last turn was interrupted",
    { last_result: { ...failedTurn, subtype: "interrupted" } },
    rest,
    undefined,
  ],
  ["it works again", { last_result: failedTurn }, busy, undefined],
  ["it was stopped since", { last_result: failedTurn, stopped_at_ms: 2 }, rest, undefined],
] as const)("a session is or is not failed: %s", (_why, fields, live, failed) => {
  const row = rowOf("s", fields as Parameters<typeof rowOf>[1]);
  expect(toView({ row, live }, worldOf()).failed).toBe(failed);
  expect(selectParts([{ row, live }], { state: ["failed"] })).toHaveLength(failed ? 1 : 0);
});

test("sessions active at the same moment keep one order, however they are listed", () => {
  const parts = ["c", "a", "b"].map((id) => ({ row: rowOf(id, { last_active_at_ms: 5, started_at_ms: 5 }) }));
  const ids = (all: typeof parts) => selectParts(all, {}).map(({ row }) => row.session_id);
  expect(ids(parts)).toEqual(["a", "b", "c"]);
  expect(ids(parts.toReversed())).toEqual(["a", "b", "c"]);
});

test("a live session shows its turn, its family, its queue and its last action", () => {
  const message = { role: "user" as const, content: "next" };
  const row = rowOf("s", {
    name: "worker",
    title: "do it",
    cwd: "/w",
    model: "m",
    parent: "p",
    managed: true,
    turn: { turn_id: "t", started_at_ms: 999_000 },
    queue: [{ message_id: "m1", kind: "user", message, queued_at_ms: 1 }],
    last_turn_usage: { input_tokens: 3, cache_read_input_tokens: 4 },
    cumulative_usage: { input_tokens: 10 },
    cost_usd: 0.5,
    budget: { max_turns: 3 },
    last_result: { turn_id: "t0", subtype: "success", ended_at_ms: 2 },
    last_seq: 12,
  });
  const last_action = {
    session_id: "s",
    source_provider: "fake",
    action_kind: "command" as const,
    summary_text: "ran make",
    status: "success" as const,
    started_at_ms: 1,
  };
  const pending = new Map([["s", 1]]);
  const children = new Map([["s", ["a", "b"]]]);
  const world = worldOf({
    pending,
    children,
    familyPending: new Map([["s", 4]]),
    lastAction: () => last_action,
  });
  const view = toView({ row, live: { ...busy, attached: true, last_event_at_ms: 7 } }, world);
  SessionView.parse(view);
  expect(view).toMatchObject({
    name: "worker",
    parent: "p",
    children: ["a", "b"],
    managed: true,
    activity_state: "working",
    attached: true,
    running: true,
    turn: { turn_id: "t", started_at_ms: 999_000 },
    last_action,
    pending_requests: 1,
    family_pending_requests: 4,
    queued: 1,
    usage: { input_tokens: 10 },
    context_tokens: 7,
    last_event_at_ms: 7,
    last_seq: 12,
  });
});

test("a session stalls when its turn is silent for too long and no request is pending", () => {
  const row = rowOf("s", { turn: { turn_id: "t", started_at_ms: 900_000 } });
  const isStalled = (live: LiveFacts | undefined, over: Partial<ViewWorld> = {}) =>
    toView({ row, live }, worldOf(over)).stalled;
  expect(isStalled(busy)).toBe(true);
  expect(isStalled({ ...busy, last_event_at_ms: 950_000 })).toBe(false);
  expect(isStalled({ ...busy, last_event_at_ms: 939_999 })).toBe(true);
  expect(isStalled(busy, { pending: new Map([["s", 1]]) })).toBe(false);
  expect(isStalled({ ...busy, isTurnActive: false })).toBe(false);
  expect(isStalled(busy, { stallMs: 0 })).toBe(false);
  expect(isStalled(undefined)).toBe(false);
});

test("pending requests are counted for every ancestor of the session that asks, even in a cycle", () => {
  const above: Record<string, string[]> = { leaf: ["mid", "root"], mid: ["root"], x: ["y", "x"] };
  const counts = countPending([
    request("leaf", "1"),
    request("leaf", "2"),
    request("mid", "3"),
    request("mid", "4", { status: "resolved" }),
    request("x", "5"),
  ]);
  expect(Object.fromEntries(counts)).toEqual({ leaf: 2, mid: 1, x: 1 });
  const totals = sumFamilyPending(counts, (id) => above[id] ?? []);
  expect(Object.fromEntries(totals)).toEqual({ leaf: 2, mid: 3, root: 3, x: 1, y: 1 });
});

test("a family is visited parents first, siblings by age, and a cycle ends", () => {
  const children = indexChildren([
    rowOf("b", { parent: "root", started_at_ms: 5 }),
    rowOf("a", { parent: "root", started_at_ms: 3 }),
    rowOf("a1", { parent: "a" }),
    rowOf("root", { parent: "a1" }),
  ]);
  const walk = (id: string) =>
    listFamily(id, children).map(({ session_id, depth }) => `${session_id} ${depth}`);
  expect(walk("root")).toEqual(["root 0", "a 1", "a1 2", "b 1"]);
  expect(walk("alone")).toEqual(["alone 0"]);
});

test("a list is filtered, the most recently active first", () => {
  const live = { ...busy, activity: "idle" as const };
  const all = [
    { row: rowOf("old", { last_active_at_ms: 1, name: "n", cwd: "/w" }), live },
    { row: rowOf("young", { last_active_at_ms: 9, parent: "old" }) },
    { row: rowOf("mid", { last_active_at_ms: 5, backend: "codex", parent: "old" }), live: busy },
  ];
  const ids = (filter: ViewFilter) => selectParts(all, filter).map(({ row }) => row.session_id);
  expect(ids({})).toEqual(["young", "mid", "old"]);
  expect(ids({ backend: "codex" })).toEqual(["mid"]);
  expect(ids({ parent: "old" })).toEqual(["young", "mid"]);
  expect(ids({ prefix: "y" })).toEqual(["young"]);
  expect(ids({ name: "n" })).toEqual(["old"]);
  expect(ids({ cwd: "/w" })).toEqual(["old"]);
  expect(ids({ state: ["working", "stopped"] })).toEqual(["young", "mid"]);
  expect(ids({ live: true })).toEqual(["mid", "old"]);
});

describe("the last action of an idle session", () => {
  const action = (status: Action["status"]): Action => ({
    ...{ session_id: "s", source_provider: "demo", action_kind: "turn", summary_text: "started a turn" },
    ...{ status, started_at_ms: 1, turn_id: "t" },
  });
  const good = { turn_id: "t", subtype: "success", ended_at_ms: 2 };
  const quiet = { pending_requests: 0 };

  test.each([
    ["running", { ...quiet, last_result: good }, "success"],
    ["running", { ...quiet, last_result: { ...good, turn_id: "other" } }, "interrupted"],
    ["running", quiet, "interrupted"],
    ["waiting", quiet, "interrupted"],
    ["running", { ...quiet, turn: { turn_id: "t", started_at_ms: 1 } }, "running"],
    ["waiting", { pending_requests: 1 }, "waiting"],
    ["failed", quiet, "failed"],
  ] as const)("%s in %j is shown as %s", (status, view, shown) => {
    expect(settleAction(action(status), view).status).toBe(shown);
  });
});
