// Texts made to take quadratic time, or more rows than a call takes arguments. A regression does not finish within the
// test's timeout.
import { describe, expect, test } from "vitest";
import { measureWidth } from "../../../src/base/width.ts";
import { formatInput, listNewlineNotes } from "../../../src/client/view/request-input.ts";
import { drawRequest } from "../../../src/tui/rows/index.ts";
import { PAYLOAD, pending } from "../../client/request-rows.ts";
import { rowsOf, text, thinking, tool, user } from "./entries.ts";

const NEWLINES = `${"\n".repeat(200_000)}x`;

describe("200,000 newlines and a letter", () => {
  test.each([
    ["an output", tool({ output: NEWLINES })],
    ["a message", user(NEWLINES)],
    ["a thought", thinking(NEWLINES)],
  ])("as %s", (_, entry) => {
    expect(rowsOf([entry], { isOpen: true }).at(-1)?.text).toMatch(/x$/);
  });

  test("in an edit to approve", () => {
    const payload = { ...PAYLOAD, input: { old_string: NEWLINES, new_string: `${NEWLINES}\n` } };
    expect(listNewlineNotes(payload)).toEqual(["(1 × newline at the end added)"]);
    expect(formatInput(payload)).toContain("old_string");
  });
});

test("a code block of more lines than a call takes arguments is laid out and found in", () => {
  expect(rowsOf([text(`\`\`\`\n${"\n".repeat(190_000)}`)]).length).toBeGreaterThan(189_000);
});

test.each([
  ["marks of Markdown", "["],
  ["emphasis", "_a_b"],
  ["tildes", "~~a"],
  ["families", "\u{1f468}\u200d\u{1f469}\u200d\u{1f467}"],
  ["jamo", "\u1100"],
  ["ligatures", "ﷺ"],
])("a long line of %s is laid out, and no row is too wide", (_, part) => {
  const flood = part.repeat(Math.ceil(20_000 / part.length));
  for (const entry of [text(flood), user(flood)])
    expect(rowsOf([entry]).filter((row) => measureWidth(row.text) > 60)).toEqual([]);
});

test("tabs and joiners to decide upon are shown in full", () => {
  const command = "\t".repeat(20_000) + "\u200d".repeat(10_000);
  const rows = drawRequest(pending({ payload: { ...PAYLOAD, command } }), 80, { hasColor: false });
  const shown = rows.map((row) => row.text.slice(4)).join("");
  expect([shown.match(/⇥/g)?.length, shown.match(/<U\+200D>/g)?.length]).toEqual([20_000, 10_000]);
});
