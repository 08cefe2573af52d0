import { expect, test } from "vitest";
import { diffHunks, diffLines, formatHunks } from "../../src/base/diff.ts";

const numbers = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => `${from + index}\n`).join("");

test.each([
  ["", "a\n", "@@ -0,0 +1,1 @@\n+a"],
  ["a\n", "", "@@ -1,1 +0,0 @@\n-a"],
  ["1\n2\n3\n4\n5\n6\n", "1\n2\n3\n4\nX\n6\n", "@@ -2,5 +2,5 @@\n 2\n 3\n 4\n-5\n+X\n 6"],
  ["a", "a\n", "@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+a"],
  ["a\r\n", "a\n", "@@ -1,1 +1,1 @@\n-a\r\n+a"],
  ["a\n", "a\n", ""],
])("the diff of %j and %j", (before, after, diff) => {
  expect(formatHunks(diffHunks(before, after)).join("\n")).toBe(diff);
});

test("beyond 400 edits the lines between the first and the last change are one replacement", () => {
  const [before, after] = [`a\nb\n${numbers(0, 20_000)}y\nz`, `a\nb\n${numbers(50_000, 20_000)}y\nz`];
  const [hunk, ...others] = diffHunks(before, after, 1);
  expect(others).toEqual([]);
  expect(hunk).toMatchObject({ oldStart: 2, oldLines: 20_002, newStart: 2, newLines: 20_002 });
  expect(hunk?.lines.slice(0, 2)).toEqual([" b", "-0"]);
  expect(hunk?.lines.slice(-2)).toEqual(["+69999", " y"]);
});

test("diffLines keeps every line, also of equal texts", () => {
  expect(diffLines("1\n2\n3\n4\n5\n", "1\n2\n3\n4\nX\n")).toEqual([" 1", " 2", " 3", " 4", "-5", "+X"]);
  expect(diffLines("a\nb\n", "a\nb\n")).toEqual([" a", " b"]);
});
