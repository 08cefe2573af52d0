// Diffs as data, read from what tools write.
import { describe, expect, test } from "vitest";
import { parseDiff } from "../../../src/client/view/diff.ts";

describe("a unified diff", () => {
  test("has its lines with their numbers on both sides", () => {
    const diff = parseDiff("--- a/x\n+++ b/x\n@@ -10,3 +20,3 @@ f()\n a\n-b\n+c\n d\n");
    expect(diff).toEqual({
      added: 1,
      removed: 1,
      lines: [
        { kind: "meta", text: "--- a/x" },
        { kind: "meta", text: "+++ b/x" },
        { kind: "hunk", text: "@@ -10,3 +20,3 @@ f()" },
        { kind: "same", text: "a", old: 10, new: 20 },
        { kind: "remove", text: "b", old: 11 },
        { kind: "add", text: "c", new: 21 },
        { kind: "same", text: "d", old: 12, new: 22 },
      ],
    });
  });

  test("lines that look like headers are changes inside of a hunk", () => {
    const { lines } = parseDiff("@@ -1,2 +1,2 @@\n--- x\n+++ y\n-@@ -1 +1 @@\n+@@ -1 +1 @@");
    expect(lines.map(({ kind }) => kind)).toEqual(["hunk", "remove", "add", "remove", "add"]);
  });

  test("each hunk counts from its own lines on", () => {
    const { lines } = parseDiff("@@ -1,2 +1,3 @@\n a\n+b\n c\n@@ -50,1 +51,1 @@\n-x\n+y");
    expect(lines.slice(-2)).toEqual([
      { kind: "remove", text: "x", old: 50 },
      { kind: "add", text: "y", new: 51 },
    ]);
  });

  test("without a header its signs are read, without numbers", () => {
    expect(parseDiff("-a\n+b")).toEqual({
      added: 1,
      removed: 1,
      lines: [
        { kind: "remove", text: "a" },
        { kind: "add", text: "b" },
      ],
    });
  });

  test("a missing newline at the end is reported, and is no line", () => {
    const { lines, added } = parseDiff("@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b");
    expect(lines.map(({ kind }) => kind)).toEqual(["hunk", "remove", "meta", "add"]);
    expect(added).toBe(1);
  });
});
