// The session list by projects, in an order that holds still.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { applyChanges, createFleet, listFleetRows } from "../../../src/client/view/fleet.ts";
import { groupFleetRows, nameProjects } from "../../../src/client/view/fleet-groups.ts";
import { aView } from "../session-views.ts";

type Fields = Parameters<typeof aView>[0];
const session = (session_id: string, started_at_ms: number, fields: Fields = {}) =>
  aView({ session_id, started_at_ms, ...fields });
const fleetOf = (sessions: readonly ReturnType<typeof session>[]) =>
  applyChanges(createFleet(), [{ kind: "sessions", sessions }]);
const BUSY: Fields = { turn: { turn_id: "t", started_at_ms: 0 }, activity_state: "working" };

describe("by creation", () => {
  test("the newest are first, below their parents, whatever they do", () => {
    const build = (old: Fields) =>
      fleetOf([
        session("old", 1, old),
        session("new", 3),
        session("child", 9, { parent: "old" }),
        session("younger child", 10, { parent: "old" }),
      ]);
    const idsOf = (fields: Fields) =>
      listFleetRows(build(fields), "created").map(({ session: { session_id } }) => session_id);
    const expected = ["new", "old", "younger child", "child"];
    for (const fields of [{}, BUSY, { pending_requests: 2 }, { last_active_at_ms: 10 ** 12 }])
      expect(idsOf(fields)).toEqual(expected);
  });

  test("no row moves while sessions work, wait, finish and fail", () => {
    const started = fc.uniqueArray(fc.nat(50), { minLength: 2, maxLength: 12 });
    const happening = fc.record({
      which: fc.nat(11),
      fields: fc.constantFrom<Fields>(
        BUSY,
        { pending_requests: 1 },
        { failed: true },
        { cost_usd: 9 },
        aged(7),
      ),
    });
    fc.assert(
      fc.property(started, fc.array(happening, { maxLength: 20 }), (starts, happenings) => {
        let fleet = fleetOf(starts.map((at, n) => session(`s${n}`, at, { project: `/p/${at % 3}` })));
        const show = () =>
          groupFleetRows(listFleetRows(fleet, "created"), "created").map(({ key, rows }) => [
            key,
            rows.map((row) => row.session.session_id),
          ]);
        const before = show();
        for (const { which, fields } of happenings) {
          const old = fleet.sessions.get(`s${which % starts.length}`);
          if (old === undefined) continue;
          const change = { kind: "session", session: { ...old, ...fields } } as const;
          fleet = applyChanges(fleet, [{ kind: "change", change }]);
          expect(show()).toEqual(before);
        }
      }),
    );
  });
});

test("a family is in the group of its root, and a group counts all of it", () => {
  const fleet = fleetOf([
    session("lead", 1, { project: "/w/shop", cost_usd: 1 }),
    session("worker", 2, { project: "/tmp/x", parent: "lead", cost_usd: 2, ...BUSY }),
    session("other", 3, { project: "/w/api", failed: true, activity_state: "idle" }),
    session("nowhere", 4, { pending_requests: 1 }),
  ]);
  const groups = groupFleetRows(listFleetRows(fleet, "created"), "created");
  expect(groups.map(({ rows, ...group }) => ({ ...group, rows: rows.length }))).toEqual([
    { key: "/w/api", title: "api", rows: 1, waiting: 0, working: 0, failed: 1 },
    { key: "/w/shop", title: "shop", rows: 2, waiting: 0, working: 1, failed: 0, cost_usd: 3 },
    { key: "", title: "no directory", rows: 1, waiting: 1, working: 0, failed: 0 },
  ]);
  const urgent = groupFleetRows(listFleetRows(fleet, "attention"), "attention");
  expect(urgent.map(({ key }) => key)).toEqual(["", "/w/shop", "/w/api"]);
});

test("projects of the same name show as much of their directories as tells them apart", () => {
  const titles = nameProjects(["/a/shop", "/b/shop", "/c/api", "/x/b/shop", "/", ""]);
  expect(Object.fromEntries(titles)).toEqual({
    "/a/shop": "a/shop",
    "/b/shop": "b/shop",
    "/x/b/shop": "x/b/shop",
    "/c/api": "api",
    "/": "/",
    "": "no directory",
  });
});

function aged(days: number): Fields {
  return { last_active_at_ms: days * 86_400_000 };
}
