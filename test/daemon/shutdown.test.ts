// How the daemon stops: clients are notified, turns may finish, nothing is left running.
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { isRunning, pidIn } from "../backends/processes.ts";
import { isOf, newId, openDemo, say } from "../servers/socket/talk.ts";
import { startDaemon, type TestDaemon } from "../support/daemon.ts";
import { RawClient } from "../support/raw-client.ts";
import { checkOutbound } from "../support/schemas.ts";
import { run } from "./program.ts";

let daemons: TestDaemon[] = [];
afterEach(async () => {
  for (const daemon of daemons) await daemon.close();
  daemons = [];
});

async function start(
  grace: string,
  driver: "jsonl" | "sqlite" = "jsonl",
  home = mkdtempSync(join(tmpdir(), "blemees-stop-")),
): Promise<TestDaemon> {
  const log = driver === "jsonl" ? { BLEMEESD_EVENT_LOG_DIR: join(home, "log") } : {};
  const daemon = await startDaemon({ home, env: { BLEMEESD_SHUTDOWN_GRACE: grace, ...log } });
  daemons.push(daemon);
  return daemon;
}

/** A daemon with one Claude session whose turn has begun. */
async function busy(grace: string, prompt: string, driver: "jsonl" | "sqlite" = "jsonl") {
  const daemon = await start(grace, driver);
  const client = await daemon.connect();
  const session_id = newId();
  const opened = await client.open(session_id, { include_partial_messages: true });
  say(client, session_id, prompt);
  await client.next((frame) => frame["category"] === "task_started");
  return { daemon, client, session_id, pid: Number(opened["subprocess_pid"]) };
}

/** The last frame of the session's history. */
function lastFrame(home: string, session_id: string): Record<string, unknown> {
  const lines = readFileSync(join(home, "log", `${session_id}.jsonl`), "utf8")
    .trimEnd()
    .split("\n");
  return JSON.parse(lines.at(-1) ?? "");
}

async function stop(
  daemon: TestDaemon,
  signal: NodeJS.Signals = "SIGTERM",
): Promise<{ code: number | null; ms: number }> {
  const startedMs = performance.now();
  await daemon.kill(signal);
  return { code: (await daemon.exited).code, ms: performance.now() - startedMs };
}

function exitTimes(log: string): number[] {
  return log
    .split("\n")
    .filter((line) => line.includes('"backend.exit"'))
    .map((line) => Date.parse((JSON.parse(line) as { ts: string }).ts));
}

describe("without a turn", () => {
  test.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)(
    "%s: clients are notified, agents ended, the socket removed, exit 0",
    async (signal) => {
      const daemon = await start("30");
      const clients = [
        await daemon.connect(),
        await daemon.connect(),
        await RawClient.connect(daemon.socket),
      ];
      const session_id = newId();
      const opened = await clients[0]?.open(session_id);
      const { code, ms } = await stop(daemon, signal);
      expect(code).toBe(0);
      expect(ms).toBeLessThan(25_000); // not the grace time
      for (const client of clients) {
        await client.closed;
        expect(client.frames.at(-1)).toMatchObject({ type: "blemeesd.error", code: "daemon_shutdown" });
        checkOutbound(client.frames);
      }
      expect(isRunning(Number(opened?.["subprocess_pid"]))).toBe(false);
      expect(existsSync(daemon.socket)).toBe(false);
    },
  );

  test("many agents are ended together, not one after another", async () => {
    const daemon = await start("30");
    const client = await daemon.connect();
    const pids: number[] = [];
    for (let n = 0; n < 6; n += 1) {
      const session_id = newId();
      pids.push(Number((await client.open(session_id))["subprocess_pid"]));
      await client.turn(session_id, "#ignore-term #say I stay");
    }
    const { code } = await stop(daemon);
    expect(code).toBe(0);
    const exits = exitTimes(daemon.log());
    expect(exits).toHaveLength(6);
    // Each takes 500 ms from SIGTERM to SIGKILL: one after another they would be five times that apart.
    expect(Math.max(...exits) - Math.min(...exits)).toBeLessThan(5 * 500);
    expect(pids.filter(isRunning)).toEqual([]);
  });
});

describe("with a turn under way", () => {
  test("within the grace time it ends normally, and its result is in the history", async () => {
    const { daemon, session_id, pid } = await busy("20", "#slow 150 10 #say finished");
    const { code } = await stop(daemon);
    expect(code).toBe(0);
    expect(daemon.log()).toContain("daemon.shutdown_waiting_for_turns");
    expect(daemon.log()).not.toContain("daemon.shutdown_grace_expired");
    expect(isRunning(pid)).toBe(false);
    expect(lastFrame(daemon.home, session_id)).toMatchObject({ type: "agent.result", subtype: "success" });
  });

  test("past the grace time it is ended and gets its result", async () => {
    const { daemon, session_id, pid } = await busy("0.3", "#hang");
    const { code, ms } = await stop(daemon);
    expect(code).toBe(0);
    expect(ms).toBeGreaterThan(250);
    expect(daemon.log()).toContain("daemon.shutdown_grace_expired");
    expect(isRunning(pid)).toBe(false);
    expect(lastFrame(daemon.home, session_id)).toMatchObject({
      type: "agent.result",
      subtype: "interrupted",
    });
  });

  test("with grace 0 it is ended at once", async () => {
    const { daemon, session_id, pid } = await busy("0", "#slow 1000 10");
    const { code } = await stop(daemon);
    expect(code).toBe(0);
    expect(daemon.log()).not.toContain("daemon.shutdown_waiting_for_turns");
    expect(isRunning(pid)).toBe(false);
    expect(lastFrame(daemon.home, session_id)).toMatchObject({
      type: "agent.result",
      subtype: "interrupted",
    });
  });

  test("an agent that ignores SIGTERM, its tool and the tool's detached processes are all gone, within the budget", async () => {
    const place = mkdtempSync(join(tmpdir(), "blemees-pids-"));
    const sleeper = (name: string) => `sh -c 'echo $$ > ${join(place, name)}; exec sleep 1000'`;
    const prompt = `#ignore-term #orphan ${sleeper("orphan")} #tool ${sleeper("tool")}`;
    const { daemon, pid } = await busy("0", prompt);
    const pids = [pid, await pidIn(join(place, "orphan")), await pidIn(join(place, "tool"))];
    const { code } = await stop(daemon);
    expect(code).toBe(0);
    expect(pids.filter(isRunning)).toEqual([]);
  });

  test("new clients get daemon_shutdown, and the turn of a disconnected client still ends", async () => {
    const { daemon, client, session_id } = await busy("20", "#slow 30 10 #say finished");
    client.close();
    const stopping = stop(daemon);
    await untilDismissed(daemon.socket);
    expect((await stopping).code).toBe(0);
    expect(lastFrame(daemon.home, session_id)).toMatchObject({ subtype: "success" });
  });

  test.each(["sqlite", "jsonl"] as const)(
    "a second daemon that is started meanwhile exits at once and takes nothing from the first one's turn: %s",
    async (driver) => {
      const go = join(mkdtempSync(join(tmpdir(), "blemees-go-")), "go");
      const prompt = `#tool while [ ! -e ${go} ]; do sleep 0.05; done #say finished`;
      const { daemon, session_id } = await busy("60", prompt, driver);
      const stopping = stop(daemon);
      await untilDismissed(daemon.socket);
      const second = run([], daemon.home);
      expect(second.status).toBe(1);
      expect(second.stderr).toContain("another blemeesd is running");
      writeFileSync(go, "");
      expect((await stopping).code).toBe(0);
      const third = await start("1", driver, daemon.home);
      const client = await third.connect();
      await client.open(session_id, {}, { resume: true, last_seen_seq: 0 });
      expect((await client.next(isOf("agent.result", session_id)))["subtype"]).toBe("success");
    },
  );

  test("a second signal stops waiting for the turn", async () => {
    const { daemon } = await busy("600", "#slow 10000 20");
    const stopping = stop(daemon);
    await untilDismissed(daemon.socket);
    process.kill(daemon.pid, "SIGTERM");
    expect((await stopping).code).toBe(0);
  });
});

test("a message that was starting the agent when the daemon stops leaves no process", async () => {
  const home = mkdtempSync(join(tmpdir(), "blemees-stop-"));
  const daemon = await startDaemon({
    home,
    env: { FAKE_CLAUDE_FAULT: "slow-start", BLEMEESD_SHUTDOWN_GRACE: "1" },
  });
  daemons.push(daemon);
  const client = await daemon.connect();
  const session_id = newId();
  await client.open(session_id);
  await client.turn(session_id, "#crash");
  const place = join(home, "pid");
  say(client, session_id, `#tool echo $$ > ${place}; sleep 300`);
  await client.request({ type: "blemeesd.ping" });
  expect((await stop(daemon)).code).toBe(0);
  const left = existsSync(place) ? [Number(readFileSync(place, "utf8"))].filter(isRunning) : [];
  expect(left).toEqual([]);
  expect(daemon.log()).not.toContain("the store is closed");
});

test("a demo session without a process stops as well", async () => {
  const daemon = await start("0");
  const client = await daemon.connect();
  await openDemo(client, "s", { options: { demo: { pace_ms: 100 } } });
  say(client, "s", "slowly please");
  await client.next(isOf("agent.delta", "s"));
  expect((await stop(daemon)).code).toBe(0);
});

/** Until new clients are refused because the daemon stops. */
async function untilDismissed(path: string): Promise<void> {
  for (;;) {
    const client = await RawClient.connect(path);
    client.send({ type: "blemeesd.hello", protocol: "blemees/2" });
    const first = await client.next(() => true).catch(() => undefined);
    client.close();
    if (first?.["code"] === "daemon_shutdown") return;
  }
}
