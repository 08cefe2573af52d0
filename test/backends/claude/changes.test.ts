import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { toFileChange as changeOf } from "../../../src/backends/claude/changes.ts";

const NO_DISK = { exists: () => false, readText: () => undefined };
const toFileChange = (tool: string, input: unknown) => changeOf(tool, input, NO_DISK);

const edit = (old_string: string, new_string: string, more: object = {}) =>
  toFileChange("Edit", { file_path: "/f", old_string, new_string, ...more });

describe("what a tool would change", () => {
  test.each([
    ["a line", edit("two", "2"), "@@\n-two\n+2"],
    ["lines between lines that stay", edit("a\nb\nc\n", "a\nB\nc\n"), "@@\n a\n-b\n+B\n c"],
    ["a line that is added", edit("a\na", "a\na\na"), "@@\n a\n a\n+a"],
    ["a line that goes", edit("a\nb", "a"), "@@\n a\n-b"],
    ["a newline that goes", edit("a\nb\n", "a\nb"), "@@\n a\n-b\n+b\n\\ No newline here"],
    ["a newline that is added", edit("b", "b\n"), "@@\n-b\n\\ No newline here\n+b"],
    ["an empty line that goes", edit("a\n\n", "a\n"), "@@\n a\n-"],
    ["a line with its end", edit("a\nb\n", "a"), "@@\n-a\n-b\n+a\n\\ No newline here"],
    ["everywhere", edit("a", "b", { replace_all: true }), "@@ every occurrence @@\n-a\n+b"],
  ])("%s", (_name, change, diff) => {
    expect(change).toEqual({ path: "/f", kind: "update", diff });
  });

  const FILE = "one\ntwo\nthree\nfour\nfive\nsix\nfive\n";
  const inFile = (...edits: object[]) => {
    const disk = { exists: () => true, readText: () => FILE };
    return changeOf("MultiEdit", { file_path: "/f", edits }, disk)?.diff;
  };

  test("an edit that fits the file is shown as whole lines, with those around it and their numbers", () => {
    const thr = { old_string: "hre", new_string: "HRE" };
    expect(inFile(thr)).toBe("@@ -1,5 +1,5 @@\n one\n two\n-three\n+tHREe\n four\n five");
    expect(changeOf("Edit", { file_path: "/f", ...thr }, { ...NO_DISK, readText: () => FILE })?.diff).toBe(
      inFile(thr),
    );
    // As Claude applies it: a line that is removed leaves no empty one.
    expect(inFile({ old_string: "two", new_string: "" })).toBe("@@ -1,4 +1,3 @@\n one\n-two\n three\n four");
    const after = inFile(thr, { old_string: "tHREe", new_string: "3" });
    expect(after).toBe("@@ -1,5 +1,5 @@\n one\n two\n-three\n+3\n four\n five");
  });

  test("an edit without exactly one place in the file is shown as it was sent", () => {
    expect(inFile({ old_string: "five", new_string: "5" })).toBe("@@\n-five\n+5");
    expect(inFile({ old_string: "seven", new_string: "7" })).toBe("@@\n-seven\n+7");
    expect(inFile({ old_string: "two", new_string: "2", replace_all: true })).toMatch(
      /^@@ every occurrence @@/,
    );
  });

  test("an edit that looks for nothing makes the file", () => {
    expect(edit("", "a\n")).toEqual({ path: "/f", kind: "add", diff: "@@\n+a" });
    expect(edit("", "a")?.diff).toBe("@@\n+a\n\\ No newline at end of file");
  });

  test.each([
    ["a\nb\n", "@@ the whole file @@\n+a\n+b"],
    ["a\nb", "@@ the whole file @@\n+a\n+b\n\\ No newline at end of file"],
    ["", "@@ the whole file, empty @@"],
  ])("a file that is written: %j", (content, diff) => {
    expect(toFileChange("Write", { file_path: "/f", content })).toEqual({ path: "/f", kind: "add", diff });
    const there = changeOf("Write", { file_path: "/f", content }, { ...NO_DISK, exists: () => true });
    expect(there).toEqual({ path: "/f", kind: "overwrite", diff });
  });

  test("whatever the texts are, a change of them is seen in the diff", () => {
    const text = fc.array(fc.constantFrom("a", "b", "\n")).map((parts) => parts.join(""));
    const pair = fc.tuple(text, text).filter(([before, after]) => before !== after);
    fc.assert(
      fc.property(pair, ([before, after]) => {
        expect(edit(before, after)?.diff).toMatch(/^[-+]/m);
      }),
    );
  });

  test("several edits of one file are shown in order", () => {
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
    [{ cell_id: "c1", new_source: "x = 1" }, '@@ replace cell "c1" @@\n\\ Replaces the whole cell\n+x = 1'],
    [
      { cell_id: "c1", new_source: "# x", cell_type: "markdown" },
      '@@ replace cell "c1" of type "markdown" @@\n\\ Replaces the whole cell\n+# x',
    ],
    [
      { cell_id: "c1", new_source: "x", cell_type: "code", edit_mode: "insert" },
      '@@ insert a cell of type "code" after cell "c1" @@\n+x',
    ],
    [{ new_source: "x", edit_mode: "insert" }, "@@ insert a cell at the beginning @@\n+x"],
    [
      { cell_id: "c1", new_source: "", edit_mode: "delete" },
      '@@ delete cell "c1" @@\n\\ Deletes the whole cell',
    ],
    [{ cell_id: "c\n-1", new_source: "x", edit_mode: "fold\n+" }, '@@ "fold\\n+" cell "c\\n-1" @@\n+x'],
  ])("a notebook: %j", (input, diff) => {
    const change = toFileChange("NotebookEdit", { notebook_path: "/n", ...input });
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
