// A restart that a client asks for: the next daemon takes over with the sessions, and logs to a file that can be read.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { silentLog } from "../../src/base/log.ts";
import { HttpClient } from "../../src/client/index.ts";
import { startReplacement } from "../../src/daemon/replacement.ts";
import { startDaemon, type TestDaemon } from "../support/daemon.ts";
import { PATIENT } from "../support/patience.ts";

let daemon: TestDaemon | undefined;
afterEach(async () => {
  await daemon?.close();
  daemon = undefined;
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test("the next daemon has the sessions, and its log is the file that can be read", async () => {
  daemon = await startDaemon();
  const { home, socket } = daemon;
  const http = new HttpClient({ socket });
  const { session } = await http.spawn({ backend: "demo", prompt: "hello" });
  await http.wait(session.session_id);
  await expect(http.daemonLog()).rejects.toMatchObject({
    code: "no_log",
    message: /stderr, which is not a file/,
  });

  const { pid, next_pid } = await http.restartDaemon();
  expect(pid).toBe(daemon.pid);
  try {
    expect(await daemon.exited).toEqual({ code: 0, signal: null });
    const next = new HttpClient({ socket });
    await expect.poll(async () => (await next.health().catch(() => undefined))?.pid, PATIENT).toBe(next_pid);
    expect((await next.session(session.session_id)).turns).toBe(1);
    const log = await next.daemonLog({ lines: 500 });
    expect(log.path).toBe(join(home, "state/blemees/blemeesd.log"));
    expect(log.lines.join("\n")).toContain('"daemon.took_over"');
    expect((await next.daemonLog({ lines: 1 })).lines).toHaveLength(1);
    await next.stopDaemon();
  } finally {
    await expect.poll(() => isAlive(next_pid), PATIENT).toBe(false);
  }
});

test("a daemon that cannot be started leaves this one running, and says so", async () => {
  const state_dir = mkdtempSync(join(tmpdir(), "bl-next-"));
  const logged: unknown[] = [];
  const log = { ...silentLog, error: (event: string, fields?: unknown) => void logged.push([event, fields]) };
  const common = { env: { HOME: state_dir }, state_dir, place: { to: "stderr" }, log } as const;
  await expect(startReplacement({ ...common, command: [join(state_dir, "missing")] })).rejects.toMatchObject({
    code: "restart_failed",
    message: /missing: .*ENOENT.*this daemon keeps running/,
  });
  await startReplacement({ ...common, command: [process.execPath, "-e", "process.exit(3)", "--"] });
  await expect.poll(() => logged, PATIENT).toEqual([["daemon.restart_failed", { code: 3, signal: null }]]);
  rmSync(state_dir, { recursive: true });
});
