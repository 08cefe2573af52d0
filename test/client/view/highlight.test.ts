// Syntax highlighting: what it finds, and that it never changes a character.
import fc from "fast-check";
import { expect, test } from "vitest";
import { findLanguage, highlight } from "../../../src/client/view/highlight.ts";
import { runs } from "../../support/sizes.ts";

const LANGUAGES = [
  ...[
    "ts",
    "js",
    "json",
    "bash",
    "sh",
    "python",
    "go",
    "rust",
    "java",
    "c",
    "cpp",
    "css",
    "html",
    "yaml",
    "toml",
  ],
  ...["ini", "diff", "markdown", "sql", "TypeScript", "tsx"],
];

const joined = (code: string, lang: string): string =>
  highlight(code, lang)
    .map((line) => line.map(({ text }) => text).join(""))
    .join("\n");

test("keywords have a scope, over several lines too", () => {
  const lines = highlight('const a = "x";\n/* one\ntwo */', "ts");
  expect(lines[0]).toContainEqual({ text: "const", scope: "keyword" });
  expect(lines[0]).toContainEqual({ text: '"x"', scope: "string" });
  expect(lines[2]).toEqual([{ text: "two */", scope: "comment" }]);
});

test.each(LANGUAGES)("%s is known", (lang) => {
  const code =
    '# a\nfunction f() { return "x" + 1; } // c\n[a]\nkey: 1\nSELECT 1;\n+x\n<b a="c">\nif True:\nvar a = 1';
  expect(
    highlight(code, lang)
      .flat()
      .some(({ scope }) => scope !== ""),
  ).toBe(true);
});

test("an unknown language and code that is too long are plain", () => {
  expect(highlight("const a", "klingon")).toEqual([[{ text: "const a", scope: "" }]]);
  expect(highlight("const a", "constructor")).toEqual([[{ text: "const a", scope: "" }]]);
  expect(
    highlight("const a;\n".repeat(3_000), "ts")
      .flat()
      .every(({ scope }) => scope === ""),
  ).toBe(true);
});

// The first use of each of the grammars compiles it.
test("every character stays, in any language", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.constantFrom(...LANGUAGES), (code, lang) => {
      expect(joined(code, lang)).toBe(code);
    }),
    runs(40),
  );
}, 60_000);

test("an endless line or run of empty lines is plain, and so is the rest of the code", () => {
  for (const flood of ["a".repeat(1_001), "\n".repeat(301)])
    expect(highlight(`const a;\n${flood}`, "ts").flat()).toSatisfy((spans: { scope: string }[]) =>
      spans.every(({ scope }) => scope === ""),
    );
});

test("the language of a file is found by its extension", () => {
  expect(["src/a.ts", "b.mjs", "x.PY", "Makefile", "a.unknown"].map(findLanguage)).toEqual([
    "ts",
    "javascript",
    "py",
    "",
    "",
  ]);
});
