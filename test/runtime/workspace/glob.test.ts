// The globs of rules and tools: what they fit, what they refuse, and that no pattern takes forever.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createGlobMatcher } from "../../../src/runtime/workspace/glob.ts";

describe("what a glob fits", () => {
  test.each([
    ["*.ts", ["a.ts", ".ts"], ["a.tsx", "src/a.ts", "ts"]],
    ["src/*.ts", ["src/a.ts", "./src/a.ts"], ["src/b/a.ts", "a.ts", "src"]],
    ["**/*.ts", ["a.ts", "src/a.ts", "src/b/c/a.ts"], ["a.js"]],
    ["src/**/*.ts", ["src/a.ts", "src/b/c/a.ts"], ["a.ts", "lib/src/a.ts"]],
    ["src/**", ["src", "src/a", "src/a/b"], ["srcs/a", "a/src/b"]],
    ["src/", ["src", "src/a/b"], ["srcs"]],
    ["**", [".", "a", "a/b/c"], []],
    ["a**b", ["ab", "axxb"], ["a/b"]],
    ["?.md", ["a.md", "ä.md", "🎉.md"], ["ab.md", "/.md"]],
    ["[a-c]x", ["ax", "cx"], ["dx", "x"]],
    ["[!a-c]x", ["dx"], ["ax"]],
    ["[^a]x", ["bx"], ["ax"]],
    ["[]]x", ["]x"], ["[x"]],
    ["[a-]x", ["ax", "-x"], ["bx"]],
    ["[x", ["[x"], ["x"]],
    ["{a,b}.ts", ["a.ts", "b.ts"], ["c.ts", "{a,b}.ts"]],
    ["{a,b{c,d}}", ["a", "bc", "bd"], ["b", "c"]],
    ["{a}", ["{a}"], ["a"]],
    ["x{,y}", ["x", "xy"], ["xyy"]],
    ["src/{a,b/**}/z", ["src/a/z", "src/b/z", "src/b/q/z"], ["src/c/z"]],
    ["\\*.ts", ["*.ts"], ["a.ts"]],
    ["\\{a,b\\}", ["{a,b}"], ["a"]],
    ["app/(group)/+page.ts", ["app/(group)/+page.ts"], ["app/group/page.ts"]],
    ["!*.test.ts", ["a.ts"], ["a.test.ts"]],
    ["a/**/b/**/c", ["a/b/c", "a/x/b/y/z/c", "a/b/b/c"], ["a/c", "a/x/c"]],
    ["*a*b*", ["ab", "xaxbx"], ["ba"]],
    [".", ["."], ["a"]],
  ])("%s", (pattern, fitting, others) => {
    const fits = createGlobMatcher(pattern);
    expect(fitting.filter((path) => !fits(path))).toEqual([]);
    expect(others.filter((path) => fits(path))).toEqual([]);
  });

  test("case matters unless disabled", () => {
    expect(createGlobMatcher("SRC/*.TS")("src/a.ts")).toBe(false);
    expect(createGlobMatcher("SRC/*.TS", { ignoreCase: true })("src/A.ts")).toBe(true);
  });

  test("with anyDepth a pattern without a slash fits names everywhere, one with a slash does not", () => {
    expect(createGlobMatcher("*.ts", { anyDepth: true })("a/b/c.ts")).toBe(true);
    expect(createGlobMatcher("b/*.ts", { anyDepth: true })("a/b/c.ts")).toBe(false);
    expect(createGlobMatcher("!*.ts", { anyDepth: true })("a/b/c.ts")).toBe(false);
  });
});

describe("what is no glob", () => {
  test.each(["", "!", "{a,b", "a}", "{a,{b,c}", "[z-a]", "x".repeat(5000), "{a,b}".repeat(11)])(
    "%s",
    (pattern) => {
      expect(() => createGlobMatcher(pattern)).toThrow(expect.objectContaining({ code: "bad_glob" }));
    },
  );
});

describe("no pattern takes forever", () => {
  test.each([
    ["*a".repeat(2000), "a".repeat(4000)],
    ["**/a/".repeat(800), "a/".repeat(2000)],
    ["**/*a*b*c*/".repeat(300), `${"a".repeat(200)}/`.repeat(20)],
    ["?*".repeat(2000), "b".repeat(1500)],
  ])("%#", (pattern, path) => {
    const stepsWouldBeEndless = createGlobMatcher(`${pattern}!`);
    expect(stepsWouldBeEndless(path)).toBe(false);
  });

  test("a path fits itself when its special characters are escaped", () => {
    const name = fc
      .stringMatching(/^[a-z.*?[\]{},!\\-]{1,8}$/)
      .filter((text) => text !== "." && text !== "**");
    fc.assert(
      fc.property(fc.array(name, { minLength: 1, maxLength: 5 }), (names) => {
        const pattern = names.map((text) => text.replace(/[*?[\]{},!\\]/g, "\\$&")).join("/");
        return createGlobMatcher(pattern)(names.join("/"));
      }),
    );
  });
});
