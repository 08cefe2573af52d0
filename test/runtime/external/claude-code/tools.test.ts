// The tools of Claude Code as the gate and the user see them.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  findCategory,
  listOfferedTools,
  prepareClaudeTool,
} from "../../../../src/runtime/external/claude-code/tools.ts";
import { openWorkspace } from "../../../../src/runtime/workspace/open.ts";
import type { Workspace } from "../../../../src/runtime/workspace/types.ts";

let root: string;
let workspace: Workspace;

beforeEach(async () => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "demian-tools-")));
  mkdirSync(join(root, "src"));
  writeFileSync(join(root, "src/a.ts"), "one\ntwo\none\n");
  workspace = await openWorkspace(root);
});

afterEach(async () => {
  await workspace.close();
  rmSync(root, { recursive: true, force: true });
});

const plan = (tool: string, input: Record<string, unknown>) =>
  prepareClaudeTool({ callId: "toolu_1", tool, input }, workspace);
const OUTSIDE = expect.objectContaining({ lexical: expect.stringMatching(/^\//) });

describe("a path", () => {
  test("is what the workspace makes of it, relative or absolute", async () => {
    const target = { kind: "path", access: "read", lexical: "src/a.ts", real: "src/a.ts" };
    for (const file_path of ["src/a.ts", join(root, "src/a.ts"), "./src/../src/a.ts"]) {
      expect((await plan("Read", { file_path })).targets).toEqual([target]);
    }
  });

  test("is sent back to Claude Code as judged", async () => {
    expect((await plan("Read", { file_path: "src/a.ts", limit: 3 })).input).toEqual({
      file_path: join(root, "src/a.ts"),
      limit: 3,
    });
  });

  test("is judged by where its links lead", async () => {
    symlinkSync("src/a.ts", join(root, "link"));
    expect((await plan("Write", { file_path: "link", content: "x" })).targets).toEqual([
      { kind: "path", access: "write", lexical: "link", real: "src/a.ts" },
    ]);
  });

  test.each(["/etc/passwd", "../x", "~/x", "~root/x", " /etc/passwd", "src/a.ts ", "\t/etc/passwd"])(
    "that leads out, or that Claude Code reads otherwise, is outside: %j",
    async (file_path) => {
      expect((await plan("Read", { file_path })).targets).toEqual([OUTSIDE]);
    },
  );

  test("by a link that leads out is outside", async () => {
    symlinkSync("/etc", join(root, "etc"));
    expect((await plan("Read", { file_path: "etc/passwd" })).targets).toEqual([OUTSIDE]);
  });

  test("that is missing is the workspace, which is searched", async () => {
    const { targets, title, input } = await plan("Grep", { pattern: "one" });
    expect(targets).toEqual([{ kind: "path", access: "read", lexical: ".", real: "." }]);
    expect(title).toBe("Grep: one");
    expect(input).toEqual({ pattern: "one", path: root });
  });

  test.each(["/etc/**", "../**", "~/**", "src/../../x/*", "{a,..}/*"])(
    "in a pattern leads out too: %s",
    async (pattern) => {
      expect((await plan("Glob", { pattern })).targets).toContainEqual(OUTSIDE);
    },
  );
});

describe("a change", () => {
  test("is shown as the file will be", async () => {
    const edit = { file_path: "src/a.ts", old_string: "two", new_string: "three" };
    expect((await plan("Edit", edit)).changes).toEqual([
      { path: "src/a.ts", oldText: "one\ntwo\none\n", newText: "one\nthree\none\n" },
    ]);
    expect((await plan("Write", { file_path: "new.ts", content: "x" })).changes).toEqual([
      { path: "new.ts", newText: "x" },
    ]);
  });

  test("of all occurrences, and of several at once, is shown too", async () => {
    const all = { file_path: "src/a.ts", old_string: "one", new_string: "1", replace_all: true };
    expect((await plan("Edit", all)).changes?.[0]?.newText).toBe("1\ntwo\n1\n");
    const edits = [
      { old_string: "two", new_string: "one" },
      { old_string: "one", new_string: "1", replace_all: true },
    ];
    expect((await plan("MultiEdit", { file_path: "src/a.ts", edits })).changes?.[0]?.newText).toBe(
      "1\n1\n1\n",
    );
  });

  test.each([
    { old_string: "one", new_string: "1" },
    { old_string: "absent", new_string: "1" },
    { old_string: "one" },
  ])("that is unknown is not guessed: %j", async (edit) => {
    expect((await plan("Edit", { file_path: "src/a.ts", ...edit })).changes).toBeUndefined();
  });

  test("of something outside is not looked at", async () => {
    expect((await plan("Write", { file_path: "/etc/passwd", content: "x" })).changes).toBeUndefined();
  });
});

describe("other tools", () => {
  test("a command is shown whole", async () => {
    expect(await plan("Bash", { command: "npm test\n# and more" })).toMatchObject({
      title: "Bash: npm test # and more",
      command: "npm test\n# and more",
      cwd: root,
      targets: [{ kind: "command", command: "npm test\n# and more", cwd: root }],
    });
  });

  test("an unknown tool is keyed by its whole input", async () => {
    const { targets, category } = await plan("WebFetch", { url: "http://127.0.0.1/", prompt: "p" });
    expect(category).toBe("other");
    expect(targets).toEqual([{ kind: "other", key: 'WebFetch {"url":"http://127.0.0.1/","prompt":"p"}' }]);
    expect(findCategory("toString")).toBe("other");
  });

  test("are offered by what the user allows and whether the user can be asked", () => {
    const order = { allowSubagents: false, permissionMode: "default", canAsk: false } as const;
    const usual = listOfferedTools(order);
    expect(usual).toEqual(expect.arrayContaining(["Read", "Grep", "Glob", "Bash", "Edit", "Write"]));
    for (const name of ["Agent", "Task", "ExitPlanMode", "AskUserQuestion", "CronCreate", "EnterWorktree"]) {
      expect(usual).not.toContain(name);
    }
    expect(listOfferedTools({ ...order, allowSubagents: true })).toContain("Agent");
    expect(listOfferedTools({ ...order, permissionMode: "plan" })).toContain("ExitPlanMode");
    expect(listOfferedTools({ ...order, canAsk: true })).toContain("AskUserQuestion");
  });
});
