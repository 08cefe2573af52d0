import { describe, expect, test } from "vitest";
import {
  type ChangeComment,
  formatComments,
  isCommentEnd,
  makeCommentId,
  parseComments,
  putComment,
  removeComments,
  toCommentPlace,
} from "../../../src/client/view/change-comments.ts";
import { type ChangeLine, toChangeRows } from "../../../src/client/view/change-rows.ts";
import { aFileReply, aHunk } from "./changed-files.ts";

const LINES = toChangeRows(aFileReply([aHunk([" a", "-b", "+c", "+d"], 10)])).filter(
  (row): row is ChangeLine => row.kind !== "hunk",
);
const comment = (id: number, text: string, more: Partial<ChangeComment> = {}): ChangeComment => ({
  id,
  path: "src/a.ts",
  side: "new",
  from: 3,
  to: 3,
  quote: ["+const a = 1;"],
  text,
  ...more,
});

describe("the place of a comment", () => {
  test("is the lines after the change, or before it if all were deleted", () => {
    expect(toCommentPlace("a", LINES)).toEqual({
      path: "a",
      side: "new",
      from: 10,
      to: 12,
      quote: [" a", "-b", "+c", "+d"],
    });
    expect(toCommentPlace("a", LINES.slice(1, 2))).toMatchObject({ side: "old", from: 11, to: 11 });
    expect(toCommentPlace("a", [])).toBeUndefined();
  });

  test("is found again at its last line", () => {
    const ends = (lines: readonly ChangeLine[]) => {
      const place = toCommentPlace("a", lines);
      return LINES.filter((line) => place !== undefined && isCommentEnd(place, line)).map(({ text }) => text);
    };
    expect(ends(LINES.slice(2))).toEqual(["d"]);
    expect(ends(LINES.slice(1, 2))).toEqual(["b"]);
    expect(ends(LINES.slice(0, 1))).toEqual(["a"]);
  });
});

describe("the collection", () => {
  test("a comment is added, edited and removed", () => {
    const one = putComment([], comment(makeCommentId([]), " first "));
    const two = putComment(one, comment(makeCommentId(one), "second"));
    expect(two.map(({ id, text }) => [id, text])).toEqual([
      [1, "first"],
      [2, "second"],
    ]);
    expect(putComment(two, comment(1, "edited")).map(({ text }) => text)).toEqual(["edited", "second"]);
    expect(putComment(two, comment(1, "  ")).map(({ text }) => text)).toEqual(["second"]);
    expect(putComment([], comment(1, " "))).toEqual([]);
  });

  test("what was edited while it was sent is kept", () => {
    const sent = [comment(1, "one"), comment(2, "two")];
    expect(removeComments([comment(1, "one"), comment(2, "two, again")], sent)).toEqual([
      comment(2, "two, again"),
    ]);
  });

  test("it is kept as JSON, and what is not ours counts as none", () => {
    const kept = [comment(1, "one")];
    expect(parseComments(JSON.stringify(kept))).toEqual(kept);
    for (const json of [null, "", "{", "{}", "[1,null]", '[{"id":"x"}]'])
      expect(parseComments(json)).toEqual([]);
  });
});

describe("the message", () => {
  test("one comment", () => {
    expect(formatComments([comment(1, "Use a name.")])).toBe(
      "A comment on your changes:\n\nsrc/a.ts, line 3\n> +const a = 1;\nUse a name.",
    );
  });

  test("several, by file and line", () => {
    const text = formatComments([
      comment(1, "last", { path: "src/b.ts" }),
      comment(2, "later\nin two lines", { from: 9, to: 12 }),
      comment(3, "gone", { side: "old", from: 2, to: 2, quote: ["-x"] }),
    ]);
    expect(text).toBe(
      [
        "3 comments on your changes:",
        "1. src/a.ts, line 2 (before the change)\n> -x\ngone",
        "2. src/a.ts, lines 9-12\n> +const a = 1;\nlater\nin two lines",
        "3. src/b.ts, line 3\n> +const a = 1;\nlast",
      ].join("\n\n"),
    );
  });

  test("long quotes are cut, and no name or line can pose as another part of the message", () => {
    const quote = Array.from({ length: 20 }, (_, at) => `+${at}`);
    expect(formatComments([comment(1, "x", { quote })])).toContain("> +3\n> … 12 more lines …\n> +16\n");
    const long = formatComments([comment(1, "x", { quote: [`+${"y".repeat(900)}`] })]);
    expect(long).toContain(`> +${"y".repeat(199)}…\n`);
    const evil = formatComments([comment(1, "x", { path: "a\n2. b", quote: ["+a\r\n2. b\u2028c"] })]);
    expect(evil.split("\n").slice(2, 4)).toEqual(["a 2. b, line 3", "> +a  2. b c"]);
  });
});
