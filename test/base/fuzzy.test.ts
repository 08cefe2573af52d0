import { expect, test } from "vitest";
import { findBestMatches } from "../../src/base/fuzzy.ts";

const rank = (query: string, ...names: string[]) =>
  findBestMatches(query, names, { limit: 10, toLower: (name) => name.toLowerCase() });

test("a name comes before names that contain it, and those before names with the letters apart", () => {
  expect(rank("view", "src/reviews.ts", "src/view", "v/i/e/w.ts", "src/view.ts", "src/other.ts")).toEqual([
    "src/view",
    "src/view.ts",
    "src/reviews.ts",
    "v/i/e/w.ts",
  ]);
});

test("letters at the start of words count more, and capitals do not matter", () => {
  expect(rank("GM", "src/gum.ts", "src/guarded-manager.ts")[0]).toBe("src/guarded-manager.ts");
});

test("a directory is found by its own name", () => {
  expect(rank("sess", "src/sessions/hub.ts", "src/sessions/")[0]).toBe("src/sessions/");
});

test("without letters the short names come first, and the limit holds for long lists", () => {
  expect(rank("", "src/a.ts", "b.ts")).toEqual(["b.ts", "src/a.ts"]);
  const many = Array.from({ length: 1000 }, (_, at) => `src/deep/file-${at}.ts`);
  const found = findBestMatches("file", [...many, "file"], { limit: 3, toLower: (name) => name });
  expect(found).toHaveLength(3);
  expect(found[0]).toBe("file");
});
