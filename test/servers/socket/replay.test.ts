// Replay on open, from every position, and the gap notice that comes first.
import { describe, expect, test } from "vitest";
import { startDaemon, type TestDaemon } from "../../support/daemon.ts";
import type { RawClient } from "../../support/raw-client.ts";
import { checkOutbound } from "../../support/schemas.ts";
import {
  ask,
  barrier,
  introduced,
  isOf,
  newId,
  openDemo,
  range,
  say,
  seqsOf,
  streamOf,
  useDaemon,
} from "./talk.ts";

const daemon = useDaemon({ env: { BLEMEESD_RING_BUFFER_SIZE: "16" } });

/** A session with some history, detached. */
async function history(): Promise<{ session_id: string; last: number }> {
  const client = await daemon.connect();
  const session_id = newId();
  await openDemo(client, session_id);
  const result = await client.turn(session_id, "history ".repeat(30));
  await ask(client, "close", { session_id });
  return { session_id, last: Number(result["seq"]) };
}

/** The frames after `opened`, up to the restarted agent's introduction: the seqs, and how far it got. */
async function replayed(
  client: RawClient,
  session_id: string,
  last: number,
  more: object,
): Promise<{ got: string[]; opened: number; end: number }> {
  const opened = await openDemo(client, session_id, { resume: true, ...more });
  expect(opened.type).toBe("blemeesd.opened");
  const { seq } = await introduced(client, session_id, last);
  await barrier(client);
  const at = client.frames.indexOf(opened);
  const got = client.frames
    .slice(at + 1, -1)
    .map((frame) => ("seq" in frame ? String(frame["seq"]) : frame.type));
  return { got, opened: Number(opened["last_seq"]), end: Number(seq) };
}

describe("with a log", () => {
  test.each([
    ["nothing seen", () => 0],
    ["something seen, long out of the ring", () => 3],
    ["all but one seen", (last: number) => last - 1],
  ])("%s: exactly what follows is replayed, in order", async (_name, seenOf) => {
    const { session_id, last } = await history();
    expect(last).toBeGreaterThan(20);
    const last_seen_seq = seenOf(last);
    const client = await daemon.connect();
    const { got, end } = await replayed(client, session_id, last, { last_seen_seq });
    expect(got).toEqual(range(last_seen_seq + 1, end).map(String));
  });

  test("all seen: nothing is replayed and live frames follow", async () => {
    const { session_id, last } = await history();
    const client = await daemon.connect();
    const { got, end } = await replayed(client, session_id, last, { last_seen_seq: last });
    expect(got).toEqual(range(last + 1, end).map(String));
    expect((await client.turn(session_id, "live"))["subtype"]).toBe("success");
  });

  test("omitted: what the ring holds is replayed", async () => {
    const { session_id, last } = await history();
    const client = await daemon.connect();
    const { got, opened, end } = await replayed(client, session_id, last, {});
    expect(got).toEqual(range(opened - 15, end).map(String));
  });

  test("more seen than there is: the reset of the history is reported", async () => {
    const { session_id, last } = await history();
    const client = await daemon.connect();
    const opened = await openDemo(client, session_id, { resume: true, last_seen_seq: last + 500 });
    const next = Number(opened["last_seq"]) + 1;
    expect(await client.next("blemeesd.replay_gap")).toEqual({
      type: "blemeesd.replay_gap",
      session_id,
      since_seq: last + 500,
      first_available_seq: next,
    });
    await client.turn(session_id, "live");
    expect(seqsOf(client, session_id)[0]).toBe(next);
  });

  test("a fresh open of a known id replays nothing, and its seq continues", async () => {
    const { session_id, last } = await history();
    const client = await daemon.connect();
    const opened = await openDemo(client, session_id);
    expect(opened["last_seq"]).toBeGreaterThanOrEqual(last);
    await client.turn(session_id, "fresh");
    expect(seqsOf(client, session_id)[0]).toBe(last + 1);
  });

  test("while a turn streams, replay and live frames do not mix and nothing comes twice", async () => {
    const owner = await daemon.connect();
    const session_id = newId();
    await owner.open(session_id, { include_partial_messages: true });
    say(owner, session_id, "#flood 3000 10 #slow 20 5 #flood 500 10");
    await owner.next((frame) => Number(frame["seq"]) > 1000);
    const watcher = await daemon.connect();
    await ask(watcher, "watch", { session_id, last_seen_seq: 0 });
    const result = await watcher.next(isOf("agent.result", session_id));
    expect(seqsOf(watcher, session_id)).toEqual(range(1, Number(result["seq"])));
    await owner.next(isOf("agent.result", session_id));
    expect(streamOf(watcher, session_id)).toEqual(streamOf(owner, session_id));
  });
});

describe("without a log (store = memory)", () => {
  let memory: TestDaemon;
  const within = async (test: (client: RawClient) => Promise<void>) => {
    memory = await startDaemon({ env: { BLEMEESD_STORE: "memory", BLEMEESD_RING_BUFFER_SIZE: "16" } });
    try {
      const client = await memory.connect();
      await test(client);
      checkOutbound(client.frames);
    } finally {
      await memory.close();
    }
  };

  test("what left the ring is a gap: reported once, first, without a seq; then the ring, then live", () =>
    within(async (client) => {
      await openDemo(client, "s");
      const last = Number((await client.turn("s", "history"))["seq"]);
      const reader = await memory.connect();
      await openDemo(reader, "s", { resume: true, last_seen_seq: 2 });
      await reader.turn("s", "live");
      const at = reader.frames.findIndex((frame) => frame.type === "blemeesd.opened");
      expect(reader.frames[at + 1]).toEqual({
        type: "blemeesd.replay_gap",
        session_id: "s",
        since_seq: 2,
        first_available_seq: last - 15,
      });
      const end = seqsOf(reader, "s").at(-1) ?? 0;
      expect(seqsOf(reader, "s").slice(0, 16)).toEqual(range(last - 15, last));
      expect(end).toBeGreaterThanOrEqual(last);
      expect(reader.frames.filter((frame) => frame.type === "blemeesd.replay_gap")).toHaveLength(1);
    }));

  test("no gap when the next frame is still in the ring; close without delete keeps nothing", () =>
    within(async (client) => {
      await openDemo(client, "s");
      const last = Number((await client.turn("s", "history"))["seq"]);
      const reader = await memory.connect();
      await openDemo(reader, "s", { resume: true, last_seen_seq: last - 16 });
      await reader.next((frame) => frame["seq"] === last);
      expect(reader.frames.some((frame) => frame.type === "blemeesd.replay_gap")).toBe(false);
      await ask(reader, "close", { session_id: "s" });
      expect(await ask(reader, "session_info", { session_id: "s" })).toMatchObject({
        code: "session_unknown",
      });
      expect((await ask(reader, "status"))["config"]).toMatchObject({
        event_log_enabled: false,
        ring_buffer_size: 16,
      });
    }));
});
