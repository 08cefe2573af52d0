// Spec §5.14: observers.
import { describe, expect, test } from "vitest";
import {
  ask,
  barrier,
  isOf,
  newId,
  openDemo,
  range,
  say,
  seen,
  seqsOf,
  streamOf,
  useDaemon,
} from "./talk.ts";

const daemon = useDaemon();

describe("a watcher", () => {
  test("sees what the owner sees: events, stderr, crashes, with the same seq", async () => {
    const [owner, watcher] = [await daemon.connect(), await daemon.connect()];
    const session_id = newId();
    await owner.open(session_id);
    expect(await ask(watcher, "watch", { session_id, id: "w" })).toEqual({
      type: "blemeesd.watching",
      id: "w",
      session_id,
      last_seq: 0,
    });
    await owner.turn(session_id, "#stderr 2 #crash 3");
    await watcher.next(isOf("agent.result", session_id));
    expect(streamOf(watcher, session_id)).toEqual(streamOf(owner, session_id));
    expect(watcher.frames.map((frame) => frame["code"])).toContain("backend_crashed");
  });

  test("gets no history unless it asks, and all of it from where it asks", async () => {
    const owner = await daemon.connect();
    const session_id = newId();
    await openDemo(owner, session_id);
    const last = Number((await owner.turn(session_id, "history"))["seq"]);
    const [live, half, full] = [await daemon.connect(), await daemon.connect(), await daemon.connect()];
    expect((await ask(live, "watch", { session_id }))["last_seq"]).toBe(last);
    await ask(half, "watch", { session_id, last_seen_seq: 5 });
    await ask(full, "watch", { session_id, last_seen_seq: 0 });
    const end = Number((await owner.turn(session_id, "live"))["seq"]);
    for (const client of [live, half, full]) await seen(client, (frame) => frame["seq"] === end);
    expect(seqsOf(live, session_id)).toEqual(range(last + 1, end));
    expect(seqsOf(half, session_id)).toEqual(range(6, end));
    expect(seqsOf(full, session_id)).toEqual(range(1, end));
  });

  test("cannot drive: user, interrupt and close are the owner's", async () => {
    const [owner, watcher] = [await daemon.connect(), await daemon.connect()];
    const session_id = newId();
    await owner.open(session_id);
    await ask(watcher, "watch", { session_id });
    say(owner, session_id, "#slow 10 10");
    await watcher.next(isOf("agent.notice", session_id));
    say(watcher, session_id, "me too");
    expect(await watcher.next("blemeesd.error")).toMatchObject({ code: "session_unknown" });
    watcher.send({ type: "blemeesd.interrupt", session_id });
    await watcher.next((frame) => frame.type === "blemeesd.interrupted" && frame["was_idle"] === true);
    await ask(watcher, "close", { session_id });
    expect((await owner.next(isOf("agent.result", session_id)))["subtype"]).toBe("success");
  });

  test("that unwatches gets nothing more, and is told whether it watched", async () => {
    const [owner, watcher] = [await daemon.connect(), await daemon.connect()];
    const session_id = newId();
    await openDemo(owner, session_id);
    await ask(watcher, "watch", { session_id });
    expect(await ask(watcher, "unwatch", { session_id, id: "u" })).toEqual({
      type: "blemeesd.unwatched",
      id: "u",
      session_id,
      was_watching: true,
    });
    await owner.turn(session_id, "unheard");
    for (const id of [session_id, newId()]) {
      expect(await ask(watcher, "unwatch", { session_id: id })).toMatchObject({ was_watching: false });
    }
    expect(streamOf(watcher, session_id)).toEqual([]);
  });

  test("that watches twice hears everything once", async () => {
    const [owner, watcher] = [await daemon.connect(), await daemon.connect()];
    const session_id = newId();
    await openDemo(owner, session_id);
    const before = seqsOf(owner, session_id).length;
    await ask(watcher, "watch", { session_id });
    await ask(watcher, "watch", { session_id });
    const end = Number((await owner.turn(session_id, "once"))["seq"]);
    await seen(watcher, (frame) => frame["seq"] === end);
    await barrier(watcher);
    expect(seqsOf(watcher, session_id)).toEqual(range(before + 1, end));
  });

  test("stays when the session changes its owner, and is not told session_taken", async () => {
    const [ann, bob, watcher] = [await daemon.connect(), await daemon.connect(), await daemon.connect()];
    const session_id = newId();
    await openDemo(ann, session_id);
    await ask(watcher, "watch", { session_id });
    await openDemo(bob, session_id, { resume: true });
    const end = Number((await bob.turn(session_id, "new owner"))["seq"]);
    await seen(watcher, (frame) => frame["seq"] === end);
    expect(watcher.frames.some((frame) => frame.type === "blemeesd.session_taken")).toBe(false);
  });

  test("stays when the owner leaves in the middle of a turn", async () => {
    const [owner, watcher] = [await daemon.connect(), await daemon.connect()];
    const session_id = newId();
    await owner.open(session_id);
    await ask(watcher, "watch", { session_id });
    say(owner, session_id, "#slow 10 10 #say to the end");
    await watcher.next(isOf("agent.notice", session_id));
    owner.close();
    expect((await watcher.next(isOf("agent.result", session_id)))["subtype"]).toBe("success");
  });

  test("an unknown session is session_unknown", async () => {
    const client = await daemon.connect();
    const session_id = newId();
    expect(await ask(client, "watch", { session_id, id: "w" })).toMatchObject({
      type: "blemeesd.error",
      id: "w",
      session_id,
      code: "session_unknown",
    });
  });

  test("many of them all hear the same", async () => {
    const owner = await daemon.connect();
    const session_id = newId();
    await openDemo(owner, session_id);
    const before = seqsOf(owner, session_id).length;
    const watchers = await Promise.all(range(1, 50).map(() => daemon.connect()));
    for (const watcher of watchers) await ask(watcher, "watch", { session_id });
    const end = Number((await owner.turn(session_id, "to all"))["seq"]);
    for (const watcher of watchers) {
      await seen(watcher, (frame) => frame["seq"] === end);
      expect(seqsOf(watcher, session_id)).toEqual(range(before + 1, end));
    }
  });
});
