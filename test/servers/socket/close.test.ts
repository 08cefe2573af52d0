// Closing a session.
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { isRunning } from "../../backends/processes.ts";
import {
  ask,
  barrier,
  info,
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

const daemon = useDaemon();

/** The transcript that the fake wrote for a session. */
function transcriptsOf(session_id: string): string[] {
  const projects = join(daemon.current.home, "claude/projects");
  return readdirSync(projects)
    .map((name) => join(projects, name, `${session_id}.jsonl`))
    .filter((path) => existsSync(path));
}

describe("close", () => {
  test("is acknowledged when the agent is gone", async () => {
    const client = await daemon.connect();
    const session_id = newId();
    const opened = await client.open(session_id);
    expect(await ask(client, "close", { session_id, id: "c" })).toEqual({
      type: "blemeesd.closed",
      id: "c",
      session_id,
    });
    expect(isRunning(Number(opened["subprocess_pid"]))).toBe(false);
    expect(await ask(client, "watch", { session_id })).toMatchObject({ code: "session_unknown" });
  });

  test("keeps the history: a later resume replays it and seq continues", async () => {
    const client = await daemon.connect();
    const session_id = newId();
    await openDemo(client, session_id);
    const result = await client.turn(session_id, "remember me");
    const last = Number(result["seq"]);
    await ask(client, "close", { session_id });
    const reader = await daemon.connect();
    const opened = await openDemo(reader, session_id, { resume: true, last_seen_seq: 0 });
    expect(opened["last_seq"]).toBeGreaterThanOrEqual(last);
    const { length } = streamOf(client, session_id);
    await introduced(reader, session_id, last);
    expect(streamOf(reader, session_id).slice(0, length)).toEqual(streamOf(client, session_id));
    await reader.turn(session_id, "more");
    expect(seqsOf(reader, session_id)).toEqual(range(1, seqsOf(reader, session_id).length));
  });

  test("with delete removes the history but not the agent's own transcript", async () => {
    const client = await daemon.connect();
    const session_id = newId();
    await client.open(session_id);
    await client.turn(session_id, "#say kept by claude");
    await ask(client, "close", { session_id, delete: true });
    expect(transcriptsOf(session_id)).toHaveLength(1);
    const opened = await client.open(session_id, {}, { resume: true, last_seen_seq: 0 });
    expect(opened).toMatchObject({ type: "blemeesd.opened", last_seq: 0 });
    await client.turn(session_id, "#context");
    expect(seqsOf(client, session_id).at(-1)).toBeLessThan(10);
  });

  test("with delete forgets a session of an agent that keeps nothing", async () => {
    const client = await daemon.connect();
    const session_id = newId();
    await openDemo(client, session_id);
    await client.turn(session_id, "hello");
    await ask(client, "close", { session_id });
    expect(await info(client, session_id)).toMatchObject({ turns: 1, attached: false });
    await openDemo(client, session_id, { resume: true });
    await ask(client, "close", { session_id, delete: true });
    expect(await info(client, session_id)).toMatchObject({ code: "session_unknown" });
  });

  test("a running turn gets its result, for watchers and for the log", async () => {
    const [owner, watcher] = [await daemon.connect(), await daemon.connect()];
    const session_id = newId();
    await owner.open(session_id, { include_partial_messages: true });
    await ask(watcher, "watch", { session_id });
    say(owner, session_id, "#slow 1000 5");
    await owner.next(isOf("agent.delta", session_id));
    await ask(owner, "close", { session_id });
    await watcher.next("blemeesd.session_closed");
    expect(streamOf(watcher, session_id).at(-1)).toMatchObject({
      type: "agent.result",
      subtype: "interrupted",
    });
    const last = seqsOf(watcher, session_id).at(-1) ?? 0;
    await owner.open(session_id, {}, { resume: true, last_seen_seq: last - 1 });
    expect(await owner.next(isOf("agent.result", session_id))).toMatchObject({
      seq: last,
      subtype: "interrupted",
    });
  });

  test("watchers get session_closed before the closer gets closed, and the closer does not get it", async () => {
    const [owner, watcher] = [await daemon.connect(), await daemon.connect()];
    const session_id = newId();
    await openDemo(owner, session_id);
    await ask(watcher, "watch", { session_id });
    await ask(owner, "watch", { session_id }); // an owner may watch its own session
    await ask(owner, "unwatch", { session_id });
    await ask(owner, "close", { session_id });
    // The closer has `closed`, so the watcher's notice was sent before.
    expect(await watcher.next("blemeesd.session_closed")).toEqual({
      type: "blemeesd.session_closed",
      session_id,
      reason: "owner_closed",
    });
    await barrier(owner);
    expect(owner.frames.some((frame) => frame.type === "blemeesd.session_closed")).toBe(false);
    expect(await ask(watcher, "watch", { session_id })).toMatchObject({ code: "session_unknown" });
  });

  test("of an unknown or foreign session is acknowledged and does nothing", async () => {
    const [owner, other] = [await daemon.connect(), await daemon.connect()];
    const session_id = newId();
    await openDemo(owner, session_id);
    for (const id of [session_id, newId()]) {
      expect(await ask(other, "close", { session_id: id, delete: true })).toMatchObject({
        type: "blemeesd.closed",
      });
    }
    expect((await owner.turn(session_id, "still here"))["subtype"]).toBe("success");
  });

  test('delete:"false" is refused and deletes nothing', async () => {
    const client = await daemon.connect();
    const session_id = newId();
    await openDemo(client, session_id);
    expect(await ask(client, "close", { session_id, delete: "false" })).toMatchObject({
      code: "invalid_message",
      message: expect.stringContaining("/delete"),
    });
    expect((await client.turn(session_id, "still here"))["subtype"]).toBe("success");
  });

  test("an open right after a close of the same id gets a fresh agent", async () => {
    const client = await daemon.connect();
    const session_id = newId();
    const first = await client.open(session_id);
    await client.turn(session_id, "#say first life");
    client.send({ type: "blemeesd.close", session_id });
    const second = await client.open(session_id, {}, { resume: true, last_seen_seq: 1000 });
    expect(second.type).toBe("blemeesd.opened");
    expect(second["subprocess_pid"]).not.toBe(first["subprocess_pid"]);
    expect((await client.turn(session_id, "#say second life"))["subtype"]).toBe("success");
  });
});
