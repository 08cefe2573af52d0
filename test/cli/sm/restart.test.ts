// sm and the life of the daemon: started when it is needed, once; found again when it was killed.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { ROOT, startDaemon } from "../../support/daemon.ts";
import { BuiltProgram } from "../built-program.ts";

let program: BuiltProgram;
beforeAll(async () => {
  program = await BuiltProgram.build("sm");
  symlinkSync(join(ROOT, "dist/blemeesd.js"), join(program.directory, "blemeesd.js"));
});
afterAll(() => program.remove());

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** A home of its own, in which no daemon runs. */
function home(): { socket: string; env: Record<string, string> } {
  const directory = mkdtempSync(join(tmpdir(), "sm-home-"));
  for (const name of ["run", "state"]) mkdirSync(join(directory, name), { mode: 0o700 });
  closers.push(() => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }));
  const env = {
    HOME: directory,
    XDG_RUNTIME_DIR: join(directory, "run"),
    XDG_STATE_HOME: join(directory, "state"),
    BLEMEESD_SHUTDOWN_GRACE: "0",
  };
  return { socket: join(directory, "run/blemeesd.sock"), env };
}

async function untilGone(pid: number): Promise<void> {
  for (;;) {
    try {
      process.kill(pid, 0);
    } catch {
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

describe("a daemon that is not running", () => {
  test("is started once, whoever comes first, and outlives sm", async () => {
    const { socket, env } = home();
    const run = (...args: string[]) => program.run(socket, args, "", env);
    const both = await Promise.all([run("status", "--json"), run("status", "--json")]);
    const pids = both.map(({ stdout }) => JSON.parse(stdout).daemon.pid as number);
    closers.push(async () => {
      process.kill(pids[0] ?? -1, "SIGTERM");
      await untilGone(pids[0] ?? -1);
    });
    expect(pids[1]).toBe(pids[0]);
    expect(both.map(({ stderr }) => stderr).join("")).toContain("started blemeesd (log: ");
    expect(JSON.parse((await run("status", "--json")).stdout).daemon.pid).toBe(pids[0]);
  });

  test.each([
    ["--no-start", {}, "leave --no-start out"],
    ["--json", { BLEMEES_SESSION_ID: "s1" }, "not started from inside"],
  ])("is not started with %s and %j", async (flag, more, told) => {
    const { socket, env } = home();
    const { code, stderr } = await program.run(socket, ["all", flag], "", { ...env, ...more });
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(told) });
  });

  test("that cannot start is told with its log", async () => {
    const { socket, env } = home();
    const more = { ...env, BLEMEESD_LOG_LEVEL: "loud" };
    const { code, stderr } = await program.run(socket, ["all"], "", more);
    expect(code).toBe(1);
    expect(stderr).toMatch(/cannot start blemeesd: it ended with code 2.*BLEMEESD_LOG_LEVEL/s);
  });
});

test("tail -f goes on where it was when the daemon is killed and started again", async () => {
  const first = await startDaemon();
  const run = (...args: string[]) => program.run(first.socket, args);
  const id = (await run("spawn", "demo", "-o", "pace_ms=0", "hello")).stdout.trim();
  await run("wait", id);
  const tail = program.start(first.socket, ["tail", "-f", id]);
  closers.push(() => void tail.kill("SIGKILL"));
  let told = "";
  const until = (text: string): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (told.includes(text)) resolve();
      };
      for (const stream of [tail.stdout, tail.stderr]) stream.on("data", look);
      look();
    });
  for (const stream of [tail.stdout, tail.stderr]) {
    stream.on("data", (chunk: Buffer) => {
      told += chunk.toString();
    });
  }
  await run("send", id, "--wait", "before the crash");
  await until('You said: "before the crash"');
  await first.kill("SIGKILL");
  await until("looking for it again");
  const second = await startDaemon({ home: first.home });
  closers.push(() => second.close());
  await run("send", id, "--wait", "after the crash");
  await until('You said: "after the crash"');
  expect(told.match(/You said: "before the crash"/g)).toHaveLength(1);
});
