// The screen of all sessions as rows of text.
import stringWidth from "string-width";
import { expect, test } from "vitest";
import { drawFleet } from "../../../src/tui/fleet/draw.ts";
import { type FleetState, setFleet } from "../../../src/tui/fleet/state.ts";
import { aList, NOW_MS, press, TURN } from "./fleet-world.ts";

const PLAIN = { hasColor: false, isAscii: false };
const draw = (state: FleetState, columns = 80, rows = 23, look = PLAIN, top = 0) =>
  drawFleet(state, { columns, rows }, { look, nowMs: NOW_MS + 60_000, top });
const HOSTILE = [
  "\u001b[2J\u001b]0;owned\u0007",
  "\u202egnp.exe",
  "a\nb\tc\r",
  "日本語".repeat(40),
  `e${"\u0301".repeat(50)}`,
  "\u0000\u009b31m",
  "👩‍👩‍👧‍👦".repeat(20),
];

test("a waiting session is listed first, with a sign and a word, and the header counts it", () => {
  const screen = draw(
    aList(
      { session_id: "a", name: "busy", turn: TURN, activity_state: "working", cost_usd: 1.5 },
      {
        session_id: "b",
        name: "blocked",
        pending_requests: 1,
        activity_state: "waiting_permission",
        turn: TURN,
      },
    ),
  ).rows;
  expect(screen[0]).toContain("2 sessions · ? 1 waiting · ● 1 working · $1.50");
  expect(screen[2]).toMatch(/^▌ \? needs approval blocked /);
  expect(screen[3]).toMatch(/^ {2}● working +busy .* 1m +\$1\.50/);
});

test("a session that failed says so, idle or stopped, and one that starts is not stopped", () => {
  const { rows } = draw(
    aList(
      { session_id: "a", name: "broken", failed: true, started_at_ms: NOW_MS + 3 },
      { session_id: "b", name: "gone", failed: true, activity_state: "stopped", started_at_ms: NOW_MS + 2 },
      { session_id: "c", name: "coming", activity_state: "starting", started_at_ms: NOW_MS + 1 },
    ),
  );
  expect(rows[2]).toMatch(/^▌ ✗ failed +broken /);
  expect(rows[3]).toMatch(/^ {2}✗ failed +gone /);
  expect(rows[4]).toMatch(/^ {2}◌ starting +coming /);
});

test("children are indented below their parent", () => {
  const { rows } = draw(
    aList({ session_id: "a", name: "top", children: ["b"] }, { session_id: "b", name: "sub", parent: "a" }),
  );
  expect(rows[2]).toContain(" top ");
  expect(rows[3]).toContain(" └ sub ");
});

test("whatever is in names and actions, each row is one row, fits, and has no control character", () => {
  const hostile = HOSTILE.map((text, at) => ({
    session_id: `s${at}`,
    name: text,
    title: text,
    cwd: text,
    model: text,
    held: text,
    turn: TURN,
    last_result: { turn_id: "t", subtype: text, ended_at_ms: 0, text, error: { code: "x", message: text } },
  }));
  for (const columns of [20, 40, 80, 111, 140])
    for (const keys of [[], ["D"], ["r"], ["n"], ["?"], ["/", "s"]]) {
      const { rows } = draw(press(aList(...hostile), ...keys).state, columns, 30);
      expect(rows).toHaveLength(30);
      for (const row of rows) {
        expect(row).not.toMatch(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/u);
        expect(stringWidth(row)).toBeLessThanOrEqual(columns);
      }
    }
});

test("only visible rows are drawn, and the marked one always is", () => {
  const many = Array.from({ length: 500 }, (_, at) => ({ session_id: `s${at}`, name: `name-${at}.` }));
  let state = aList(...many);
  let top = 0;
  for (const key of ["pagedown", "pagedown", "down", "G", "up", "g"]) {
    state = press(state, key).state;
    const drawn = draw(state, 80, 23, PLAIN, top);
    top = drawn.top;
    expect(drawn.rows).toHaveLength(23);
    expect(drawn.rows.filter((row) => row.startsWith("▌"))).toHaveLength(1);
    expect(drawn.rows.find((row) => row.startsWith("▌"))).toContain(
      ` ${state.rows[state.index]?.session.name} `,
    );
  }
});

test("a wide terminal shows the details of the marked one beside the list, a narrow one does not", () => {
  const list = aList({ session_id: "a", name: "fixer", cwd: "/home/site", queued: 2 });
  expect(draw(list, 140).rows.join("\n")).toMatch(/│ dir +\/home\/site/);
  expect(draw(list, 140).rows.join("\n")).toMatch(/│ queue +2 waiting/);
  expect(draw(list, 80).rows.join("\n")).not.toContain("/home/site");
});

test("a lost daemon is reported, and the list stays unchanged", () => {
  const before = aList({ session_id: "a", name: "fixer" });
  const fleet = { ...before.fleet, link: { state: "lost", message: "no daemon\u001b[31m" } as const };
  const { rows } = draw(setFleet(before, fleet));
  expect(rows[0]).toContain("✗ disconnected");
  expect(rows[2]).toContain("fixer");
  expect(rows.at(-2)).toContain("no daemon\\x1b[31m");
});

test("without sessions it says how to start; with a filter without matches, how to see all", () => {
  expect(draw(aList()).rows.join("\n")).toMatch(/No sessions yet[\s\S]*n {2}starts one/);
  expect(draw(press(aList({ name: "x" }), "/", "z", "z", "enter").state).rows.join("\n")).toMatch(
    /No session matches "zz": Esc shows all/,
  );
});

test("the cursor is in the text field", () => {
  expect(draw(press(aList({ name: "x" }), "/", "a", "b").state).cursor).toEqual({ x: 3, y: 21 });
  expect(draw(press(aList({ name: "ab" }), "r").state).cursor).toEqual({ x: "Name: ab".length, y: 21 });
  expect(draw(aList({})).cursor).toBeUndefined();
  const form = draw(press(aList({}), "n", "h", "i").state);
  expect(form.rows[form.cursor?.y ?? 0]?.slice(0, form.cursor?.x)).toMatch(/Task +hi$/);
});

test("where only ASCII can be shown nothing else is written", () => {
  const state = aList(
    { session_id: "a", name: "é日", children: ["b"], turn: TURN, activity_state: "working" },
    { session_id: "b", parent: "a", pending_requests: 1 },
  );
  for (const keys of [[], ["?"], ["n"], ["/"]])
    for (const row of draw(press(state, ...keys).state, 140, 30, { hasColor: false, isAscii: true }).rows)
      expect(row).toMatch(/^[ -~]*$/);
});

test("the help names keys like the hints and wraps long summaries", () => {
  const help = draw(press(aList({}), "?").state, 80, 40).rows.join("\n");
  expect(help).toMatch(/^ {2}Up, k, Ctrl-P, Wheel-Up {2,}up$/m);
  expect(help).toMatch(/^ {2}\/ +filter: words is:failed #label project:x age>7d$/m);
  const narrow = draw(press(aList({}), "?").state, 60, 40).rows.join("\n");
  expect(narrow).toMatch(/^ {2}\/ +filter: words .*\n +.*age>7d$/m);
});

test("help and how to leave are among the hints in every width", () => {
  for (const columns of [30, 60, 80, 140])
    expect(draw(aList({}), columns).rows.at(-1)).toMatch(/\? help {2}q quit/);
});
