// The Changes tab without a page: selected lines, comments that were not sent, keys.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Drafts } from "../../web/src/changes/drafts.ts";
import { CHANGES_KEYS, findChangesAction, findLineAction, LINE_KEYS } from "../../web/src/changes/keys.ts";
import { listOpenedFirst } from "../../web/src/changes/opened-first.ts";
import { isSelected, moveSelection } from "../../web/src/changes/selection.ts";
import { KEYS } from "../../web/src/keyboard.ts";
import { parseHash, toHash } from "../../web/src/router.ts";
import { aFile } from "../client/view/changed-files.ts";

const kept = new Map<string, string>();
beforeEach(() => {
  kept.clear();
  vi.stubGlobal("sessionStorage", {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => kept.set(key, value),
    removeItem: (key: string) => kept.delete(key),
  });
});
afterEach(() => vi.unstubAllGlobals());

const place = (line: number) => ({ path: "a", side: "new" as const, from: line, to: line, quote: ["+x"] });
const at = (line: number) => ({ key: "a", from: line, to: line });
const texts = (drafts: Drafts) => drafts.comments.map(({ text }) => text);

test("a comment begun elsewhere keeps what was written before, as a comment of its own", () => {
  const drafts = new Drafts("s", () => undefined);
  for (const text of ["one", "two", "three"]) {
    drafts.write(place(1), at(1));
    drafts.input(text);
  }
  drafts.save();
  expect(texts(drafts)).toEqual(["one", "two", "three"]);
  expect(new Set(drafts.comments.map(({ id }) => id)).size).toBe(3);
  expect(texts(new Drafts("s", () => undefined))).toEqual(["one", "two", "three"]);
  expect(texts(new Drafts("other", () => undefined))).toEqual([]);
});

test("a comment can be extended, edited, cancelled and removed", () => {
  const drafts = new Drafts("s", () => undefined);
  drafts.write(place(1), at(1));
  drafts.input("text");
  drafts.move({ ...place(1), to: 2 }, { key: "a", from: 1, to: 2 });
  drafts.save();
  expect(drafts.comments[0]).toMatchObject({ from: 1, to: 2, text: "text" });
  const [comment] = drafts.comments;
  if (comment === undefined) throw new Error("no comment");
  drafts.edit(comment, true);
  drafts.input("other");
  drafts.cancel();
  expect(texts(drafts)).toEqual(["text"]);
  drafts.edit(comment, true);
  drafts.input("");
  drafts.save();
  expect([texts(drafts), kept.size]).toEqual([[], 0]);
});

test("the selection moves, grows from where it began, and stays among the drawn lines", () => {
  const first = moveSelection(undefined, "a", "down", 3);
  expect(first).toEqual({ key: "a", from: 0, to: 0 });
  const grown = moveSelection(moveSelection(first, "a", "extend_down", 3), "a", "extend_down", 3);
  expect(grown).toEqual({ key: "a", from: 0, to: 2 });
  expect(moveSelection(grown, "a", "extend_down", 3)).toEqual(grown);
  expect(moveSelection(grown, "a", "up", 3)).toEqual({ key: "a", from: 1, to: 1 });
  expect(moveSelection(grown, "b", "up", 3)).toEqual({ key: "b", from: 0, to: 0 });
  expect(moveSelection(grown, "b", "up", 0)).toBeUndefined();
  expect([0, 1, 2, 3].map((line) => isSelected({ key: "a", from: 2, to: 1 }, line))).toEqual([
    false,
    true,
    true,
    false,
  ]);
});

test("no key of the tab means something else on the page, and Shift is told apart for arrows only", () => {
  const ours = [...CHANGES_KEYS, ...LINE_KEYS].flatMap(({ keys }) => [...keys]);
  expect(new Set(ours).size).toBe(ours.length);
  const others = KEYS.filter(({ action }) => action !== "next" && action !== "previous").flatMap(
    ({ keys }) => keys,
  );
  expect(ours.filter((key) => others.includes(key))).toEqual([]);
  expect(findChangesAction("T")).toBe("previous_turn");
  expect(findLineAction({ key: "ArrowDown", shiftKey: true })).toBe("extend_down");
  expect(findLineAction({ key: "m", shiftKey: false })).toBe("comment");
});

test("few short changes are open at first, generated and long ones are not", () => {
  const files = [aFile("a"), aFile("b", { generated: true }), aFile("c", { additions: 301 })];
  expect(listOpenedFirst(files).map(({ path }) => path)).toEqual(["a"]);
  expect(listOpenedFirst(Array.from({ length: 7 }, (_, number) => aFile(`f${number}`)))).toEqual([]);
});

test("the tab has an address", () => {
  const route = { name: "session", session_id: "a/b", view: "changes" } as const;
  expect(toHash(route)).toBe("#/s/a%2Fb/changes");
  expect(parseHash(toHash(route))).toEqual(route);
  expect(parseHash("#/s/a/other")).toEqual({ name: "session", session_id: "a" });
});
