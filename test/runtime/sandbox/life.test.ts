// How commands end, in every adapter that this machine has: nothing outlives them, whatever it did to get away.
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createSandbox } from "../../../src/runtime/sandbox/index.ts";
import type { Sandbox } from "../../../src/runtime/sandbox/types.ts";
import { SANDBOX } from "../../support/plain-sandbox.ts";
import { asleep, isAsleep, runIn, whyNoSandbox } from "./ground.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "demian-life-")));
const reason = await whyNoSandbox();
let serial = 0;

afterAll(() => rmSync(root, { recursive: true, force: true }));

if (reason !== undefined) test.skip(`commands were not held: ${reason}`, () => undefined);

/** Started by us, with this word in their arguments. */
function ownProcesses(word: string): number[] {
  return readdirSync("/proc")
    .filter((pid) => isOwn(pid, word))
    .map(Number);
}

function isOwn(pid: string, word: string): boolean {
  try {
    const [, parent] = / \(.*\) . (\d+) /s.exec(readFileSync(`/proc/${pid}/stat`, "latin1")) ?? [];
    return Number(parent) === process.pid && readFileSync(`/proc/${pid}/cmdline`, "latin1").includes(word);
  } catch {
    return false; // no process, or it ended while we looked
  }
}

const modes = [
  { mode: "off" as const },
  ...(reason === undefined ? [{ mode: "workspace-write" as const }] : []),
];

describe.skipIf(process.platform !== "linux").each(modes)("with mode $mode", ({ mode }) => {
  let sandbox: Sandbox;

  beforeAll(async () => {
    sandbox = await createSandbox({ ...SANDBOX, mode }, { root, hide: [] });
  });

  /** A time that no other process sleeps for. */
  const ownTime = (): number => {
    serial += 1;
    return 7_000_000 + (process.pid % 10_000) * 100 + serial;
  };

  test.each([
    ["in the background", (line: string) => `${line} &`],
    ["without the hang-up signal", (line: string) => `nohup ${line} >/dev/null 2>&1 &`],
    ["in a session of its own", (line: string) => `setsid ${line} >/dev/null 2>&1 &`],
    ["after two forks", (line: string) => `( ( setsid ${line} </dev/null >/dev/null 2>&1 & ) & )`],
    ["deaf to SIGTERM", (line: string) => `( trap '' TERM HUP INT; ${line} ) & disown`],
  ])("a process left %s is gone when the command is", async (_how, leave) => {
    const seconds = ownTime();
    const line = `sleep ${seconds}`;
    const ran = await runIn(
      sandbox,
      root,
      `${leave(line)}\nuntil ${isAsleep(seconds)}; do :; done; echo started`,
    );
    expect(ran).toMatchObject({ code: 0, timedOut: false, output: "started\n" });
    expect(asleep(seconds)).toEqual([]);
  });

  test("a command that takes too long is ended with everything it started", async () => {
    const seconds = ownTime();
    const line = `sleep ${seconds}`;
    const ran = await runIn(sandbox, root, `echo begun; setsid ${line} & ${line}`, { timeoutMs: 300 });
    expect(ran).toMatchObject({ timedOut: true, aborted: false, output: "begun\n" });
    expect(ran.code).toBeUndefined();
    expect(asleep(seconds)).toEqual([]);
  });

  test("many processes at once end with the time of their command", async () => {
    const seconds = ownTime();
    const line = `sleep ${seconds}`;
    const ran = await runIn(sandbox, root, `for i in $(seq 60); do setsid ${line} & done; wait`, {
      timeoutMs: 700,
    });
    expect(ran.timedOut).toBe(true);
    expect(asleep(seconds)).toEqual([]);
  });

  test("an abort ends it at once, and a command whose turn is over is not started", async () => {
    const seconds = ownTime();
    const line = `sleep ${seconds}`;
    const abort = new AbortController();
    const started = sandbox.run({
      ...{
        command: `echo begun; ${line}`,
        cwd: root,
        env: { PATH: process.env["PATH"] ?? "" },
        timeoutMs: 60_000,
      },
      signal: abort.signal,
      output: () => abort.abort(),
    });
    expect(await started).toMatchObject({ aborted: true, timedOut: false });
    expect(asleep(seconds)).toEqual([]);
    const late = await runIn(sandbox, root, "echo never", { signal: abort.signal });
    expect(late).toMatchObject({ aborted: true, output: "" });
  });

  test("an abort at any moment of its start leaves nothing of it, not even what makes its namespace", async () => {
    const word = `abort-${ownTime()}`;
    const left = () =>
      readdirSync("/proc").filter((pid) => {
        try {
          return readFileSync(`/proc/${pid}/environ`, "latin1").includes(`MARK=${word}\0`);
        } catch {
          return false; // no process, or it ended while we looked
        }
      });
    for (let step = 0; step < 20; step += 1) {
      const signal = AbortSignal.timeout(step);
      const env = { PATH: process.env["PATH"] ?? "", MARK: word };
      await runIn(sandbox, root, "sleep 100", { signal, env });
      expect(left()).toEqual([]);
    }
  });

  test("exit codes, both streams in order, and no input", async () => {
    const ran = await runIn(sandbox, root, "echo a; echo b >&2; echo c; cat; exit 7");
    expect(ran).toMatchObject({
      code: 7,
      output: "a\nb\nc\n",
      adapter: mode === "off" ? "off" : "linux-bwrap",
    });
    expect(ran.signal).toBeUndefined();
  });

  test.runIf(mode !== "off")("output can be written by name, and all of it arrives", async () => {
    const ran = await runIn(
      sandbox,
      root,
      "echo a > /dev/stdout; echo b > /dev/stderr; echo c | tee /dev/stderr; seq 50000",
    );
    expect(ran.output.startsWith("a\nb\nc\nc\n1\n2\n")).toBe(true);
    expect(ran.output.endsWith("\n49999\n50000\n")).toBe(true);
    expect(ran.output.split("\n")).toHaveLength(50_005);
  });

  test("a shell that kills itself is reported as such", async () => {
    const { code, signal } = await runIn(sandbox, root, "kill -KILL $$");
    expect(code === 137 || signal === "SIGKILL").toBe(true);
  });

  test.runIf(mode !== "off")(
    "a sandbox that is killed is reported as such: the command had started",
    async () => {
      const seconds = ownTime();
      const ran = await sandbox.run({
        ...{ command: `echo begun; sleep ${seconds}`, cwd: root, env: { PATH: process.env["PATH"] ?? "" } },
        ...{ timeoutMs: 10_000, signal: new AbortController().signal },
        output: () => {
          for (const pid of ownProcesses(String(seconds))) process.kill(pid, "SIGKILL");
        },
      });
      expect(ran).toMatchObject({ signal: "SIGKILL", timedOut: false, aborted: false });
      expect(asleep(seconds)).toEqual([]);
    },
  );

  test("files that shells read first, and functions from outside, do not run", async () => {
    const env = {
      ...{ PATH: process.env["PATH"] ?? "", BASH_ENV: "/nonexistent/evil", ENV: "/nonexistent/evil" },
      ...{ "BASH_FUNC_echo%%": "() { printf evil; }", SHELLOPTS: "xtrace" },
    };
    const { output } = await runIn(sandbox, root, 'echo "$BASH_ENV$ENV" fine', { env });
    expect(output).toBe(" fine\n");
  });

  test("a directory that is gone, one outside, and a NUL are refused with what to do", async () => {
    await expect(runIn(sandbox, join(root, "gone"), "true")).rejects.toMatchObject({
      code: "not_found",
      message: expect.stringMatching(/gone does not exist/),
    });
    await expect(runIn(sandbox, "/", "true")).rejects.toMatchObject({ code: "path_outside" });
    await expect(runIn(sandbox, root, "echo \0")).rejects.toMatchObject({ code: "invalid_command" });
    await expect(runIn(sandbox, root, `: ${"x".repeat(200_000)}`)).rejects.toMatchObject({
      code: "command_too_long",
      message: expect.stringMatching(/script/),
    });
    const env = { PATH: "/bin", HUGE: "x".repeat(3_000_000) };
    await expect(runIn(sandbox, root, "true", { env })).rejects.toMatchObject({
      code: "command_too_long",
      message: expect.stringMatching(/environment has 30000\d\d characters.*without HUGE/),
    });
  });

  test("ten commands at once are each held and each answered", async () => {
    const all = Array.from({ length: 10 }, (_, index) =>
      runIn(sandbox, root, `echo ${index}; exit ${index}`),
    );
    const ran = await Promise.all(all);
    expect(ran.map(({ code, output }) => `${code} ${output}`)).toEqual(
      ran.map((_, index) => `${index} ${index}\n`),
    );
  });
});
