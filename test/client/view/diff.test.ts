// Diffs as data: read from what tools write, and made from two texts so that they turn one into the other.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Diff, diffTexts, parseDiff } from "../../../src/client/view/diff.ts";

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

  test("no newline at the end is said, and is no line", () => {
    const { lines, added } = parseDiff("@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b");
    expect(lines.map(({ kind }) => kind)).toEqual(["hunk", "remove", "meta", "add"]);
    expect(added).toBe(1);
  });
});

/** The text behind the change, made from the one before it and the diff alone. */
function applied(before: string, { lines }: Diff): string {
  const old = before === "" ? [] : before.replace(/\n$/, "").split("\n");
  const out: string[] = [];
  let at = 0;
  for (const line of lines) {
    const start = Number(/^@@ -(\d+)/.exec(line.text)?.[1] ?? 0);
    if (line.kind === "hunk") {
      const count = Number(/^@@ -\d+,(\d+)/.exec(line.text)?.[1] ?? 0);
      while (at < (count === 0 ? start : start - 1)) out.push(old[at++] ?? "?");
    } else if (line.kind === "add") out.push(line.text);
    else {
      expect(line.text).toBe(old[at]);
      expect(line.old).toBe(at + 1);
      at++;
      if (line.kind === "same") out.push(line.text);
    }
  }
  return [...out, ...old.slice(at)].join("\n");
}

describe("the difference of two texts", () => {
  test("has three lines around each change", () => {
    const before = Array.from({ length: 20 }, (_, at) => `l${at + 1}`).join("\n");
    const { lines, added, removed } = diffTexts(before, before.replace("l10\n", "new\n"));
    expect(lines.map(({ text }) => text)).toEqual([
      ...["@@ -7,7 +7,7 @@", "l7", "l8", "l9", "l10", "new", "l11", "l12", "l13"],
    ]);
    expect({ added, removed }).toEqual({ added: 1, removed: 1 });
  });

  test("turns the old text into the new one, with no more changes than needed", () => {
    const line = fc.constantFrom("a", "b", "c", "", "  d");
    const texts = fc.array(line, { maxLength: 30 }).map((lines) => lines.join("\n"));
    fc.assert(
      fc.property(texts, texts, (before, after) => {
        const diff = diffTexts(before, after);
        expect(applied(before, diff)).toBe(after.replace(/\n$/, ""));
        expect(diff.added + diff.removed).toBe(fewestEdits(linesOf(before), linesOf(after)));
      }),
      { numRuns: 100 },
    );
  });

  test("texts with too many differences are said to be compared as a whole", () => {
    const many = (name: string): string =>
      Array.from({ length: 2_000 }, (_, at) => `${name}${at}`).join("\n");
    const diff = diffTexts(`same\n${many("a")}`, `same\n${many("b")}`);
    expect(diff.isCoarse).toBe(true);
    expect([diff.added, diff.removed]).toEqual([2_000, 2_000]);
    expect(diffTexts("a", "b").isCoarse).toBeUndefined();
  });

  test("the same texts have no difference", () => {
    expect(diffTexts("a\nb", "a\nb").lines).toEqual([]);
  });
});

const linesOf = (text: string): string[] => (text === "" ? [] : text.replace(/\n$/, "").split("\n"));

/** By the table of the longest common subsequence: slow and plain. */
function fewestEdits(old: readonly string[], fresh: readonly string[]): number {
  let row = fresh.map(() => 0);
  for (const line of old) {
    const next: number[] = [];
    for (const [at, other] of fresh.entries()) {
      next.push(line === other ? (row[at - 1] ?? 0) + 1 : Math.max(row[at] ?? 0, next[at - 1] ?? 0));
    }
    row = next;
  }
  return old.length + fresh.length - 2 * (row.at(-1) ?? 0);
}
