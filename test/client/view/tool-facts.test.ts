// Titles and file changes of tool calls.
import { describe, expect, test } from "vitest";
import { findChanges, toChanges } from "../../../src/client/view/tool-changes.ts";
import { makeToolTitle } from "../../../src/client/view/tool-title.ts";

test.each([
  [{ command: "npm test", description: "run" }, "npm test"],
  [{ command: ["ls", "-l"] }, "ls -l"],
  [["bash", "-lc", "npm test"], "npm test"],
  [{ command: ["/bin/bash", "-lc", "npm test && ls"] }, "npm test && ls"],
  [["bash", "-lc", "a", "b"], "bash -lc a b"],
  [{ questions: [{ question: "Which colour?" }, { question: "Why?" }, 1] }, "Which colour? Why?"],
  [{ plan: "1. Do it\n2. Check it" }, "1. Do it 2. Check it"],
  [{ agent: "reviewer", task: "look" }, "look"],
  [{ command: "/bin/bash -lc 'npm test'" }, "npm test"],
  [{ command: "bash -lc 'a' 'b'" }, "bash -lc 'a' 'b'"],
  [{ file_path: "/w/src/a.ts", limit: 3 }, "src/a.ts"],
  [{ filePath: "/other/a.ts" }, "/other/a.ts"],
  [{ title: "Editing files", changes: [{ path: "/w/a" }, { path: "/w/b" }] }, "a, b"],
  [{ description: "explore\n the code" }, "explore the code"],
  [{ patch: "*** Begin Patch\n*** Add File: a\n+x\n*** Delete File: b\n*** End Patch" }, "a, b"],
  [{ steps: [{ status: "completed" }, { status: "pending" }] }, "1 of 2 done"],
  [{ a: 1 }, '{"a":1}'],
  ["git status", "git status"],
  [{}, ""],
  [undefined, ""],
  [{ command: { toString: 1 } }, '{"command":{"toString":1}}'],
])("a call with %j is titled %j", (input, title) => {
  expect(makeToolTitle(input, "/w")).toBe(title);
});

describe("changes", () => {
  test.each([
    [
      "Edit",
      { file_path: "a", old_string: "1\n2\n3\n", new_string: "1\nx\n3\n" },
      "update",
      "@@\n 1\n-2\n+x\n 3",
    ],
    [
      "edit_file",
      { path: "a", oldString: "x", newString: "y", replaceAll: true },
      "update",
      "@@ every occurrence @@\n-x\n+y",
    ],
    ["edit", { filePath: "a", oldString: "", newString: "y\n" }, "add", "@@\n+y"],
    ["Write", { file_path: "a", content: "x\ny\n" }, "update", "@@ the whole file @@\n+x\n+y"],
    ["write_file", { path: "a", content: "x" }, "update", "@@ the whole file @@\n+x"],
    ["NotebookEdit", { notebook_path: "a", new_source: "x" }, "update", "@@ a cell @@\n+x"],
    [
      "MultiEdit",
      {
        file_path: "a",
        edits: [
          { old_string: "1", new_string: "2" },
          { old_string: "3", new_string: "4" },
        ],
      },
      "update",
      "@@\n-1\n+2\n@@\n-3\n+4",
    ],
  ])("of %s with %j: %s", (name, input, kind, diff) => {
    expect(findChanges(name, input)).toEqual([{ path: "a", kind, diff }]);
  });

  test("that Codex lists are hunks, also if it sends the file itself", () => {
    const changes = [
      { path: "new", kind: { type: "add" }, diff: "a\nb\n" },
      { path: "gone", kind: { type: "delete" }, diff: "a\n" },
      { path: "old", kind: { type: "update", move_path: "moved" }, diff: "@@ -1 +1 @@\n-a\n+b" },
    ];
    expect(toChanges(changes)).toEqual([
      { path: "new", kind: "add", diff: "@@ the whole file @@\n+a\n+b" },
      { path: "gone", kind: "delete", diff: "@@ the whole file @@\n-a" },
      { path: "old", kind: "update", diff: "@@ -1 +1 @@\n-a\n+b", move_path: "moved" },
    ]);
  });

  test("in the envelope of a patch are found file by file", () => {
    const patch = [
      "*** Begin Patch",
      "*** Add File: a",
      "+x",
      "*** Update File: b",
      "*** Move to: c",
      "@@",
      "-1",
      "+2",
      "*** Delete File: d",
      "*** End Patch",
    ].join("\n");
    const changes = [
      { path: "a", kind: "add", diff: "@@\n+x" },
      { path: "b", kind: "update", diff: "@@\n-1\n+2", move_path: "c" },
      { path: "d", kind: "delete" },
    ];
    expect(findChanges("apply_patch", { input: patch })).toEqual(changes);
    expect(findChanges("apply_patch", patch)).toEqual(changes);
  });

  test.each([
    ["Bash", { command: "rm a" }],
    ["Read", { file_path: "a", content: "x" }],
    ["Edit", { file_path: "a", old_string: 1 }],
    ["Edit", null],
    ["Grep", { path: "a", pattern: "x" }],
  ])("of %s with %j are none", (name, input) => {
    expect(findChanges(name, input)).toBeUndefined();
  });
});
