// sm and the daemon's lifetime: started once when needed; found again after it was killed.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { ScriptedHttp } from "../../client/scripted-http.ts";
import { aView } from "../../client/session-views.ts";
import { BuiltProgram } from "../built-program.ts";

let program: BuiltProgram;
beforeAll(() => {
  program = new BuiltProgram("sm");
});
afterAll(() => program.remove());

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** Its own home, without a running daemon. */
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
  test("is started once by concurrent commands, and outlives sm", async () => {
    const { socket, env } = home();
    const run = (...args: string[]) => program.run(socket, args, "", env);
    const all = await Promise.all(Array.from({ length: 4 }, () => run("status", "--json")));
    const pids = all.map(({ stdout }) => JSON.parse(stdout).daemon.pid as number);
    closers.push(async () => {
      process.kill(pids[0] ?? -1, "SIGTERM");
      await untilGone(pids[0] ?? -1);
    });
    expect(new Set(pids).size).toBe(1);
    // The others found it, at once or in the end.
    const notes = all.map(({ stderr }) => stderr).filter((note) => note !== "");
    expect(notes.filter((note) => note.startsWith("· started blemeesd (log: "))).toHaveLength(1);
    expect(notes.filter((note) => note.startsWith("· using blemeesd"))).toHaveLength(notes.length - 1);
    expect(JSON.parse((await run("status", "--json")).stdout).daemon.pid).toBe(pids[0]);
  });

  test.each([
    ["--no-start", {}, "omit --no-start"],
    ["--json", { BLEMEES_SESSION_ID: "s1" }, "an agent does not start one"],
  ])("is not started with %s and %j", async (flag, more, told) => {
    const { socket, env } = home();
    const { code, stderr } = await program.run(socket, ["all", flag], "", { ...env, ...more });
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(told) });
  });

  test("whose log cannot be written is reported with the path and what to do", async () => {
    const { socket, env } = home();
    const file = join(env["HOME"] ?? "", "file");
    writeFileSync(file, "");
    const more = { ...env, BLEMEESD_STATE_DIR: join(file, "state") };
    const { code, stderr } = await program.run(socket, ["all"], "", more);
    expect(code).toBe(1);
    expect(stderr).toContain(`its log ${join(file, "state", "blemeesd.log")} cannot be written`);
    expect(stderr).toContain("set BLEMEESD_STATE_DIR");
  });

  test("that cannot start is reported with the log of this start, not an earlier one", async () => {
    const { socket, env } = home();
    const log = join(env["XDG_STATE_HOME"] ?? "", "blemees", "blemeesd.log");
    mkdirSync(join(log, ".."), { mode: 0o700 });
    writeFileSync(log, "of an earlier start\n");
    const { stderr } = await program.run(socket, ["all"], "", { ...env, BLEMEESD_LOG_LEVEL: "loud" });
    expect(stderr).toContain(`its log ${log} says:\n`);
    expect(stderr).not.toContain("earlier");
  });

  test("that cannot open its store is reported with the reason, and gets no further requests", async () => {
    const { socket, env } = home();
    const state = join(env["XDG_STATE_HOME"] ?? "", "blemees");
    mkdirSync(join(state, "blemees.db"), { recursive: true, mode: 0o700 });
    const { code, stderr } = await program.run(socket, ["all"], "", env);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^sm: cannot start blemeesd: it exited with code 1; its log \S+blemeesd\.log says:\n/,
    );
    expect(stderr).toMatch(/open database/);
  });

  test("that cannot start is reported with its log", async () => {
    const { socket, env } = home();
    const more = { ...env, BLEMEESD_LOG_LEVEL: "loud" };
    const { code, stderr } = await program.run(socket, ["all"], "", more);
    expect(code).toBe(1);
    expect(stderr).toMatch(/cannot start blemeesd: it exited with code 2.*BLEMEESD_LOG_LEVEL/s);
  });
});

test.each([[["wait", "s1", "-t", "0.05"]], [["send", "s1", "hello", "--wait", "-t", "0.05"]]])(
  "%j exits with 124 on time if the daemon dies meanwhile",
  async (args) => {
    const server = await ScriptedHttp.start(({ path }) => {
      if (path === "/health") return { ok: true, daemon: "blemeesd/0", pid: 1 };
      if (path === "/sessions/s1") return aView({ session_id: "s1", activity_state: "working" });
      if (path.endsWith("/input"))
        return { input: { message_id: "m1", state: "queued" }, position: 0, repeated: false };
      void server.kill();
      return "cut";
    });
    closers.push(() => server.close());
    const { code, stdout, stderr } = await program.run(server.path, args);
    expect({ code, told: stdout + stderr }).toEqual({
      code: 124,
      told: expect.stringContaining("still working"),
    });
  },
);
