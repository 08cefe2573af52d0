import { existsSync, mkdirSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { createCommandHook } from "../../../src/runtime/hooks/command.ts";
import { createHookDispatcher } from "../../../src/runtime/hooks/dispatcher.ts";
import type { HookConfig, HookInput, HookOutcome } from "../../../src/runtime/hooks/types.ts";
import { isRunning, pidIn } from "../../backends/processes.ts";
import { tempDir } from "../../backends/temp-dir.ts";

const base = tempDir("command-hook");
const never = new AbortController().signal;
const env = { PATH: process.env["PATH"], HOME: base, MINE: "yes" };
let count = 0;

function folder(): string {
  count += 1;
  const cwd = join(base, `w${count}`);
  mkdirSync(cwd);
  return cwd;
}

const INPUT: HookInput = {
  event: "PreToolUse",
  sessionId: "ses_1",
  callId: "call_1",
  agent: "build",
  cwd: "/repo",
  toolName: "bash",
  toolInput: { command: "npm test\n\u2028" },
};

function run(
  command: string,
  over: Partial<HookConfig> = {},
  cwd = folder(),
  signal = never,
  input = INPUT,
): Promise<HookOutcome> {
  const hook = createCommandHook({ name: "mine", event: "PreToolUse", command, ...over }, { cwd, env });
  return createHookDispatcher({ hooks: [hook] }).dispatch(input, signal);
}

describe("a command hook", () => {
  test("reads its input as one line and the end, in the workspace, with the user's environment", async () => {
    const cwd = folder();
    expect(await run("cat > in.json; pwd > where; echo $MINE > env", {}, cwd)).toEqual({
      blocked: false,
      warnings: [],
    });
    const text = readFileSync(join(cwd, "in.json"), "utf8");
    expect(text.indexOf("\n")).toBe(text.length - 1);
    expect(JSON.parse(text)).toEqual(INPUT);
    expect(readFileSync(join(cwd, "where"), "utf8").trim()).toBe(realpathSync(cwd));
    expect(readFileSync(join(cwd, "env"), "utf8")).toBe("yes\n");
  });

  test("of a sub-agent's call reads which session, which task and which agents it is about", async () => {
    const cwd = folder();
    const child: HookInput = {
      ...INPUT,
      rootSessionId: "ses_1",
      invocationId: "inv_456",
      agentPath: ["orchestrator", "builder"],
      agent: "builder",
    };
    await run("cat > in.json", { match: { agent: "builder" } }, cwd, never, child);
    expect(JSON.parse(readFileSync(join(cwd, "in.json"), "utf8"))).toEqual(child);
  });

  test("warns, blocks and patches by what it prints", async () => {
    expect(await run(`echo '{"decision":"warn","message":"slow"}'`)).toEqual({
      blocked: false,
      warnings: ["slow"],
    });
    expect(await run(`echo '{"decision":"block","message":"no"}'`)).toEqual({
      blocked: true,
      reason: "no",
      warnings: [],
    });
    expect(await run(`printf '{"patch":{"command":\\n"ls"}}'`)).toEqual({
      blocked: false,
      warnings: [],
      patch: { command: "ls" },
    });
  });

  test("that does not read its input has not failed, however long the input is", async () => {
    const input = { ...INPUT, toolInput: { command: "x".repeat(4 * 1024 * 1024) } };
    expect(await run("exec 0<&-; echo '{}'", {}, folder(), never, input)).toEqual({
      blocked: false,
      warnings: [],
    });
    expect(await run("true", {}, folder(), never, input)).toEqual({ blocked: false, warnings: [] });
  });

  test.each([
    ["a code other than 0", "echo broken >&2; exit 2", /exited with code 2: broken/],
    ["a signal", "kill -9 $$", /killed by SIGKILL/],
    ["no JSON", "echo fine", /its output is not JSON: fine/],
    ["a list", "echo '[]'", /its output is invalid/],
    ["an unknown field", `echo '{"decison":"block"}'`, /\/decison: unexpected property/],
    ["an unknown decision", `echo '{"decision":"deny"}'`, /\/decision/],
    ["too much output", "yes", /more than 1048576 bytes/],
    ["a missing command", "no-such-program-here", /code 127/],
    ["a time-out", "sleep 1000", /longer than 300 ms/],
  ])("that ends with %s is a warning, and as a gate a block", async (_name, command, fault) => {
    const timeoutMs = command.startsWith("sleep") ? 300 : 10_000;
    const warned = await run(command, { timeoutMs });
    expect(warned).toEqual({ blocked: false, warnings: [expect.stringMatching(fault)] });
    const blocked = await run(command, { onError: "block", timeoutMs });
    expect(blocked).toEqual({ blocked: true, reason: expect.stringMatching(fault), warnings: [] });
  });

  test("in a workspace that is gone is a failure that says so", async () => {
    expect(await run("true", {}, join(base, "gone"))).toEqual({
      blocked: false,
      warnings: [expect.stringContaining("does not exist")],
    });
  });

  test("that takes too long is ended with everything that it started", async () => {
    const cwd = folder();
    const command =
      "(trap '' TERM; sleep 1000 & echo $! > inner; wait) & echo $! > outer; setsid sleep 1000 & echo $! > away; wait";
    const outcome = await run(command, { timeoutMs: 500 }, cwd);
    expect(outcome.warnings).toEqual([expect.stringContaining("500 ms")]);
    for (const name of ["inner", "outer", "away"]) {
      const pid = await pidIn(join(cwd, name));
      await vi.waitFor(() => expect(isRunning(pid)).toBe(false), { timeout: 45_000, interval: 20 });
    }
  });

  test("is ended at once by an abort", async () => {
    const cwd = folder();
    const control = new AbortController();
    const outcome = run("echo $$ > pid; sleep 1000", {}, cwd, control.signal);
    const pid = await pidIn(join(cwd, "pid"));
    control.abort();
    expect(await outcome).toMatchObject({ blocked: true, reason: "aborted" });
    await vi.waitFor(() => expect(isRunning(pid)).toBe(false), { timeout: 45_000, interval: 20 });
  });

  test("is not started when the turn has already ended", async () => {
    const cwd = folder();
    expect(await run("touch started", {}, cwd, AbortSignal.abort())).toMatchObject({ blocked: true });
    expect(existsSync(join(cwd, "started"))).toBe(false);
  });
});
