// The tool that runs commands: what it shows before, what the model reads after, and that both have bounds.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Sandbox } from "../../../src/runtime/sandbox/types.ts";
import { bashTool } from "../../../src/runtime/tools/bash.ts";
import { type ToolContext, ToolError, type ToolResult } from "../../../src/runtime/tools/types.ts";
import { openWorkspace } from "../../../src/runtime/workspace/open.ts";
import type { Workspace } from "../../../src/runtime/workspace/types.ts";
import { plainSandbox, scriptedSandbox } from "../../support/plain-sandbox.ts";

let root: string;
let workspace: Workspace;
let live: string[];

beforeEach(async () => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "demian-bash-")));
  mkdirSync(join(root, "sub"));
  workspace = await openWorkspace(root);
  live = [];
});

afterEach(async () => {
  await workspace.close();
  rmSync(root, { recursive: true, force: true });
});

function contextOf(sandbox: Sandbox, more: Partial<ToolContext> = {}): ToolContext {
  return {
    ...{ sessionId: "s", callId: "call-1", agent: "build", workspace, sandbox, dryRun: false },
    env: { PATH: process.env["PATH"] ?? "" },
    signal: new AbortController().signal,
    mayRead: () => true,
    progress: (text) => void live.push(text),
    showPlan: () => undefined,
    keepOutput: () => Promise.reject(new Error("the tool keeps its output itself")),
    ...more,
  };
}

async function run(input: object, more: Partial<ToolContext> = {}): Promise<ToolResult> {
  const context = contextOf(more.sandbox ?? (await plainSandbox(root)), more);
  const checked = bashTool.check(input);
  if (!checked.ok) throw new Error(checked.message);
  return bashTool.execute(checked.value, await bashTool.plan(checked.value, context), context);
}

describe("the plan", () => {
  const plan = async (input: object) => bashTool.plan(input, contextOf(await plainSandbox(root)));

  test("shows the whole command, where it runs, and that it is a command", async () => {
    const command = `echo ${"x".repeat(500)}\nrm -rf important`;
    const planned = await plan({ command, workdir: "sub" });
    const cwd = join(root, "sub");
    expect(planned).toEqual({
      ...{ title: expect.stringMatching(/^bash: echo x+ …$/), command, cwd },
      targets: [{ kind: "command", command, cwd }],
    });
    expect(planned.title).not.toContain("\n");
  });

  test.each([
    ["..", "path_outside"],
    ["/etc", "path_outside"],
    ["link", "path_outside"],
    ["gone", "not_found"],
    ["file", "not_a_directory"],
  ])("workdir %s is refused with %s", async (workdir, code) => {
    symlinkSync("/etc", join(root, "link"));
    writeFileSync(join(root, "file"), "");
    const error = await plan({ command: "pwd", workdir }).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(ToolError);
    expect(error).toMatchObject({ code });
  });
});

describe("the input", () => {
  test.each([
    [{}, /command/],
    [{ command: "  " }, /empty/],
    [{ command: "echo \0" }, /NUL/],
    [{ command: "true", timeoutMs: 600_001 }, /timeoutMs/],
    [{ command: "true", timeoutMs: 0 }, /timeoutMs/],
    [{ command: "true", cwd: "/" }, /cwd/],
  ])("%j is refused with a sentence about it", (input, message) => {
    expect(bashTool.check(input)).toEqual({ ok: false, message: expect.stringMatching(message) });
  });

  test("a time limit of 30 s is the default and 600 s the most", async () => {
    const limits: number[] = [];
    const sandbox = scriptedSandbox(({ timeoutMs }) => {
      limits.push(timeoutMs);
      return { code: 0 };
    });
    await run({ command: "true" }, { sandbox });
    await run({ command: "true", timeoutMs: 600_000 }, { sandbox });
    expect(limits).toEqual([30_000, 600_000]);
  });
});

describe("the result", () => {
  test("has the output of both streams, the exit code and the adapter", async () => {
    const result = await run({ command: "pwd; echo problem >&2; exit 3", workdir: "sub" });
    expect(result).toEqual({
      ...{ ok: false, content: `${join(root, "sub")}\nproblem\n[exit code 3]` },
      metadata: { sandbox: "off", exitCode: 3 },
    });
    expect(live.join("")).toBe(`${join(root, "sub")}\nproblem\n`);
  });

  test("says when there was no output, and ends an unfinished line", async () => {
    expect(await run({ command: "true" })).toMatchObject({ ok: true, content: "[no output; exit code 0]" });
    expect(await run({ command: "printf a" })).toMatchObject({ ok: true, content: "a\n[exit code 0]" });
  });

  test("names the time that was over, and keeps what came before", async () => {
    const result = await run({ command: "echo begun; sleep 60", timeoutMs: 200 });
    expect(result).toMatchObject({
      ...{ ok: false, content: expect.stringMatching(/^begun\n\[timed out after 200 ms/) },
      metadata: { sandbox: "off", timedOut: true },
    });
  });

  test("names an abort and a signal", async () => {
    const abort = new AbortController();
    const aborted = run(
      { command: "echo begun; sleep 60" },
      { signal: abort.signal, progress: () => abort.abort() },
    );
    expect(await aborted).toMatchObject({
      ok: false,
      content: "begun\n[aborted]",
      metadata: { aborted: true },
    });
    expect((await run({ command: "kill -SEGV $$" })).content).toMatch(/killed by SIGSEGV/);
    const sandbox = scriptedSandbox(() => ({ code: 139 }));
    expect((await run({ command: "x" }, { sandbox })).content).toMatch(/exit code 139: SIGSEGV/);
  });

  test("a command that cannot be held is a failure the model can read, with the adapter", async () => {
    const sandbox = scriptedSandbox(() => {
      throw new ToolError("sandbox_unavailable", "commands are refused: install bubblewrap");
    });
    expect(await run({ command: "true" }, { sandbox: { ...sandbox, adapter: undefined } })).toEqual({
      ...{ ok: false, content: "commands are refused: install bubblewrap" },
      metadata: { sandbox: "none", error: "sandbox_unavailable" },
    });
  });

  test("bytes that are no UTF-8 are shown as U+FFFD, also live and across chunks", async () => {
    const { content } = await run({ command: "printf 'a\\xffb\\xe2\\x82'; printf '\\xac\\n'" });
    expect(content).toBe("a\ufffdb€\n[exit code 0]");
    expect(live.join("")).toBe("a\ufffdb€\n");
  });

  test("100 MB of output take little memory: both ends are shown, the whole is in a file", async () => {
    let peak = 0;
    const sandbox = await plainSandbox(root);
    const watched: Sandbox = {
      ...sandbox,
      run: (order) =>
        sandbox.run({
          ...order,
          output: (chunk) => {
            order.output(chunk);
            peak = Math.max(peak, process.memoryUsage().arrayBuffers);
          },
        }),
    };
    const before = process.memoryUsage().arrayBuffers;
    const command = "echo FIRST; head -c 100000000 /dev/zero | tr '\\0' x; echo; echo LAST";
    const { content, metadata } = await run({ command }, { sandbox: watched });
    expect(content.length).toBeLessThan(40_000);
    expect(content).toMatch(/^FIRST\nx+.*LAST\n\[exit code 0\]$/s);
    expect(metadata).toMatchObject({
      truncated: true,
      outputFile: expect.stringMatching(/^\.demian\/tmp\//),
    });
    expect(statSync(join(root, String(metadata?.outputFile))).size).toBe(100_000_012);
    expect(peak - before).toBeLessThan(64 * 1024 * 1024);
    expect(live.join("").length).toBeLessThan(200_000);
  });
});
