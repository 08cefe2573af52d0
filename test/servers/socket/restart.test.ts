// The daemon stops or is killed and restarts: what clients saw still exists, and seq continues. Both store drivers.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { isRunning } from "../../backends/processes.ts";
import { startDaemon, type TestDaemon } from "../../support/daemon.ts";
import type { Frame, RawClient } from "../../support/raw-client.ts";
import { checkOutbound } from "../../support/schemas.ts";
import { ask, info, isOf, lastText, newId, openDemo, range, say, seqsOf, streamOf, until } from "./talk.ts";

const DRIVERS = [
  ["sqlite", () => ({})],
  ["jsonl", (home: string) => ({ BLEMEESD_EVENT_LOG_DIR: join(home, "log") })],
] as const;

describe.each(DRIVERS)("%s", (driver, envOf) => {
  let home: string;
  let daemon: TestDaemon | undefined;

  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), `blemees-${driver}-`));
  });
  afterEach(async () => {
    await daemon?.close();
    daemon = undefined;
    rmSync(home, { recursive: true, force: true });
  });

  const start = async (): Promise<RawClient> => {
    // On pipes an agent ends with its daemon; how others go on is in test/outlive.
    daemon = await startDaemon({ home, env: { BLEMEESD_AGENT_STDIO: "pipes", ...envOf(home) } });
    return daemon.connect();
  };
  const stop = async (signal: NodeJS.Signals, client: RawClient): Promise<void> => {
    await daemon?.kill(signal);
    await client.closed;
    checkOutbound(client.frames);
  };

  test("after SIGTERM the whole history is replayed, seq, counters and title continue", async () => {
    const session_id = newId();
    let client = await start();
    await client.open(session_id, { include_partial_messages: true });
    await client.turn(session_id, "#say before the stop");
    const before = streamOf(client, session_id);
    const row = await info(client, session_id);
    await stop("SIGTERM", client);

    client = await start();
    expect(await info(client, session_id)).toMatchObject({
      turns: 1,
      cumulative_usage: row["cumulative_usage"] as object,
      last_seq: before.length,
      attached: false,
    });
    const opened = await client.open(
      session_id,
      { include_partial_messages: true },
      { resume: true, last_seen_seq: 0 },
    );
    expect(opened["last_seq"]).toBe(before.length);
    await client.next((frame) => frame["seq"] === before.length);
    expect(streamOf(client, session_id)).toEqual(before);
    const result = await client.turn(session_id, "#context");
    expect(lastText(client, session_id)).toContain("#say before the stop");
    expect(seqsOf(client, session_id)).toEqual(range(1, Number(result["seq"])));
    expect((await info(client, session_id))["turns"]).toBe(2);
  });

  test("after SIGKILL in a turn: nothing that was seen is lost, the cut turn gets its error and its result, the agent is gone", async () => {
    const session_id = newId();
    let client = await start();
    const opened = await client.open(session_id, { include_partial_messages: true });
    say(client, session_id, "#slow 2000 2");
    await client.next((frame) => Number(frame["seq"]) >= 40);
    await stop("SIGKILL", client);
    const before = streamOf(client, session_id);

    client = await start();
    await client.open(session_id, {}, { resume: true, last_seen_seq: 0 });
    const result = await client.next(isOf("agent.result", session_id));
    const after = streamOf(client, session_id);
    expect(after.slice(0, before.length)).toEqual(before);
    expect(seqsOf(client, session_id)).toEqual(range(1, after.length));
    expect(after.slice(-2)).toMatchObject([
      { type: "blemeesd.error", code: "backend_crashed" },
      { type: "agent.result", subtype: "error", error: { code: "backend_crashed" } },
    ]);
    expect(result["turn_id"]).toBe(turnIdOf(before));
    await until(
      async () => isRunning(Number(opened["subprocess_pid"])),
      (alive) => !alive,
    );
    const next = await client.turn(session_id, "#say alive again");
    expect(next).toMatchObject({ subtype: "success", seq: expect.any(Number) });
    expect(streamOf(client, session_id).filter((frame) => frame.type === "agent.result")).toHaveLength(2);
  });

  test("after SIGKILL between turns nothing is added", async () => {
    let client = await start();
    await openDemo(client, "s");
    const last = Number((await client.turn("s", "done"))["seq"]);
    await stop("SIGKILL", client);
    client = await start();
    expect(await openDemo(client, "s", { resume: true, last_seen_seq: last })).toMatchObject({
      last_seq: last,
    });
    await client.turn("s", "more");
    expect(seqsOf(client, "s")[0]).toBe(last + 1);
  });

  test("many kills in a row: one history without gap, duplicate or unended turn", async () => {
    const seen = new Map<number, Frame>();
    let client = await start();
    await openDemo(client, "s", { options: { demo: { pace_ms: 1 } } });
    for (const wanted of [3, 14]) {
      say(client, "s", "tell me slowly");
      const goal = (seqsOf(client, "s").at(-1) ?? 0) + wanted;
      await client.next((frame) => Number(frame["seq"]) >= goal);
      await stop("SIGKILL", client);
      for (const frame of streamOf(client, "s")) seen.set(Number(frame["seq"]), frame);
      client = await start();
      await openDemo(client, "s", { resume: true, last_seen_seq: 0, options: { demo: { pace_ms: 1 } } });
      await client.next((frame) => isOf("agent.result", "s")(frame) && Number(frame["seq"]) > goal);
      const all = streamOf(client, "s");
      expect(seqsOf(client, "s")).toEqual(range(1, all.length));
      for (const [seq, frame] of seen) expect(all[seq - 1]).toEqual(frame);
      expect(all.filter((frame) => frame["category"] === "task_started")).toHaveLength(
        all.filter((frame) => frame.type === "agent.result").length,
      );
    }
  });

  test.runIf(driver === "jsonl")(
    "the files are exactly <id>.jsonl with the frames as sent, and <id>.usage.json",
    async () => {
      const client = await start();
      const session_id = newId();
      await client.open(session_id);
      await client.turn(session_id, "#say to disk");
      const names = readdirSync(join(home, "log")).filter((name) => name.startsWith(session_id));
      expect(names.sort()).toEqual([`${session_id}.jsonl`, `${session_id}.usage.json`]);
      const lines = readFileSync(join(home, "log", `${session_id}.jsonl`), "utf8")
        .trimEnd()
        .split("\n");
      expect(lines.map((line) => JSON.parse(line))).toEqual(streamOf(client, session_id));
      const sidecar = JSON.parse(readFileSync(join(home, "log", `${session_id}.usage.json`), "utf8"));
      expect(sidecar).toMatchObject({
        session_id,
        model: "claude-fake-1",
        turns: 1,
        last_turn_at_ms: expect.any(Number),
        last_turn_usage: { input_tokens: 10 },
        cumulative_usage: { input_tokens: 10 },
        rollout_path: expect.stringContaining(`${session_id}.jsonl`),
      });
      await ask(client, "close", { session_id, delete: true });
      expect(readdirSync(join(home, "log")).filter((name) => name.startsWith(session_id))).toEqual([]);
    },
  );
});

function turnIdOf(frames: readonly Frame[]): unknown {
  const started = frames.find((frame) => frame["category"] === "task_started");
  return (started?.["data"] as { turn_id?: string })?.turn_id;
}
