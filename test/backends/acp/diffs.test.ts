// How a file change is classified: by the previous content, and by whether the tool replaces all of it.
import { expect, test } from "vitest";
import { findChanges } from "../../../src/backends/acp/diffs.ts";

const diff = (oldText: string | null, newText: string | null, more: object = {}) => [
  { type: "diff", path: "/f", oldText, newText, ...more },
];

test.each([
  ["a file that did not exist", diff(null, "a\n"), false, "add"],
  ["one that a writing tool makes", diff(null, "a\n"), true, "add"],
  ["a part of a file", diff("a\n", "b\n"), false, "update"],
  ["a file that a writing tool replaces", diff("a\n", "b\n"), true, "overwrite"],
  ["a file that goes", diff("a\n", null), false, "delete"],
  ["what the agent calls it", diff("a\n", "b\n", { _meta: { kind: "overwrite" } }), false, "overwrite"],
])("%s", (_name, content, isWhole, kind) => {
  expect(findChanges(content, isWhole)).toMatchObject([{ path: "/f", kind }]);
});
