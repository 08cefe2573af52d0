// Many sessions in the list: projects, labels, filters, order and the archive.
import { describe, expect, test } from "vitest";
import { drawFleet } from "../../../src/tui/fleet/draw.ts";
import { diffLabels } from "../../../src/tui/fleet/labels.ts";
import { FIRST_STATE, type FleetState, setFleet, setTime } from "../../../src/tui/fleet/state.ts";
import { aFleet, aList, NOW_MS, press, TURN } from "./fleet-world.ts";

const WAITS = { pending_requests: 1, activity_state: "waiting_permission", turn: TURN } as const;
const DAY_MS = 86_400_000;
const ids = (state: FleetState): string[] => state.rows.map(({ session }) => session.session_id);
const draw = (state: FleetState, columns = 80, top = 0, rows = 24) =>
  drawFleet(state, { columns, rows }, { look: { hasColor: false, isAscii: false }, nowMs: NOW_MS, top });
const screen = (state: FleetState, columns = 80): string => draw(state, columns).rows.join("\n");

const SHOP = "/home/me/shop";
const SITE = "/home/me/site";
/** By attention: c, a, b, d. */
const SESSIONS = [
  { session_id: "a", name: "alpha", project: SHOP, turn: TURN, activity_state: "working", cost_usd: 1 },
  { session_id: "b", name: "beta", project: SITE, failed: true, labels: ["bug", "ui"] },
  { session_id: "c", name: "gamma", project: SITE, ...WAITS },
  { session_id: "d", name: "delta", project: SHOP, last_active_at_ms: NOW_MS - 8 * DAY_MS },
] as const;

function list(): FleetState {
  const [a, b, c, d] = SESSIONS;
  const recent = { last_active_at_ms: NOW_MS };
  return setFleet(
    setTime(FIRST_STATE, NOW_MS),
    aFleet({ ...a, ...recent }, { ...b, ...recent, labels: [...b.labels] }, { ...c, ...recent }, d),
  );
}

describe("projects", () => {
  test("p groups sessions below their projects, the one that needs attention first, with sums", () => {
    const grouped = press(list(), "p").state;
    expect(ids(grouped)).toEqual(["c", "b", "a", "d"]);
    expect(screen(grouped)).toMatch(
      /^site {2}2 sessions · \? 1 waiting · ✗ 1 failed\n.*gamma.*\n.*beta.*\nshop {2}2 sessions · ● 1 working · \$1\.00\n/m,
    );
    expect(ids(press(grouped, "p").state)).toEqual(["c", "a", "b", "d"]);
  });

  test("the selection stays on its session, and moves over titles", () => {
    const before = press(list(), "down").state;
    const grouped = press(before, "p").state;
    expect(grouped).toMatchObject({ selected: "a", index: 2 });
    expect(press(grouped, "up").state.selected).toBe("b");
    expect(screen(grouped)).toMatch(/^▌ ● working +alpha/m);
  });

  test("with several projects there is a column for them, unless they are groups", () => {
    expect(screen(list())).toMatch(/SESSION +PROJECT +AGENT/);
    expect(screen(list())).toMatch(/gamma +site +demo/);
    expect(screen(press(list(), "p").state)).not.toContain("PROJECT");
    expect(screen(aList({ project: SHOP }, { session_id: "b", project: SHOP }))).not.toContain("PROJECT");
  });

  test("the title of a group is visible with its first session", () => {
    const many = Array.from({ length: 60 }, (_, at) => ({
      session_id: `s${at}`,
      project: at < 30 ? SHOP : SITE,
    }));
    let state = press(aList(...many), "p", "G").state;
    let { top } = draw(state);
    expect(top).toBeGreaterThan(0);
    state = press(state, "g").state;
    top = draw(state, 80, top).top;
    expect(draw(state, 80, top).rows[2]).toMatch(/^shop|^site/);
    const { rows } = draw(state, 80, top);
    expect(rows.filter((row) => row.startsWith("▌"))).toHaveLength(1);
  });
});

describe("filters", () => {
  test.each([
    ["is:waiting", ["c"]],
    ["is:failed", ["b"]],
    ["#bug", ["b"]],
    ["project:shop", ["a", "d"]],
    ["age>7d", ["d"]],
    ["cost>0.5", ["a"]],
    ["is:failed is:waiting bet", ["b"]],
    ["needs approval", ["c"]],
  ])("%s", (text, found) => {
    expect(ids(press(list(), "/", ...text, "enter").state)).toEqual(found);
  });

  test("f goes through the states and back to all, and keeps what was typed", () => {
    const typed = press(list(), "/", ..."a", "enter").state;
    const texts: string[] = [];
    let state = typed;
    for (let at = 0; at < 5; at += 1) {
      state = press(state, "f").state;
      texts.push(state.filter.text);
    }
    expect(texts).toEqual(["a is:waiting", "a is:working", "a is:failed", "a is:archived", "a"]);
    expect(ids(press(list(), "f", "f").state)).toEqual(["a"]);
  });
});

describe("order", () => {
  test("o lists the newest first, where no row moves while sessions start to wait", () => {
    const sessions = [1, 2, 3].map((at) => ({ session_id: `s${at}`, started_at_ms: NOW_MS + at }));
    const created = press(aList(...sessions), "o").state;
    expect(ids(created)).toEqual(["s3", "s2", "s1"]);
    const [first = {}, ...others] = sessions;
    const changed = aFleet({ ...first, ...WAITS }, ...others);
    expect(ids(setFleet(created, changed))).toEqual(["s3", "s2", "s1"]);
    expect(ids(press(setFleet(created, changed), "o").state)).toEqual(["s1", "s3", "s2"]);
    expect(screen(press(created, "down").state)).toContain("newest first");
  });

  test("by attention nothing moves while nothing happens, whatever the time is", () => {
    const before = list();
    for (const ms of [1, 59_000, 3_600_000, 30 * DAY_MS])
      expect(ids(setFleet(setTime(before, NOW_MS + ms), { ...before.fleet }))).toEqual(ids(before));
  });
});

describe("labels", () => {
  test("are shown after the name", () => {
    expect(screen(list(), 140)).toContain("beta #bug #ui");
  });

  test("t edits them as words, and sends what changed", () => {
    const edit = press(list(), "/", ..."beta", "enter", "t").state;
    expect(screen(edit)).toContain("Labels: bug ui");
    const { state, effects } = press(edit, "ctrl-u", ..."ui, #hot", "enter");
    expect(effects).toEqual([
      { kind: "label", session_id: "b", change: { add_labels: ["hot"], remove_labels: ["bug"] } },
    ]);
    expect(state.mode).toEqual({ kind: "list" });
    expect(press(edit, "x", "escape").effects).toEqual([]);
    expect(press(edit, "enter").effects).toEqual([]);
  });

  test.each([
    [[], " a  a,b ", { add_labels: ["a", "b"] }],
    [["a", "b"], "b a", undefined],
    [["a"], "", { remove_labels: ["a"] }],
  ])("%j and %j", (before, text, change) => {
    expect(diffLabels(before, text)).toEqual(change);
  });
});

describe("the archive", () => {
  const ARCHIVED = { session_id: "z", name: "old", archived_at_ms: NOW_MS } as const;

  test("e archives a session, and takes one back", () => {
    expect(press(aList({ session_id: "a" }), "e").effects).toEqual([
      { kind: "archive", session_id: "a", archived: true },
    ]);
    const back = press(aList({ session_id: "a" }, ARCHIVED), "/", ..."is:archived", "enter", "e");
    expect(back.effects).toEqual([{ kind: "archive", session_id: "z", archived: false }]);
    expect(press(aList(), "e").effects).toEqual([]);
  });

  test("archived sessions are not listed or counted, unless one of them waits", () => {
    const state = aList({ session_id: "a" }, ARCHIVED);
    expect(ids(state)).toEqual(["a"]);
    expect(draw(state).rows[0]).toContain("1 session · 1 archived");
    expect(ids(aList({ session_id: "a" }, { ...ARCHIVED, ...WAITS }))).toEqual(["z", "a"]);
  });

  test("if all are archived, the empty list says how to see them", () => {
    const state = aList(ARCHIVED);
    expect(screen(state)).toContain("No session to show: f shows archived sessions.");
    expect(ids(press(state, "f", "f", "f", "f").state)).toEqual(["z"]);
  });
});
