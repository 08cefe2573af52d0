// How hits are shown: matches apart from the rest, in the room there is.
import { expect, test } from "vitest";
import { cutMarked, splitBySession, splitMarks } from "../../../src/client/view/search-hits.ts";

const hit = (session_id: string, seq: number) => ({
  ...{ session_id, seq, role: "user" as const, text: "" },
  marks: [],
});

test("the parts of a text are its text", () => {
  const parts = splitMarks({
    text: "a token b",
    marks: [
      [2, 7],
      [8, 9],
    ],
  });
  expect(parts.map(({ text }) => text).join("")).toBe("a token b");
  expect(parts.filter(({ isMarked }) => isMarked).map(({ text }) => text)).toEqual(["token", "b"]);
});

test.each([10, 12, 20, 37, 60])("in %i characters the first match is kept and marked", (width) => {
  const text = `${"before ".repeat(4)}token ${"after ".repeat(4)}token`;
  const at = text.indexOf("token");
  const cut = cutMarked(
    {
      text,
      marks: [
        [at, at + 5],
        [text.length - 5, text.length],
      ],
    },
    width,
  );
  expect(cut.text.length).toBeLessThanOrEqual(width);
  const [[start, end] = [0, 0]] = cut.marks;
  expect(cut.text.slice(start, end)).toBe("token");
  for (const [from, to] of cut.marks) expect("token").toContain(cut.text.slice(from, to));
});

test("sessions have the order of their best hits", () => {
  const groups = splitBySession([hit("a", 1), hit("b", 2), hit("a", 3)]);
  expect(groups.map((group) => group.map(({ seq }) => seq))).toEqual([[1, 3], [2]]);
});
