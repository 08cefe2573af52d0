import { describe, expect, test } from "vitest";
import { toFileChange } from "../../../src/backends/claude/changes.ts";

const edit = (old_string: string, new_string: string, more: object = {}) =>
  toFileChange("Edit", { file_path: "/f", old_string, new_string, ...more });

describe("what a tool would change", () => {
  test.each([
    ["a line", edit("two", "2"), "@@\n-two\n+2"],
    ["lines between lines that stay", edit("a\nb\nc\n", "a\nB\nc\n"), "@@\n a\n-b\n+B\n c"],
    ["a line that is added", edit("a\na", "a\na\na"), "@@\n a\n a\n+a"],
    ["a line that goes", edit("a\nb", "a"), "@@\n a\n-b"],
    ["everywhere", edit("a", "b", { replace_all: true }), "@@ every occurrence @@\n-a\n+b"],
  ])("%s", (_name, change, diff) => {
    expect(change).toEqual({ path: "/f", kind: "update", diff });
  });

  test("an edit that looks for nothing makes the file", () => {
    expect(edit("", "a\n")).toEqual({ path: "/f", kind: "add", diff: "@@\n+a" });
  });

  test("several edits of one file stand one after the other", () => {
    const edits = [
      { old_string: "a", new_string: "b" },
      { old_string: "c", new_string: "" },
    ];
    const diff = "@@\n-a\n+b\n@@\n-c";
    expect(toFileChange("MultiEdit", { file_path: "/f", edits })).toEqual({
      path: "/f",
      kind: "update",
      diff,
    });
  });

  test.each([
    [{ new_source: "x = 1" }, "@@ replace cell c1 @@\n+x = 1"],
    [{ new_source: "x", edit_mode: "insert" }, "@@ insert cell c1 @@\n+x"],
    [{ new_source: "", edit_mode: "delete" }, "@@ delete cell c1 @@"],
  ])("a notebook: %j", (input, diff) => {
    const change = toFileChange("NotebookEdit", { notebook_path: "/n", cell_id: "c1", ...input });
    expect(change).toEqual({ path: "/n", kind: "update", diff });
  });

  test.each([
    ["Bash", { command: "ls" }],
    ["Edit", { file_path: "/f" }],
    ["Write", { file_path: "/f", content: 7 }],
    ["MultiEdit", { file_path: "/f", edits: [] }],
  ])("%s %j is no change that we could show", (tool, input) => {
    expect(toFileChange(tool, input)).toBeUndefined();
  });
});
