// What a file change is called: every kind has its own word.
import { expect, test } from "vitest";
import { formatChanges, getChangeLabel, getChangeVerb } from "../../src/protocol/change-labels.ts";
import type { FileChange } from "../../src/protocol/requests.ts";

const CHANGES: readonly (readonly [Omit<FileChange, "path">, label: string, verb: string])[] = [
  [{ kind: "add" }, "new file", "create"],
  [{ kind: "overwrite" }, "overwrite", "overwrite"],
  [{ kind: "update", diff: "@@\n-a\n+b" }, "edit", "edit"],
  [{ kind: "delete" }, "delete", "delete"],
  [{ kind: "update", move_path: "b" }, "rename", "rename"],
  // As Codex writes it.
  [{ kind: "update", move_path: "b", diff: "\n\nMoved to: b" }, "rename", "rename"],
  [{ kind: "update", move_path: "b", diff: "@@\n-a\n+b" }, "rename and edit", "rename and edit"],
];

test.each(CHANGES)("%o", (change, label, verb) => {
  expect(getChangeLabel(change)).toBe(label);
  expect(getChangeVerb(change)).toBe(verb);
});

test("in a title, a rename has both names", () => {
  expect(
    formatChanges([
      { path: "a", kind: "update", move_path: "b" },
      { path: "c", kind: "add" },
    ]),
  ).toBe("rename a → b, new file c");
});
