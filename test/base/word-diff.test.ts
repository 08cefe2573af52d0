import fc from "fast-check";
import { expect, test } from "vitest";
import { diffWords, type WordPart } from "../../src/base/word-diff.ts";

const mark = (parts: readonly WordPart[] = []) =>
  parts.map(({ text, isChanged }) => (isChanged ? `[${text}]` : text)).join("");
const plain = (parts: readonly WordPart[]) => parts.map(({ text }) => text).join("");

test.each([
  ["const port = 8080;", "const port = 8081;", "const port = [8080];", "const port = [8081];"],
  ["return a + b;", "return a;", "return a[ + b];", "return a;"],
  ["read the old file", "read one new file", "read [the old] file", "read [one new] file"],
])("%s → %s: only the words that differ are marked", (before, after, left, right) => {
  const found = diffWords(before, after);
  expect([mark(found?.before), mark(found?.after)]).toEqual([left, right]);
});

test("lines with little in common, equal lines and very long lines are not compared", () => {
  expect(diffWords("import a from 'b';", "  return total / count;")).toBeUndefined();
  expect(diffWords("same", "same")).toBeUndefined();
  expect(diffWords("a ".repeat(600), "a b".repeat(600))).toBeUndefined();
});

test("the parts of each side are its text", () => {
  const words = fc
    .array(fc.constantFrom("a", "b ", " c", "\t", "é", "😀", "(", ")"))
    .map((all) => all.join(""));
  fc.assert(
    fc.property(words, words, (before, after) => {
      const found = diffWords(before, after);
      if (found === undefined) return;
      expect([plain(found.before), plain(found.after)]).toEqual([before, after]);
    }),
  );
});
