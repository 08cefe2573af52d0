// The numbered areas of demian that must be tested, each found by its number: a title says "23: …".
import { expect, test } from "vitest";
import { ROOT } from "../support/root.ts";
import { readSources } from "./sources.ts";

const AREAS = Array.from({ length: 24 }, (_, index) => index + 17);
const TITLE = /\b(?:describe|test)(?:\.\w+)*(?:\([^"'`]*\))?\(\s*["'`](\d+(?:, \d+)*(?: and \d+)?): /g;

/** "18 and 38" are two. */
function areasOf(text: string): number[] {
  return [...text.matchAll(TITLE)].flatMap(([, numbers = ""]) => numbers.split(/, | and /).map(Number));
}

test("every area of several agents, of the logins and of trust has tests that say so", () => {
  const found = new Set(readSources(ROOT, "test/runtime", [".test.ts"]).flatMap(({ text }) => areasOf(text)));
  expect(AREAS.filter((area) => !found.has(area))).toEqual([]);
  expect(areasOf('describe("18 and 38: a module", () => {\n test("7: x", () => {')).toEqual([18, 38, 7]);
});
