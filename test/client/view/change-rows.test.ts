import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type ChangeLine,
  type ChangePair,
  type ChangeRow,
  countChangeLines,
  toChangePairs,
  toChangeRows,
} from "../../../src/client/view/change-rows.ts";
import { aFileReply, aHunk } from "./changed-files.ts";

const SIGNS = { context: " ", add: "+", delete: "-" } as const;
const show = (row: ChangeRow): string =>
  row.kind === "hunk" ? row.text : `${row.old ?? ""}|${row.new ?? ""}|${SIGNS[row.kind]}${row.text}`;
const showPair = (pair: ChangePair): string =>
  pair.kind === "hunk" ? "@@" : `${pair.left?.text ?? "∅"} | ${pair.right?.text ?? "∅"}`;
const linesOf = (rows: readonly ChangeRow[]) => rows.filter((row): row is ChangeLine => row.kind !== "hunk");
const marked = (line: ChangeLine | undefined) =>
  line?.spans.map(({ text, isChanged }) => (isChanged ? `[${text}]` : text)).join("");

describe("rows", () => {
  test("lines are numbered on both sides, from their hunk", () => {
    const reply = aFileReply([aHunk([" a", "-b", "+c", "+d", " e"], 10, "function f()")]);
    expect(toChangeRows(reply).map(show)).toEqual([
      "@@ -10,3 +10,4 @@ function f()",
      "10|10| a",
      "11||-b",
      "|11|+c",
      "|12|+d",
      "12|13| e",
    ]);
  });

  test("only so many lines are made, over all hunks", () => {
    const reply = aFileReply([aHunk([" a", "-b"]), aHunk([" c", "+d"], 9)]);
    expect(toChangeRows(reply, 3).map(show)).toEqual([
      "@@ -1,2 +1 @@",
      "1|1| a",
      "2||-b",
      "@@ -9 +9,2 @@",
      "9|9| c",
    ]);
    expect(toChangeRows(reply, 2)).toHaveLength(3);
    expect(countChangeLines(reply)).toBe(4);
  });

  test("words that differ are marked in a changed line and the one that replaces it", () => {
    const lines = linesOf(toChangeRows(aFileReply([aHunk(["-const port = 8080;", "+const port = 8081;"])])));
    expect(lines.map(marked)).toEqual(["const port = [8080];", "const port = [8081];"]);
    expect(lines[0]?.spans[0]).toEqual({ text: "const", scope: "keyword" });
  });

  test("a comment over several lines is highlighted as one, on each side", () => {
    const lines = linesOf(toChangeRows(aFileReply([aHunk([" /* one", "-two", "+three", " four */", " x"])])));
    expect(lines.map(({ spans }) => spans[0]?.scope)).toEqual([
      "comment",
      "comment",
      "comment",
      "comment",
      "",
    ]);
  });

  test("a file of any length is highlighted in parts", () => {
    const lines = Array.from({ length: 3_000 }, (_, at) => `+const value${at} = ${at};`);
    const rows = linesOf(toChangeRows(aFileReply([aHunk(lines)])));
    expect(rows.every(({ spans }) => spans[0]?.scope === "keyword")).toBe(true);
  });

  test("line ends are shown where they differ, and only there", () => {
    const ends = (lines: string[]) =>
      linesOf(toChangeRows(aFileReply([aHunk(lines)]))).map(({ end, text }) => [text, end]);
    expect(ends(["-a\r", "+b\r"])).toEqual([
      ["a", undefined],
      ["b", undefined],
    ]);
    expect(ends(["-a\r", "+a"])).toEqual([
      ["a", "cr"],
      ["a", undefined],
    ]);
    expect(ends(["-a", "+b", "\\"])).toEqual([
      ["a", undefined],
      ["b", "none"],
    ]);
  });

  test("nothing of a line is lost or added", () => {
    const line = fc
      .tuple(fc.constantFrom(" ", "+", "-"), fc.string({ unit: "grapheme" }))
      .map(([sign, text]) => sign + text.replace(/[\r\n]/g, ""));
    fc.assert(
      fc.property(fc.array(line), (lines) => {
        const rows = linesOf(toChangeRows(aFileReply([aHunk(lines)])));
        expect(rows.map(({ kind, text }) => SIGNS[kind] + text)).toEqual(lines);
        for (const { spans, text } of rows) expect(spans.map((span) => span.text).join("")).toBe(text);
      }),
    );
  });
});

describe("pairs", () => {
  test("deleted lines are beside the added lines that replace them", () => {
    const rows = toChangeRows(aFileReply([aHunk([" a", "-b", "-c", "+d", " e", "+f"])]));
    expect(toChangePairs(rows).map(showPair)).toEqual(["@@", "a | a", "b | d", "c | ∅", "e | e", "∅ | f"]);
  });

  test("every line is on its side once, in order", () => {
    const sign = fc.constantFrom(" ", "+", "-");
    fc.assert(
      fc.property(fc.array(sign), (signs) => {
        const rows = toChangeRows(aFileReply([aHunk(signs.map((one, at) => `${one}${at}`))]));
        const pairs = toChangePairs(rows);
        const side = (name: "left" | "right") =>
          pairs.flatMap((pair) => (pair.kind === "pair" ? (pair[name]?.text ?? []) : []));
        const expected = (without: string) =>
          signs.flatMap((one, at) => (one === without ? [] : [String(at)]));
        expect(side("left")).toEqual(expected("+"));
        expect(side("right")).toEqual(expected("-"));
      }),
    );
  });
});
