// The words that differ in the diff of a request: they are marked, and no character is lost or hidden by it.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { splitDiffWords } from "../../../src/client/view/request-diff.ts";
import { runs } from "../../support/sizes.ts";

const marked = (diff: string): string[] =>
  splitDiffWords(diff).map((parts) =>
    parts.map(({ text, isChanged }) => (isChanged ? `[${text}]` : text)).join(""),
  );

describe("words that differ", () => {
  test("are marked in a line and its other version", () => {
    expect(marked("@@ -1 +1 @@\n-const port = 8080;\n+const port = 8081;\n")).toEqual([
      "@@ -1 +1 @@",
      "-const port = [8080];",
      "+const port = [8081];",
    ]);
  });

  test("pair by position in a run of changed lines", () => {
    expect(marked("-first one\n-second two\n+first 1\n+second 2\n c")).toEqual([
      "-first [one]",
      "-second [two]",
      "+first [1]",
      "+second [2]",
      " c",
    ]);
  });

  test("are not marked in lines with hidden or combining characters, which are drawn whole", () => {
    expect(marked("-run(a\u202e)\n+run(b\u202e)")).toEqual(["-run(a\u202e)", "+run(b\u202e)"]);
    expect(marked("-run(e\u0301)\n+run(f)")).toEqual(["-run(e\u0301)", "+run(f)"]);
  });
});

test("the parts of every line are that line", () => {
  const line = fc.tuple(fc.constantFrom("-", "+", " ", "@@ ", ""), fc.string({ maxLength: 20 }));
  const diffs = fc.array(line).map((lines) => lines.map(([sign, text]) => sign + text).join("\n"));
  fc.assert(
    fc.property(diffs, (diff) => {
      const lines = splitDiffWords(diff).map((parts) => parts.map(({ text }) => text).join(""));
      expect(lines.join("\n")).toBe(diff.replace(/\n$/, ""));
    }),
    runs(300),
  );
});
