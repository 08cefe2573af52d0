// Keys of the changes screen.
import { expect, test } from "vitest";
import type { ChangesState } from "../../../src/client/view/change-source.ts";
import {
  askToUndo,
  type ChangesEffect,
  type ChangesUi,
  FIRST_CHANGES_UI,
  getSelectedFile,
  onChangesInput,
  setChanges,
} from "../../../src/tui/changes/state.ts";
import { aFile, aReply } from "../../client/view/changed-files.ts";
import { keys } from "../support/ui.ts";

const FILES = ["a", "b", "c"].map((path) => aFile(path));
const READ: ChangesState = { reply: aReply([]), files: FILES, isLoading: false, opened: new Map() };

function press(ui: ChangesUi, ...names: string[]): { ui: ChangesUi; effects: ChangesEffect[] } {
  const effects: ChangesEffect[] = [];
  for (const input of keys(...names)) {
    const next = onChangesInput(ui, input, { height: 10, rowCount: 30 });
    ui = next.ui;
    effects.push(...next.effects);
  }
  return { ui, effects };
}
const list = (change: Partial<ChangesState> = {}) => setChanges(FIRST_CHANGES_UI, { ...READ, ...change });
const selected = (ui: ChangesUi) => getSelectedFile(ui)?.path;

test("Enter reads and shows the selected file, Esc leads back to the list, then to the session", () => {
  const { ui, effects } = press(list(), "down", "enter");
  expect(effects).toEqual([{ kind: "read_file", file: FILES[1] }]);
  expect(ui.mode).toEqual({ kind: "file", top: 0 });
  const back = press(ui, "escape");
  expect([back.ui.mode, back.effects]).toEqual([{ kind: "list" }, []]);
  expect(press(back.ui, "escape").effects).toEqual([{ kind: "back" }]);
  expect(press(ui, "ctrl-c").effects).toEqual([{ kind: "back" }]);
});

test("n and p show the next and previous file", () => {
  const { ui, effects } = press(list(), "enter", "n", "n", "n", "p");
  expect(effects.map((effect) => effect.kind === "read_file" && effect.file.path)).toEqual([
    "a",
    "b",
    "c",
    "c",
    "b",
  ]);
  expect(selected(ui)).toBe("b");
});

test("the lines scroll, up to their end", () => {
  const { ui } = press(list(), "enter", "pagedown", "down");
  expect(ui.mode).toEqual({ kind: "file", top: 10 });
  expect(press(ui, "G").ui.mode).toEqual({ kind: "file", top: 20 });
  expect(press(ui, "home", "up").ui.mode).toEqual({ kind: "file", top: 0 });
});

test("t and T step through the turns", () => {
  const turns = [1, 2].map((turn) => ({
    ...aReply([]).turns[0],
    turn,
    turn_id: "t",
    started_at_ms: 1,
    files: 1,
    additions: 0,
    deletions: 0,
  }));
  const ui = list({ reply: aReply([], { turns }) });
  expect(press(ui, "t").effects).toEqual([{ kind: "turn", turn: 1 }]);
  expect(press(ui, "T").effects).toEqual([{ kind: "turn", turn: "base" }]);
  expect(press(list({ reply: aReply([], { turns }), turn: 2 }), "t", "u").effects).toEqual([
    { kind: "turn", turn: "base" },
    { kind: "plan_undo", turn: 2 },
  ]);
  const sinceBase = list({ reply: aReply([], { turns }), turn: "base" });
  expect(press(sinceBase, "t", "u").effects).toEqual([
    { kind: "turn", turn: undefined },
    { kind: "plan_undo" },
  ]);
});

test("the selection stays on its file when the list changes", () => {
  const { ui } = press(list(), "end");
  expect(selected(ui)).toBe("c");
  expect(selected(setChanges(ui, { ...READ, files: [aFile("0"), ...FILES] }))).toBe("c");
  const gone = setChanges(press(ui, "enter").ui, { ...READ, files: FILES.slice(0, 1) });
  expect([selected(gone), gone.mode]).toEqual(["a", { kind: "list" }]);
});

test("at the end of the list the next page is read", () => {
  const ui = list({ reply: aReply([], { next: "c" }) });
  expect(press(ui, "down").effects).toEqual([]);
  expect(press(ui, "end").effects).toEqual([{ kind: "more" }]);
});

test("an empty list has nothing to open", () => {
  const { ui, effects } = press(list({ files: [] }), "enter", "down", "n");
  expect([ui.mode, effects]).toEqual([{ kind: "list" }, []]);
});

test("the help scrolls, any other key closes it, and a paste is no key", () => {
  const { ui } = press(list(), "?", "down");
  expect(ui.mode).toEqual({ kind: "help", top: 1, isInFile: false });
  expect(press(ui, "x").ui.mode).toEqual({ kind: "list" });
  const pasted = onChangesInput(list(), { kind: "paste", text: "q" }, { height: 5, rowCount: 5 });
  expect(pasted.effects).toEqual([]);
});

test("u asks first; y undoes both, f the files only, anything else nothing", () => {
  expect(press(list(), "u").effects).toEqual([{ kind: "plan_undo" }]);
  expect(press(list({ turn: 2 }), "u").effects).toEqual([{ kind: "plan_undo", turn: 2 }]);
  const question = { title: "Undo turn 2?", text: "x", action: "Undo", needsForce: false, canForget: true };
  const asked = askToUndo(list(), question, 2);
  expect(press(asked, "y").effects).toEqual([{ kind: "undo", order: { turn: 2 } }]);
  expect(press(asked, "f").effects).toEqual([{ kind: "undo", order: { turn: 2, files_only: true } }]);
  for (const key of ["escape", "enter", "n", "down"]) {
    const { ui, effects } = press(asked, key);
    expect([ui.mode, effects]).toEqual([{ kind: "list" }, []]);
  }
  const forced = askToUndo(list(), { ...question, needsForce: true }, 2);
  expect(press(forced, "y").effects).toEqual([{ kind: "undo", order: { turn: 2, force: true } }]);
});

test("what an undo did is shown until the next key", () => {
  expect(press({ ...list(), notice: "Undid turn 2" }, "down").ui.notice).toBeUndefined();
});
