// All sessions as a list: the tree, its order, and how changes come into it.
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import {
  applyChanges,
  createFleet,
  type Fleet,
  type FleetInput,
  getActiveMs,
  listFleetRows,
} from "../../../src/client/view/fleet.ts";
import { pending, resolved } from "../request-rows.ts";
import { aView } from "../session-views.ts";

const NOW = 100 * 60_000;
type Fields = Parameters<typeof aView>[0];
const session = (session_id: string, fields: Fields = {}) => aView({ session_id, ...fields });
const activeAgo = (minutes: number) => ({ last_active_at_ms: NOW - minutes * 60_000 });
const WORKS: Fields = { turn: { turn_id: "t", started_at_ms: 0 }, activity_state: "working" };

const fleetOf = (sessions: readonly ReturnType<typeof session>[], ...more: FleetInput[]): Fleet =>
  applyChanges(createFleet(), [{ kind: "sessions", sessions }, ...more]);
const shape = (fleet: Fleet): string[] =>
  listFleetRows(fleet).map(
    ({ session: { session_id }, depth, isWaiting }) =>
      `${"-".repeat(depth)}${session_id}${isWaiting ? "!" : ""}`,
  );

describe("the order", () => {
  test("waiting sessions first, then working ones, then by their last activity", () => {
    const fleet = fleetOf([
      session("old", activeAgo(50)),
      session("new", activeAgo(2)),
      session("works", { ...WORKS, ...activeAgo(90) }),
      session("waits", { ...activeAgo(95), pending_requests: 1 }),
    ]);
    expect(shape(fleet)).toEqual(["waits!", "works", "new", "old"]);
  });

  test("is the same however much time passes while nothing happens", () => {
    // A minute apart on the clock, seconds apart in age: by age they would change places every minute.
    const at = (clock: number, started_at_ms: number) => ({ last_active_at_ms: clock, started_at_ms });
    const fleet = fleetOf([
      session("young", at(3 * 60_000 + 1_000, 1)),
      session("old", at(3 * 60_000 - 1_000, 2)),
    ]);
    const now = vi.spyOn(Date, "now");
    const orders = [0, 30, 59, 60, 90, 3_600].map((seconds) => {
      now.mockReturnValue(200_000 + seconds * 1_000);
      return shape(fleet).join();
    });
    now.mockRestore();
    expect(new Set(orders)).toEqual(new Set(["young,old"]));
  });

  test("the longest wait comes first", () => {
    const fleet = fleetOf([session("a"), session("b")], {
      kind: "requests",
      requests: [
        pending({ request_id: "1", session_id: "a", requested_at_ms: 9 }),
        pending({ request_id: "2", session_id: "b", requested_at_ms: 3 }),
      ],
    });
    expect(shape(fleet)).toEqual(["b!", "a!"]);
    expect([...fleet.requests.keys()]).toEqual(["2", "1"]);
  });

  test("children are below their parents, and move them up when they wait", () => {
    const fleet = fleetOf([
      session("works", WORKS),
      session("root", activeAgo(90)),
      session("child", { parent: "root", ...activeAgo(90) }),
      session("other", { parent: "root", ...activeAgo(1) }),
      session("deep", { parent: "child", pending_requests: 1 }),
    ]);
    expect(shape(fleet)).toEqual(["root!", "-child!", "--deep!", "-other", "works"]);
  });

  test("one whose parent is unknown is a root, and two that are each other's parents are shown", () => {
    const orphan = session("orphan", { parent: "gone" });
    const ring = [
      session("a", { parent: "b" }),
      session("b", { parent: "a" }),
      session("c", { parent: "c" }),
    ];
    expect(shape(fleetOf([orphan]))).toEqual(["orphan"]);
    expect(listFleetRows(fleetOf(ring))).toHaveLength(3);
  });

  test("rows do not change places because of seconds", () => {
    const at = (a: number, b: number) =>
      shape(
        fleetOf([
          session("a", { last_active_at_ms: NOW - a, started_at_ms: 2 }),
          session("b", { last_active_at_ms: NOW - b }),
        ]),
      );
    expect(at(1_000, 5_000)).toEqual(at(5_000, 1_000));
  });

  test("an agent that is found again by a new daemon has not done anything", () => {
    const found = session("a", { last_active_at_ms: NOW - 9_000, last_event_at_ms: NOW });
    expect(getActiveMs(found)).toBe(NOW - 9_000);
    expect(getActiveMs({ ...found, ...WORKS })).toBe(NOW);
  });

  test("every session is shown exactly once, whatever the families are", () => {
    const ids = fc.constantFrom("a", "b", "c", "d", "e", "f");
    const one = fc
      .tuple(ids, fc.option(ids), fc.nat(1))
      .map(([id, parent, pending_requests]) =>
        session(id, { ...(parent === null ? {} : { parent }), pending_requests }),
      );
    fc.assert(
      fc.property(fc.array(one), (sessions) => {
        const fleet = fleetOf(sessions);
        const shown = listFleetRows(fleet).map(({ session: { session_id } }) => session_id);
        expect([...shown].sort()).toEqual([...fleet.sessions.keys()].sort());
      }),
    );
  });
});

describe("changes", () => {
  const change = (fleet: Fleet, ...changes: Extract<FleetInput, { kind: "change" }>["change"][]) =>
    applyChanges(
      fleet,
      changes.map((one) => ({ kind: "change", change: one })),
    );

  test("a session appears, changes and goes, with its requests", () => {
    const fleet = change(
      createFleet(),
      { kind: "session", session: session("s1") },
      { kind: "request", request: pending() },
    );
    expect(shape(fleet)).toEqual(["s1!"]);
    const renamed = change(fleet, { kind: "session", session: session("s1", { name: "x" }) });
    expect(renamed.sessions.get("s1")?.name).toBe("x");
    const gone = change(renamed, { kind: "session_removed", session_id: "s1" });
    expect([gone.sessions.size, gone.requests.size]).toEqual([0, 0]);
  });

  test("an answered request is no longer pending", () => {
    const fleet = change(fleetOf([session("s1")]), { kind: "request", request: pending() });
    expect(shape(change(fleet, { kind: "request", request: resolved(pending()) }))).toEqual(["s1"]);
  });

  test("a complete list replaces everything", () => {
    const fleet = fleetOf([session("a"), session("b")], {
      kind: "requests",
      requests: [pending({ session_id: "a" })],
    });
    const now = applyChanges(fleet, [
      { kind: "sessions", sessions: [session("c")] },
      { kind: "requests", requests: [] },
    ]);
    expect(shape(now)).toEqual(["c"]);
  });

  test("an input without changes returns the same object, and the previous one is unchanged", () => {
    const fleet = fleetOf([session("a")]);
    expect(change(fleet, { kind: "reset" })).toBe(fleet);
    expect(change(fleet, { kind: "request", request: resolved(pending()) })).toBe(fleet);
    expect(applyChanges(fleet, [])).toBe(fleet);
    change(fleet, { kind: "session_removed", session_id: "a" });
    expect(fleet.sessions.size).toBe(1);
  });

  test("whether the daemon answers is part of it", () => {
    const fleet = applyChanges(createFleet(), [{ kind: "link", state: "lost", message: "gone" }]);
    expect(fleet.link).toEqual({ state: "lost", message: "gone" });
  });
});
