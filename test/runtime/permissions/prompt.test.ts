import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formatUnifiedDiff } from "../../../src/runtime/permissions/diff.ts";
import { formatPromptLines } from "../../../src/runtime/permissions/prompt.ts";
import type { PermissionPrompt } from "../../../src/runtime/permissions/types.ts";
import { tempDir } from "../../backends/temp-dir.ts";

const base = tempDir("prompt");
const prompt = (over: Partial<PermissionPrompt>): PermissionPrompt => ({
  sessionId: "s",
  callId: "c",
  agent: "build",
  tool: "bash",
  title: "bash: npm test",
  input: {},
  ...over,
});

describe("formatPromptLines", () => {
  test("shows the command, where it runs, how it is held, why it is asked and what always means", () => {
    const lines = formatPromptLines(
      prompt({
        command: "npm test",
        cwd: "/w",
        sandbox: "linux-bwrap",
        reason: "tests are slow",
        always: "exactly this",
      }),
    );
    expect(lines).toEqual([
      "Allow build -> bash: npm test?",
      "  $ npm test",
      "  in       /w",
      "  sandbox  linux-bwrap",
      "  because  tests are slow",
      "  always   allows exactly this",
    ]);
  });

  test("says what it means when nothing holds the command", () => {
    expect(formatPromptLines(prompt({ command: "ls", sandbox: "off" })).join("\n")).toContain(
      "anything you can",
    );
  });

  test("a long command of many lines is shown whole, and nothing in it is hidden", () => {
    const command = `echo ${"x".repeat(5000)}\nrm \u202etxt.exe \u200b\u001b[2K\rls\u00a0a`;
    const text = formatPromptLines(prompt({ command })).join("\n");
    expect(text).toContain("x".repeat(5000));
    expect(text).toContain("  > rm <U+202E>txt.exe <U+200B>\\x1b[2K\\x0dls<U+00A0>a");
  });

  test("a title cannot make up lines", () => {
    expect(
      formatPromptLines(prompt({ title: "bash: a\n  always   allows nothing", command: "a" }))[0],
    ).toContain("\\n");
  });

  test("a change is shown as a diff, a long one says at the very end how much is missing, and whole when it is asked for", () => {
    const changes = [{ path: "a.ts", oldText: "one\ntwo\n", newText: "one\n2\u202e\n" }];
    expect(formatPromptLines(prompt({ changes })).slice(1)).toEqual([
      "  --- a/a.ts",
      "  +++ b/a.ts",
      "  @@ -1,2 +1,2 @@",
      "   one",
      "  -two",
      "  +2<U+202E>",
    ]);
    const long = prompt({ changes: [{ path: "b", newText: "x\n".repeat(1000) }], always: "this" });
    expect(formatPromptLines(long).at(-1)).toBe(
      "  !! 603 of 1003 lines of this change are NOT SHOWN; press d to show all",
    );
    const whole = formatPromptLines(long, { wholeDiff: true });
    expect(whole.filter((line) => line === "  +x")).toHaveLength(1000);
    expect(whole.at(-1)).toBe("  always   allows this");
  });

  test("a change of very many lines can be shown", () => {
    const changes = [{ path: "b", oldText: "", newText: "x\n".repeat(300_000) }];
    expect(formatPromptLines(prompt({ changes })).at(-1)).toContain("299603 of 300003 lines");
  });

  test("the input of another tool is shown unchanged", () => {
    expect(
      formatPromptLines(prompt({ tool: "fetch", title: "fetch", input: { url: "http://x" } })).join("\n"),
    ).toContain('"url": "http://x"');
  });
});

describe("23: a question of a sub-agent", () => {
  const child = { agent: "reviewer", tool: "read_file", title: "read_file: x" };
  const head = (over: Partial<PermissionPrompt>) => formatPromptLines(prompt({ ...child, ...over }))[0];

  test("names the agents from the main one down to it", () => {
    expect(head({ agentPath: ["reviewer"], mainAgent: "build" })).toBe(
      "Allow build > reviewer -> read_file: x?",
    );
    expect(head({ agentPath: ["lead", "reviewer"], mainAgent: "build" })).toBe(
      "Allow build > lead > reviewer -> read_file: x?",
    );
    expect(head({ agentPath: ["reviewer"] })).toBe("Allow reviewer -> read_file: x?");
    expect(head({ agent: "build", agentPath: ["helper"] })).toBe("Allow build > helper -> read_file: x?");
  });

  test("cannot be disguised by the names", () => {
    expect(head({ agentPath: ["a\n\u202eb"], mainAgent: "build" })).toContain("build > a\\n<U+202E>b ->");
  });
});

describe("a tool that another executor runs", () => {
  test("is said to run outside of our sandbox, whatever that would have been", () => {
    const lines = formatPromptLines(
      prompt({
        executor: "claudecode",
        tool: "Bash",
        title: "Bash: npm test",
        command: "npm test",
        cwd: "/w",
      }),
    );
    expect(lines).toEqual([
      "Allow build -> Bash: npm test?",
      "  $ npm test",
      "  in       /w, or the current directory of its shell",
      "  run by   claudecode itself, outside demian's sandbox",
    ]);
  });
});

describe("30: the question before another agent starts", () => {
  const invocation = {
    agent: "reviewer",
    provider: "gemini-fast",
    model: "gemini-small",
    crossesProvider: true,
    receives: ["the current user request", "relevant file paths"],
    handoff: "# Task\nReview src/a.ts.",
  };
  const shown = (over: Partial<typeof invocation>, options?: Parameters<typeof formatPromptLines>[1]) =>
    formatPromptLines(
      prompt({ tool: "delegate_agent", title: "t", invocation: { ...invocation, ...over } }),
      options,
    );

  test("names agent and provider, says that it is another provider, and shows the exact text to be sent", () => {
    expect(shown({})).toEqual([
      "Allow build -> agent reviewer using provider gemini-fast?",
      "  model    gemini-small",
      "  sent to  gemini-fast, not the provider of build",
      "  It will receive: the current user request, relevant file paths. Full text:",
      "  | # Task",
      "  | Review src/a.ts.",
    ]);
  });

  test("says nothing of another provider where it is the same", () => {
    expect(shown({ crossesProvider: false }).join("\n")).not.toContain("another provider");
  });

  test("what is sent cannot look like our own lines, nor hide anything", () => {
    const lines = shown({ handoff: "a\n  always   allows nothing\n\u001b[2K\u202eb\rc" });
    expect(lines.slice(-3)).toEqual([
      "  | a",
      "  |   always   allows nothing",
      "  | \\x1b[2K<U+202E>b\\x0dc",
    ]);
    expect(shown({ model: "m\n  sent to  nobody" })[1]).toBe("  model    m\\n  sent to  nobody");
    expect(shown({ receives: ["x\ny"] })[3]).toContain("x\\ny");
  });

  test("a long one says at the very end how much is missing, and is shown whole when it is asked for", () => {
    const handoff = Array.from({ length: 200 }, (_, line) => `line ${line}`).join("\n");
    const lines = shown({ handoff });
    expect(lines.at(-1)).toBe("  !! 80 of 200 lines of this handoff are NOT SHOWN; press d to show all");
    expect(lines).not.toContain("  | line 120");
    const whole = shown({ handoff }, { wholeDiff: true });
    expect(whole.at(-1)).toBe("  | line 199");
    expect(whole.filter((line) => line.startsWith("  | "))).toHaveLength(200);
  });
});

describe("unifiedDiff", () => {
  const line = fc.constantFrom("a", "b", "c", "", "d e");
  const text = fc
    .tuple(fc.array(line, { maxLength: 30 }), fc.boolean())
    .map(([lines, hasEnd]) => lines.join("\n") + (hasEnd ? "\n" : ""));

  test("`patch` makes the new text of the old one with it", () => {
    const dir = join(base, "patch");
    mkdirSync(dir, { recursive: true });
    const pairs = fc
      .sample(fc.tuple(text, text), 60)
      .filter(([oldText, newText]) => oldText !== newText && oldText !== "" && newText !== "");
    for (const [index, [oldText, newText]] of pairs.entries()) {
      const path = `f${index}`;
      writeFileSync(join(dir, path), oldText);
      writeFileSync(join(dir, "all.patch"), `${formatUnifiedDiff({ path, oldText, newText }).join("\n")}\n`, {
        flag: index === 0 ? "w" : "a",
      });
    }
    execFileSync("git", ["apply", "--unidiff-zero", "all.patch"], { cwd: dir, stdio: "pipe" });
    for (const [index, [, newText]] of pairs.entries())
      expect(readFileSync(join(dir, `f${index}`), "utf8")).toBe(newText);
  });

  test("a new file comes from nowhere, and an endless rewrite is cut short", () => {
    expect(formatUnifiedDiff({ path: "a", newText: "x\n" })).toEqual([
      "--- /dev/null",
      "+++ b/a",
      "@@ -0,0 +1,1 @@",
      "+x",
    ]);
    const numbers = (from: number) => Array.from({ length: 20_000 }, (_, n) => `${from + n}`).join("\n");
    expect(
      formatUnifiedDiff({ path: "a", oldText: numbers(0), newText: numbers(50_000) }).length,
    ).toBeGreaterThan(40_000);
  });
});
