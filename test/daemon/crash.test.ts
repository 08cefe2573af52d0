// An uncaught exception or rejection ends the daemon in order.
import { existsSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isRunning } from "../backends/processes.ts";
import { isOf, newId, say } from "../servers/socket/talk.ts";
import { startDaemon, type TestDaemon } from "../support/daemon.ts";

const FAULTS = {
  exception: 'setImmediate(() => { throw new Error("boom in a test"); });',
  rejection: 'void Promise.reject(new Error("boom in a test"));',
};

/** A daemon in which SIGUSR2 runs this code. */
async function startWith(code: string, more = ""): Promise<TestDaemon> {
  const home = mkdtempSync(join(tmpdir(), "blemees-crash-"));
  const file = join(home, "preload.mjs");
  writeFileSync(file, `${more}\nprocess.on("SIGUSR2", () => { ${code} });\n`);
  return startDaemon({ home, env: { NODE_OPTIONS: `--import ${file}`, BLEMEESD_SHUTDOWN_GRACE: "600" } });
}

test.each(Object.entries(FAULTS))(
  "an uncaught %s: exit 1, the stack is logged, and the next daemon continues with the agent",
  async (_name, code) => {
    const daemon = await startWith(code);
    const client = await daemon.connect();
    const session_id = newId();
    const opened = await client.open(session_id);
    say(client, session_id, "#hang");
    await client.next((frame) => frame["category"] === "task_started");
    process.kill(daemon.pid, "SIGUSR2");
    expect(await daemon.exited).toEqual({ code: 1, signal: null });
    await client.closed;
    expect(client.frames.at(-1)).toMatchObject({ code: "daemon_shutdown" });
    expect(daemon.log()).toMatch(/"stack":"Error: boom in a test\\n\s+at .*"event":"daemon.crashed"/);
    expect(isRunning(Number(opened["subprocess_pid"]))).toBe(true);
    expect(existsSync(daemon.socket)).toBe(false);

    const next = await startDaemon({ home: daemon.home });
    try {
      const again = await next.connect();
      const reopened = await again.open(session_id, {}, { resume: true, last_seen_seq: 0 });
      expect(reopened["subprocess_pid"]).toBe(opened["subprocess_pid"]);
      again.send({ type: "blemeesd.interrupt", session_id });
      expect(await again.next(isOf("agent.result", session_id))).toMatchObject({ subtype: "interrupted" });
      expect((await again.turn(session_id, "#say back"))["subtype"]).toBe("success");
    } finally {
      await next.close();
    }
  },
);

test("a shutdown that hangs after an exception is bounded", async () => {
  const hang = 'import net from "node:net"; net.Server.prototype.close = function () { return this; };';
  const daemon = await startWith(FAULTS.exception, hang);
  process.kill(daemon.pid, "SIGUSR2");
  expect(await daemon.exited).toEqual({ code: 1, signal: null });
  expect(daemon.log()).toContain("daemon.shutdown_forced");
  await daemon.close();
});
