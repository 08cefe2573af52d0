// A daemon that stops and leaves its agents running: no signal, no result, no orphaned request; and one that is asked to stop
// over its socket.
import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { HttpClient } from "../../src/client/index.ts";
import { isRunning } from "../backends/processes.ts";
import { told } from "../servers/socket/asking.ts";
import { isOf, newId, say } from "../servers/socket/talk.ts";
import { startDaemon, type TestDaemon } from "../support/daemon.ts";
import { PATIENT } from "../support/patience.ts";
import type { Frame, RawClient } from "../support/raw-client.ts";

const daemons: TestDaemon[] = [];
const agents: number[] = [];
afterEach(async () => {
  for (const pid of agents.splice(0).filter(isRunning)) process.kill(pid, "SIGKILL");
  for (const daemon of daemons.splice(0)) await daemon.close();
});

/** Its agents outlive their stdin, so that only a signal ends them. */
async function start(args: string[] = [], env: Record<string, string> = {}): Promise<TestDaemon> {
  const home = mkdtempSync(join(tmpdir(), "blemees-leave-"));
  const log = { BLEMEESD_EVENT_LOG_DIR: join(home, "log") };
  const daemon = await startDaemon({
    home,
    args,
    env: { FAKE_CLAUDE_FAULT: "ignore-eof", BLEMEESD_SHUTDOWN_GRACE: "600", ...log, ...env },
  });
  daemons.push(daemon);
  return daemon;
}

/** A session in a turn that never ends. */
async function busy(client: RawClient): Promise<{ session_id: string; pid: number }> {
  const session_id = newId();
  const pid = Number((await client.open(session_id))["subprocess_pid"]);
  agents.push(pid);
  say(client, session_id, "#hang");
  await client.next(isOf("agent.notice", session_id));
  return { session_id, pid };
}

function framesOf({ home }: TestDaemon, session_id: string): Frame[] {
  const text = readFileSync(join(home, "log", `${session_id}.jsonl`), "utf8").trimEnd();
  return text.split("\n").map((line) => JSON.parse(line));
}

const http = (daemon: TestDaemon): HttpClient => new HttpClient({ socket: daemon.socket, retry: false });

const WAYS: [string, string[], (daemon: TestDaemon) => Promise<unknown>][] = [
  ["SIGTERM with --leave-agents", ["--leave-agents"], (daemon) => daemon.kill("SIGTERM")],
  ["POST /daemon/stop", [], (daemon) => http(daemon).stopDaemon({ leave_agents: true })],
];

describe.each(WAYS)("%s", (_what, args, stop) => {
  test("leaves idle and working agents running, records nothing about them, and exits with 0 at once", async () => {
    const daemon = await start(args);
    const client = await daemon.connect();
    const { session_id, pid } = await busy(client);
    const idle = newId();
    const idlePid = Number((await client.open(idle))["subprocess_pid"]);
    agents.push(idlePid);
    const seen = client.frames.filter((frame) => frame["session_id"] === session_id && "seq" in frame);
    await stop(daemon);
    expect(await daemon.exited).toEqual({ code: 0, signal: null });
    expect([pid, idlePid].map(isRunning)).toEqual([true, true]);
    expect(existsSync(daemon.socket)).toBe(false);
    expect(framesOf(daemon, session_id)).toEqual(seen);
    await client.closed;
    expect(client.frames.at(-1)).toMatchObject({ type: "blemeesd.error", code: "daemon_shutdown" });
    expect(daemon.log()).not.toMatch(/backend\.exit|shutdown_forced|shutdown_waiting/);
  });

  test("leaves a pending request pending", async () => {
    const daemon = await start(args);
    const client = await daemon.connect();
    const session_id = newId();
    agents.push(Number((await client.open(session_id, { approvals: true }))["subprocess_pid"]));
    say(client, session_id, "#ask mkdir x");
    await told(client, session_id, "pending");
    await stop(daemon);
    expect((await daemon.exited).code).toBe(0);
    expect(framesOf(daemon, session_id).at(-1)).toMatchObject({ category: "request_pending" });
  });
});

describe("a stop over the socket", () => {
  test("without leave_agents ends the agents, after the grace time", async () => {
    const daemon = await start([], { BLEMEESD_SHUTDOWN_GRACE: "0" });
    const { session_id, pid } = await busy(await daemon.connect());
    const { running_agents } = await http(daemon).status();
    expect(running_agents).toBe(1);
    expect(await http(daemon).stopDaemon()).toEqual({ pid: daemon.pid, leaving_agents: false });
    expect((await daemon.exited).code).toBe(0);
    expect(isRunning(pid)).toBe(false);
    expect(framesOf(daemon, session_id).at(-1)).toMatchObject({ type: "agent.result" });
  });

  test("ends the agents if asked to, whatever the setting says", async () => {
    const daemon = await start(["--leave-agents"], { BLEMEESD_SHUTDOWN_GRACE: "0" });
    const { pid } = await busy(await daemon.connect());
    expect(await http(daemon).stopDaemon({ leave_agents: false })).toMatchObject({ leaving_agents: false });
    expect((await daemon.exited).code).toBe(0);
    expect(isRunning(pid)).toBe(false);
  });

  test("does not leave agents that no other daemon could find, because the history is only in memory", async () => {
    const memory = { BLEMEESD_STORE: "memory", BLEMEESD_EVENT_LOG_DIR: "", BLEMEESD_SHUTDOWN_GRACE: "0" };
    const daemon = await start(["--leave-agents"], memory);
    const { pid } = await busy(await daemon.connect());
    expect(await http(daemon).stopDaemon({ leave_agents: true })).toMatchObject({ leaving_agents: false });
    expect((await daemon.exited).code).toBe(0);
    expect(isRunning(pid)).toBe(false);
  });

  test("is refused while the daemon already stops", async () => {
    const daemon = await start();
    const { pid } = await busy(await daemon.connect());
    await http(daemon).stopDaemon();
    await expect
      .poll(
        () =>
          http(daemon)
            .health()
            .catch(({ code }) => code),
        PATIENT,
      )
      .toBe("daemon_shutdown");
    await expect(http(daemon).stopDaemon({ leave_agents: true })).rejects.toMatchObject({
      code: "daemon_shutdown",
    });
    await daemon.kill("SIGTERM"); // ends the turn
    expect(isRunning(pid)).toBe(false);
  });
});
