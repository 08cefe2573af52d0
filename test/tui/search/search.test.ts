// The search screen: what keys do, and what is drawn.
import stringWidth from "string-width";
import { expect, test, vi } from "vitest";
import type { SearchHit, SearchReply } from "../../../src/protocol/search.ts";
import type { App, Input } from "../../../src/tui/screen-types.ts";
import { drawSearch } from "../../../src/tui/search/draw.ts";
import { createSearchScreen } from "../../../src/tui/search/screen.ts";
import {
  createSearch,
  reduceSearch,
  type SearchEvent,
  type SearchStep,
} from "../../../src/tui/search/state.ts";
import { PATIENT } from "../../support/patience.ts";
import { aList, press as pressInList } from "../fleet/fleet-world.ts";

const NOW_MS = 1_000_000_000;
const LOOK = { hasColor: false, isAscii: false } as never;

const aHit = (session_id: string, seq: number, over: Partial<SearchHit> = {}): SearchHit => ({
  ...{
    session_id,
    seq,
    role: "user",
    at_ms: NOW_MS - 7_200_000,
    text: "rotate the tokens now",
    marks: [[11, 17]],
  },
  ...{ name: `name of ${session_id}`, agent: "claude", project: "/home/me/shop" },
  ...over,
});
const aReply = (hits: SearchHit[], over: Partial<SearchReply> = {}): SearchReply => ({ hits, ...over });
const key = (chord: string): Input => ({ kind: "key", chord });
const char = (text: string): Input => ({ kind: "text", text });

function run(step: SearchStep, ...events: (SearchEvent | Input)[]): SearchStep {
  return events.reduce<SearchStep>((before, event) => {
    const isInput = event.kind === "key" || event.kind === "text" || event.kind === "paste";
    return reduceSearch(
      before.ui,
      isInput ? { kind: "input", input: event, page: 3 } : (event as SearchEvent),
    );
  }, step);
}
const found = (text: string, reply: SearchReply): SearchEvent => ({ kind: "reply", text, reply });
const rowsOf = ({ ui }: SearchStep, size = { columns: 80, rows: 12 }) =>
  drawSearch(ui, size, { look: LOOK, nowMs: NOW_MS }).rows.map((row) => row.trimEnd());

test("the filter of the list becomes a search: Tab while it is typed, Tab or F in the list", () => {
  const list = aList({ session_id: "a", name: "alpha" });
  const typed = pressInList(list, "/", "z", "z", "tab");
  expect(typed.effects).toEqual([{ kind: "search", text: "zz" }]);
  expect(typed.state.mode).toEqual({ kind: "list" });
  expect(typed.state.rows).toHaveLength(1);
  for (const one of ["tab", "F"])
    expect(pressInList(list, one).effects).toEqual([{ kind: "search", text: "" }]);
  const kept = pressInList(list, "/", "z", "z", "enter", "F");
  expect(kept.effects).toEqual([{ kind: "search", text: "zz" }]);
});

test("typing searches, and a late reply to another text is ignored", () => {
  expect(createSearch("").effects).toEqual([]);
  const typed = run(createSearch("tok"), char("e"));
  expect(typed.effects).toEqual([{ kind: "search", text: "toke" }]);
  expect(run(typed, found("tok", aReply([aHit("a", 1)]))).ui.hits).toEqual([]);
  expect(run(typed, found("toke", aReply([aHit("a", 1)]))).ui.hits).toHaveLength(1);
  expect(run(typed, char(" ")).effects).toEqual([]);
});

test("hits are together by session, and Enter opens the selected one at its place", () => {
  const hits = [aHit("a", 5), aHit("b", 2), aHit("a", 9)];
  const step = run(createSearch("tokens"), found("tokens", aReply(hits)), key("down"));
  expect(run(step, key("enter")).effects).toMatchObject([{ kind: "open", hit: { session_id: "a", seq: 9 } }]);
  expect(run(step, key("down"), key("down"), key("enter")).effects).toMatchObject([
    { kind: "open", hit: { session_id: "b", seq: 2 } },
  ]);
  expect(run(createSearch("x"), key("enter")).effects).toEqual([]);
  expect(run(step, key("escape")).effects).toEqual([{ kind: "back" }]);
});

test("going past the last hit asks for more, once, and keeps the place", () => {
  const step = run(
    createSearch("x"),
    found("x", aReply([aHit("a", 1), aHit("a", 2)], { next: "n" })),
    key("down"),
  );
  expect(step.effects).toEqual([{ kind: "search", text: "x", after: "n" }]);
  expect(run(step, key("down")).effects).toEqual([]);
  const more = run(step, { kind: "reply", text: "x", reply: aReply([aHit("b", 3)]), after: "n" });
  expect(more.ui).toMatchObject({ selected: 1, isSearching: false });
  expect(more.ui.hits.map(({ seq }) => seq)).toEqual([1, 2, 3]);
  expect(run(more, key("pagedown"), key("down")).effects).toEqual([]);
});

test("the screen names each session once, with the text around the match", () => {
  const hits = [aHit("a", 5), aHit("a", 9, { role: "tool", text: "tokens.ts" }), aHit("b", 2)];
  const rows = rowsOf(run(createSearch("tokens"), found("tokens", aReply(hits, { unindexed: 2 }))));
  expect(rows).toEqual([
    "Search: tokens",
    "name of a  shop · claude",
    "▌   2h  you   rotate the tokens now",
    "    2h  tool  tokens.ts",
    "name of b  shop · claude",
    "    2h  you   rotate the tokens now",
    ...["", "", "", ""],
    "3 hits; 2 sessions are still being indexed",
    'Enter open  ↑↓ choose  Esc back  "several words" as a phrase',
  ]);
});

test("it says when nothing was found, or why it failed", () => {
  expect(rowsOf(createSearch("x")).at(-2)).toBe("Searching…");
  expect(rowsOf(createSearch("")).at(-2)).toBe("What was said or done in any session.");
  expect(rowsOf(run(createSearch("x"), found("x", aReply([])))).at(-2)).toBe('Nothing found for "x"');
  const failed = run(createSearch("…"), { kind: "failed", text: "…", message: "no letters" });
  expect(rowsOf(failed).at(-2)).toBe("no letters");
  expect(rowsOf(run(failed, char("x"))).at(-2)).toBe("Searching…");
});

test("whatever was said, each row is one row, fits, and has no control character", () => {
  const text = "\u001b[31mred\u202e 检索检索 \u0007 tokens \u009b2J".repeat(9);
  const hits = Array.from({ length: 40 }, (_, at) =>
    aHit("a", at, {
      text,
      name: "x\u001b]0;evil\u0007\ny",
      marks: [
        [0, 8],
        [20, 40],
      ],
    }),
  );
  for (const columns of [20, 41, 80]) {
    let step = run(createSearch("tokens \u001b"), found("tokens \u001b", aReply(hits)));
    for (let down = 0; down < 30; down += 1) step = run(step, key("down"));
    const rows = rowsOf(step, { columns, rows: 9 });
    expect(rows).toHaveLength(9);
    for (const row of rows) {
      expect(stringWidth(row)).toBeLessThanOrEqual(columns);
      expect(row).not.toMatch(/[\p{Cc}\u202e]/u);
    }
    expect(rows.join("\n")).toContain("▌");
  }
});

test("only the newest text is searched for, after a pause, and a failure is shown", async () => {
  const search = vi.fn(async ({ text }: { text: string }) => {
    if (text === "bad") throw new Error("no letters");
    return aReply([aHit("a", 7), aHit("b", 8, { outside: true })]);
  });
  const openSession = vi.fn();
  const openOutside = vi.fn();
  const app = { redraw: vi.fn(), back: vi.fn(), look: LOOK, size: () => ({ columns: 80, rows: 24 }) };
  const screen = createSearchScreen({ driver: { search }, text: "to", openSession, openOutside })(
    app as unknown as App,
  );
  const draw = () => screen.draw({ columns: 80, rows: 24 }).rows.join("\n");
  screen.onInput(char("k"));
  await vi.waitFor(() => expect(draw()).toContain("rotate the tokens"), PATIENT);
  expect(search.mock.calls.map(([{ text }]) => text)).toEqual(["tok"]);
  screen.onInput(key("enter"));
  expect(openSession).toHaveBeenCalledWith("a", 7);
  expect(draw()).toContain("shop · claude · started outside");
  screen.onInput(key("down"));
  screen.onInput(key("enter"));
  expect(openOutside).toHaveBeenCalledWith(expect.objectContaining({ session_id: "b", seq: 8 }));
  expect(openSession).toHaveBeenCalledOnce();
  for (let back = 0; back < 3; back += 1) screen.onInput(key("backspace"));
  for (const one of "bad") screen.onInput(char(one));
  await vi.waitFor(() => expect(draw()).toContain("no letters"), PATIENT);
  screen.onInput(key("escape"));
  expect(app.back).toHaveBeenCalledOnce();
  await screen.close();
});
