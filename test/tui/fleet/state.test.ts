// What keys do in the list of all sessions.
import { expect, test } from "vitest";
import { onKey, setFleet } from "../../../src/tui/fleet/state.ts";
import { aFleet, aList, CONTEXT, press, TURN } from "./fleet-world.ts";

const waiting = { pending_requests: 1, activity_state: "waiting_permission", turn: TURN } as const;

test("the mark stays on its session when the order changes", () => {
  const list = press(aList({ session_id: "a" }, { session_id: "b" }, { session_id: "c" }), "down").state;
  expect(list.selected).toBe("b");
  const fleet = aFleet({ session_id: "a" }, { session_id: "b" }, { session_id: "c", ...waiting });
  const moved = setFleet(list, fleet);
  expect(moved.rows.map(({ session }) => session.session_id)).toEqual(["c", "a", "b"]);
  expect(moved).toMatchObject({ selected: "b", index: 2 });
});

test("when the marked session is removed, the one in its place is marked", () => {
  const list = press(aList({ session_id: "a" }, { session_id: "b" }, { session_id: "c" }), "down").state;
  expect(setFleet(list, aFleet({ session_id: "a" }, { session_id: "c" })).selected).toBe("c");
});

test("w goes to the next waiting one, round and round, and says when there is none", () => {
  const list = aList({ session_id: "a", ...waiting }, { session_id: "b" }, { session_id: "c", ...waiting });
  const first = press(list, "G", "w").state;
  expect(first.selected).toBe("a");
  expect(press(first, "w").state.selected).toBe("c");
  expect(press(first, "w", "w").state.selected).toBe("a");
  expect(press(aList({}), "w").state.message?.text).toMatch(/no pending requests/);
});

test("hiding what is stopped does not hide what failed", () => {
  const stopped = { activity_state: "stopped" } as const;
  const list = aList({ session_id: "a", ...stopped }, { session_id: "b", ...stopped, failed: true });
  expect(press(list, "h").state.rows.map(({ session }) => session.session_id)).toEqual(["b"]);
});

test("the filter looks in names, agents, states and directories; all terms must match", () => {
  const list = aList(
    { session_id: "a", name: "Fixer", cwd: "/home/site" },
    { session_id: "b", name: "fixer", provider: "codex-app" },
  );
  const ids = (...keys: string[]): string[] =>
    press(list, "/", ...keys).state.rows.map(({ session }) => session.session_id);
  expect(ids("f", "i", "x")).toEqual(["a", "b"]);
  expect(ids(..."fix site")).toEqual(["a"]);
  expect(ids(..."CODEX")).toEqual(["b"]);
  expect(ids(..."codex", "escape")).toEqual(["a", "b"]);
});

test("letters of the filter are not keys of the list, and Enter keeps it", () => {
  const { state, effects } = press(aList({ name: "q" }), "/", "q", "D", "enter");
  expect(effects).toEqual([]);
  expect(state).toMatchObject({ mode: { kind: "list" }, filter: { text: "qD" } });
  expect(press(state, "escape").state.filter.text).toBe("");
});

test("Enter opens, x interrupts only where something runs", () => {
  const idle = aList({ session_id: "a" });
  expect(press(idle, "enter").effects).toEqual([{ kind: "open", session_id: "a" }]);
  expect(press(idle, "x")).toMatchObject({
    effects: [],
    state: { message: { text: expect.stringMatching(/no turn is running/) } },
  });
  expect(press(aList({ session_id: "a", turn: TURN }), "x").effects).toEqual([
    { kind: "interrupt", session_id: "a" },
  ]);
});

test("D asks, and only y forgets the session that was asked about", () => {
  const list = aList({ session_id: "a" }, { session_id: "b" });
  const asked = press(list, "D").state;
  for (const key of ["n", "enter", "D", "escape", " "]) expect(press(asked, key).effects).toEqual([]);
  expect(press(list, "D", "n", "y").effects).toEqual([]);
  const changed = setFleet(asked, aFleet({ session_id: "b", ...waiting }, { session_id: "a" }));
  expect(press(changed, "y").effects).toEqual([{ kind: "remove", session_id: "a" }]);
});

test("a paste is not a key, whatever it contains", () => {
  const list = aList({ session_id: "a", turn: TURN });
  for (const text of ["x", "q", "D\ny", "\r"])
    expect(onKey(list, { kind: "paste", text }, CONTEXT).effects).toEqual([]);
  const asked = press(list, "D").state;
  expect(onKey(asked, { kind: "paste", text: "y" }, CONTEXT).effects).toEqual([]);
});

test("s asks before it cuts a turn, ends an idle agent at once, and says when none runs", () => {
  expect(press(aList({ session_id: "a" }), "s").effects).toEqual([{ kind: "stop", session_id: "a" }]);
  const busy = press(aList({ session_id: "a", turn: TURN }), "s");
  expect(busy.effects).toEqual([]);
  expect(press(busy.state, "y").effects).toEqual([{ kind: "stop", session_id: "a" }]);
  expect(press(aList({ running: false }), "s")).toMatchObject({ effects: [], state: { message: {} } });
});

test("r starts with the current name; an empty one removes it", () => {
  const list = aList({ session_id: "a", name: "old" });
  expect(press(list, "r", "2", "enter").effects).toEqual([{ kind: "rename", session_id: "a", name: "old2" }]);
  expect(press(list, "r", "ctrl-u", "enter").effects).toEqual([
    { kind: "rename", session_id: "a", name: "" },
  ]);
  expect(press(list, "r", "x", "escape").effects).toEqual([]);
});

test("stopped sessions can be hidden, but not one that has something waiting below it", () => {
  const list = aList(
    { session_id: "a", activity_state: "stopped" },
    { session_id: "b", activity_state: "stopped", children: ["c"] },
    { session_id: "c", parent: "b", ...waiting },
    { session_id: "d" },
  );
  const shown = press(list, "h").state.rows.map(({ session }) => session.session_id);
  expect(shown).toEqual(["b", "c", "d"]);
  expect(press(list, "h", "h").state.rows).toHaveLength(4);
});

test("n asks for the agents and starts in the directory where the program was run", () => {
  const { state, effects } = press(aList({ cwd: "/home/site" }), "n");
  expect(effects).toEqual([{ kind: "backends" }]);
  expect(state.mode).toMatchObject({ kind: "form", form: { cwd: { text: CONTEXT.cwd } } });
});

test("keys in an empty list do nothing", () => {
  for (const key of ["enter", "x", "s", "D", "r", "down", "pagedown", "G"])
    expect(press(aList(), key).effects).toEqual([]);
});
