import fc from "fast-check";
import { expect, test } from "vitest";
import { measureWidth } from "../../../src/base/width.ts";
import { editWith } from "../../../src/tui/composer/edit-keys.ts";
import {
  backspace,
  type Editor,
  EMPTY_EDITOR,
  expandText,
  formatMark,
  insert,
  killLeft,
  killRight,
  killWordLeft,
  moveLeft,
  moveRight,
  moveTo,
  moveWordLeft,
  moveWordRight,
  paste,
  resetEditor,
  setText,
  splitCharacters,
  yank,
} from "../../../src/tui/composer/editor.ts";
import { arrangeEditor, moveRow, sliceVisibleRows } from "../../../src/tui/composer/layout.ts";

function at(text: string): Editor {
  const cursor = text.indexOf("|");
  return moveTo(setText(EMPTY_EDITOR, text.replace("|", "")), cursor);
}

function shown({ text, cursor }: Editor): string {
  return `${text.slice(0, cursor)}|${text.slice(cursor)}`;
}

test.each([
  ["back over a flag as one", moveLeft, "a🇩🇪|b", "a|🇩🇪b"],
  ["deletes an emoji of several parts whole", backspace, "x👩‍👩‍👧|", "x|"],
  ["a word back", moveWordLeft, "npm run  test|", "npm run  |test"],
  ["a word forth", moveWordRight, "npm| run test", "npm run| test"],
  ["kills to the end of the line", killRight, "one|two\nthree", "one|\nthree"],
  ["at the end of a line kills the line break", killRight, "one|\nthree", "one|three"],
  ["kills to the beginning of the line", killLeft, "one\ntwo|x", "one\n|x"],
  ["kills back to the blank", killWordLeft, "cat src/a.ts|", "cat |"],
] as const)("%s", (_, edit, before, after) => {
  expect(shown(edit(at(before)))).toBe(after);
});

test("killed text can be yanked", () => {
  expect(shown(yank(killLeft(at("echo|"))))).toBe("echo|");
});

test("a long paste is one character on the screen and whole when it is taken", () => {
  const text = Array.from({ length: 120 }, (_, line) => `line ${line}`).join("\n");
  const editor = insert(paste(at("see: |"), text), " ok");
  expect(arrangeEditor(editor, 80).rows.map((row) => row.text)).toEqual(["see: [pasted 120 lines] ok"]);
  expect(expandText(editor)).toBe(`see: ${text} ok`);
  expect(backspace(moveLeft(moveLeft(moveLeft(editor)))).text).toBe("see:  ok");
});

test("a private character in a paste or typed is no mark of a paste", () => {
  const first = paste(EMPTY_EDITOR, "a\n".repeat(20));
  const mark = first.text;
  expect(formatMark(first, mark)).toBeDefined();
  expect(expandText(insert(first, mark))).toBe(`${"a\n".repeat(20)}\ufffd`);
  expect(expandText(paste(first, mark))).toBe("a\n".repeat(20) + mark);
});

const CHORDS = [
  "left",
  "right",
  "home",
  "end",
  "backspace",
  "delete",
  "ctrl-k",
  "ctrl-u",
  "ctrl-w",
  "ctrl-y",
  "alt-b",
  "alt-f",
  "alt-d",
  "alt-backspace",
];
const inputs = fc.array(
  fc.oneof(
    fc.constantFrom(...CHORDS).map((chord) => ({ kind: "key" as const, chord })),
    fc.string({ unit: "grapheme", maxLength: 6 }).map((text) => ({ kind: "text" as const, text })),
    fc.string({ unit: "binary", maxLength: 12 }).map((text) => ({ kind: "paste" as const, text })),
    fc.constant({ kind: "text" as const, text: "\n" }),
  ),
  { maxLength: 40 },
);

test("whatever is typed, the cursor is between two graphemes", () => {
  fc.assert(
    fc.property(inputs, (typed) => {
      let editor: Editor = EMPTY_EDITOR;
      for (const input of typed) editor = editWith(editor, input) ?? editor;
      const places = [...splitCharacters(editor.text)].map(({ index }) => index);
      expect([...places, editor.text.length]).toContain(editor.cursor);
    }),
    { numRuns: 300 },
  );
});

test("rows are never wider than requested, contain all of the text, and the cursor is visible", () => {
  fc.assert(
    fc.property(
      inputs,
      fc.integer({ min: 12, max: 40 }),
      fc.integer({ min: 1, max: 5 }),
      (typed, width, height) => {
        let editor: Editor = EMPTY_EDITOR;
        for (const input of typed) editor = editWith(editor, input) ?? editor;
        const layout = arrangeEditor(editor, width);
        for (const row of layout.rows) expect(measureWidth(row.text)).toBeLessThanOrEqual(width);
        expect(layout.rows.map(({ start, end }) => editor.text.slice(start, end)).join("")).toBe(
          editor.text.replace(/\r?\n/g, ""),
        );
        expect(layout.cursor.x).toBeLessThan(width);
        const part = sliceVisibleRows(layout, height);
        expect(part.rows[part.cursor.y]).toBe(layout.rows[layout.cursor.y]);
      },
    ),
    { numRuns: 300 },
  );
});

test("up and down go by rows of the screen, also where a line is broken", () => {
  const editor = moveTo(setText(EMPTY_EDITOR, "a".repeat(25)), 22);
  const up = moveRow(editor, 11, -1);
  expect(up?.cursor).toBe(12);
  expect(moveRow(up ?? editor, 11, 1)?.cursor).toBe(22);
  expect(moveRow(moveTo(editor, 3), 11, -1)).toBeUndefined();
});

test("left and right come back to the same place", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (text) => {
      const editor = insert(EMPTY_EDITOR, text);
      if (editor.text !== "") expect(moveRight(moveLeft(editor)).cursor).toBe(editor.cursor);
    }),
  );
});

test("a recalled text can be edited; a huge one is a placeholder that keeps all of it", () => {
  expect(setText(EMPTY_EDITOR, "two\nlines").text).toBe("two\nlines");
  const huge = "a line of many\n".repeat(10_000);
  const editor = setText(EMPTY_EDITOR, huge);
  expect(editor.text).toHaveLength(2);
  expect(expandText(editor)).toBe(huge);
});

test("a deleted paste can be restored after a message was sent", () => {
  const long = "pasted\n".repeat(10);
  const killed = killLeft(paste(EMPTY_EDITOR, long));
  expect(expandText(yank(resetEditor(insert(killed, "sent"))))).toBe(long);
});

test("a text is taken apart into the same characters as by the segmenter, however long it is", () => {
  const segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" });
  const part = fc.constantFrom(
    "a",
    " ",
    "\n",
    "\r\n",
    "\r",
    "é",
    "e\u0301",
    "🇩🇪",
    "👩‍👩‍👧",
    "漢",
    "\u06001",
    "\t",
    "한",
  );
  const text = fc.array(part, { maxLength: 800 }).map((parts) => parts.join(""));
  fc.assert(
    fc.property(text, (given) => {
      const expected = [...segmenter.segment(given)].map(({ segment, index }) => ({ segment, index }));
      expect([...splitCharacters(given)]).toEqual(expected);
    }),
  );
});
