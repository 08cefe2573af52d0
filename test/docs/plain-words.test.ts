// The word list of CONTRIBUTING.md applies to everything that users and models read.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ROOT } from "../support/root.ts";
import { readSources } from "./sources.ts";

const SELF = "CONTRIBUTING.md";
const phrases = readPhrases(readFileSync(join(ROOT, SELF), "utf8"));
const listed = new RegExp(`\\b(?:${phrases.join("|")})(?!\\w)`, "gi");
/** Documents that are not in this repository: a comment gives the reason itself, or names a page in docs/. */
const elsewhere = /\b(?:DESIGN|STYLE|SAFETY)(?:\.md|\b(?= (?:R\d|§|invariant)))|§ ?\d/g;

const sources = [
  ...["src", "web", "scripts", "examples"].flatMap((folder) =>
    readSources(ROOT, folder, [".ts", ".mjs", ".js", ".c", ".css", ".html", ".sh"]),
  ),
  ...readSources(ROOT, "docs", [".md"]),
  ...["README.md", "CHANGELOG.md"].map((path) => ({ path, text: readFileSync(join(ROOT, path), "utf8") })),
];

describe("plain words", () => {
  test("the list has phrases, and there is something to check", () => {
    expect(phrases.length).toBeGreaterThan(20);
    expect(sources.length).toBeGreaterThan(500);
  });

  test("no listed phrase is used", () => {
    expect(sources.flatMap(({ path, text }) => find(listed, path, text))).toEqual([]);
  });

  test("no document outside this repository is referred to", () => {
    const code = sources.filter(({ path }) => !path.endsWith(".md"));
    expect(code.flatMap(({ path, text }) => find(elsewhere, path, text))).toEqual([]);
  });

  test("a phrase is found across lines of a comment, in any case, and not within a word", () => {
    expect(find(listed, "x.ts", "// Clients are\n// Told this.")).toEqual([
      "x.ts: … Clients are Told this. …",
    ]);
    expect(find(listed, "x.ts", "  * it is not\n  * there")).toHaveLength(1);
    expect(find(listed, "x.ts", "an untold tale is recommended")).toEqual([]);
    expect(find(elsewhere, "x.ts", "// as DESIGN R3 wants (§9.5)")).toHaveLength(2);
  });
});

/** The phrases in code marks in the first column of the table below "Language". */
function readPhrases(page: string): string[] {
  const section = page.split(/^## Language$/m)[1]?.split(/^## /m)[0] ?? "";
  const cells = [...section.matchAll(/^\| (`[^|]+) \|/gm)].map(([, cell = ""]) => cell);
  return cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, phrase = ""]) => phrase));
}

function find(pattern: RegExp, path: string, text: string): string[] {
  const prose = text.replace(/\s*\n\s*(?:\/\/|\*(?!\/)|#|>)?\s*/g, " ");
  return [...prose.matchAll(pattern)].map(({ index, 0: found }) => {
    const around = prose.slice(Math.max(0, index - 40), index + found.length + 40).trim();
    return `${path}: … ${around.replace(/^\/\/ /, "")} …`;
  });
}
