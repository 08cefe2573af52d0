import fc from "fast-check";
import { expect, test } from "vitest";
import { editWith } from "../../../src/tui/composer/edit-keys.ts";
import {
  backspace,
  characters,
  type Editor,
  EMPTY_EDITOR,
  emptied,
  insert,
  killLeft,
  killRight,
  killWordLeft,
  left,
  markLabel,
  moveTo,
  paste,
  right,
  wholeText,
  withText,
  wordLeft,
  wordRight,
  yank,
} from "../../../src/tui/composer/editor.ts";
import { layoutEditor, moveRow, visibleRows } from "../../../src/tui/composer/layout.ts";
import { widthOf } from "../../../src/tui/rows/wrap.ts";

function at(text: string): Editor {
  const cursor = text.indexOf("|");
  return moveTo(withText(EMPTY_EDITOR, text.replace("|", "")), cursor);
}

function shown({ text, cursor }: Editor): string {
  return `${text.slice(0, cursor)}|${text.slice(cursor)}`;
}

test.each([
  ["back over a flag as one", left, "a🇩🇪|b", "a|🇩🇪b"],
  ["deletes an emoji of several parts whole", backspace, "x👩‍👩‍👧|", "x|"],
  ["a word back", wordLeft, "npm run  test|", "npm run  |test"],
  ["a word forth", wordRight, "npm| run test", "npm run| test"],
  ["kills to the end of the line", killRight, "one|two\nthree", "one|\nthree"],
  ["at the end of a line kills the line break", killRight, "one|\nthree", "one|three"],
  ["kills to the beginning of the line", killLeft, "one\ntwo|x", "one\n|x"],
  ["kills back to the blank", killWordLeft, "cat src/a.ts|", "cat |"],
] as const)("%s", (_, edit, before, after) => {
  expect(shown(edit(at(before)))).toBe(after);
});

test("what was killed comes back", () => {
  expect(shown(yank(killLeft(at("echo|"))))).toBe("echo|");
});

test("a long paste is one character on the screen and whole when it is taken", () => {
  const text = Array.from({ length: 120 }, (_, line) => `line ${line}`).join("\n");
  const editor = insert(paste(at("see: |"), text), " ok");
  expect(layoutEditor(editor, 80).rows.map((row) => row.text)).toEqual(["see: [pasted 120 lines] ok"]);
  expect(wholeText(editor)).toBe(`see: ${text} ok`);
  expect(backspace(left(left(left(editor)))).text).toBe("see:  ok");
});

test("a private character in a paste or typed is no mark of a paste", () => {
  const first = paste(EMPTY_EDITOR, "a\n".repeat(20));
  const mark = first.text;
  expect(markLabel(first, mark)).toBeDefined();
  expect(wholeText(insert(first, mark))).toBe(`${"a\n".repeat(20)}\ufffd`);
  expect(wholeText(paste(first, mark))).toBe("a\n".repeat(20) + mark);
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

test("whatever is typed, the cursor stands between two characters as people see them", () => {
  fc.assert(
    fc.property(inputs, (typed) => {
      let editor: Editor = EMPTY_EDITOR;
      for (const input of typed) editor = editWith(editor, input) ?? editor;
      const places = [...characters(editor.text)].map(({ index }) => index);
      expect([...places, editor.text.length]).toContain(editor.cursor);
    }),
    { numRuns: 300 },
  );
});

test("rows are never wider than asked for, hold all of the text, and the cursor is in sight", () => {
  fc.assert(
    fc.property(
      inputs,
      fc.integer({ min: 12, max: 40 }),
      fc.integer({ min: 1, max: 5 }),
      (typed, width, height) => {
        let editor: Editor = EMPTY_EDITOR;
        for (const input of typed) editor = editWith(editor, input) ?? editor;
        const layout = layoutEditor(editor, width);
        for (const row of layout.rows) expect(widthOf(row.text)).toBeLessThanOrEqual(width);
        expect(layout.rows.map(({ start, end }) => editor.text.slice(start, end)).join("")).toBe(
          editor.text.replace(/\r?\n/g, ""),
        );
        expect(layout.cursor.x).toBeLessThan(width);
        const part = visibleRows(layout, height);
        expect(part.rows[part.cursor.y]).toBe(layout.rows[layout.cursor.y]);
      },
    ),
    { numRuns: 300 },
  );
});

test("up and down go by rows of the screen, also where a line is broken", () => {
  const editor = moveTo(withText(EMPTY_EDITOR, "a".repeat(25)), 22);
  const up = moveRow(editor, 11, -1);
  expect(up?.cursor).toBe(12);
  expect(moveRow(up ?? editor, 11, 1)?.cursor).toBe(22);
  expect(moveRow(moveTo(editor, 3), 11, -1)).toBeUndefined();
});

test("left and right come back to the same place", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (text) => {
      const editor = insert(EMPTY_EDITOR, text);
      if (editor.text !== "") expect(right(left(editor)).cursor).toBe(editor.cursor);
    }),
  );
});

test("a text that comes back is there to be changed, but a huge one stands as a mark, whole", () => {
  expect(withText(EMPTY_EDITOR, "two\nlines").text).toBe("two\nlines");
  const huge = "a line of many\n".repeat(10_000);
  const editor = withText(EMPTY_EDITOR, huge);
  expect(editor.text).toHaveLength(2);
  expect(wholeText(editor)).toBe(huge);
});

test("a paste that was killed can be put back behind what was sent meanwhile", () => {
  const long = "pasted\n".repeat(10);
  const killed = killLeft(paste(EMPTY_EDITOR, long));
  expect(wholeText(yank(emptied(insert(killed, "sent"))))).toBe(long);
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
      expect([...characters(given)]).toEqual(expected);
    }),
  );
});
