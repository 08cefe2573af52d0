// Watchers.
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

  test("that unwatches gets nothing more, and learns whether it was watching", async () => {
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

  test("that watches twice receives everything once", async () => {
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

  test("stays when the session changes its owner, and does not get session_taken", async () => {
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

describe("an owner that also watches", () => {
  async function ownerWatching(more: object = {}) {
    const client = await daemon.connect();
    const session_id = newId();
    await openDemo(client, session_id);
    const before = client.frames.length;
    const watching = await ask(client, "watch", { session_id, id: "w", ...more });
    const since = () => client.frames.slice(before).filter((frame) => "seq" in frame);
    return { client, session_id, watching, seqs: () => since().map((frame) => Number(frame["seq"])) };
  }

  test("gets each frame once", async () => {
    const { client, session_id, watching, seqs } = await ownerWatching();
    expect(watching).toMatchObject({ type: "blemeesd.watching", session_id });
    const end = Number((await client.turn(session_id, "once"))["seq"]);
    await barrier(client);
    expect(seqs()).toEqual(range(Number(watching["last_seq"]) + 1, end));
  });

  test("gets its replay after the reply, in order, then each live frame once", async () => {
    const { client, session_id, seqs } = await ownerWatching({ last_seen_seq: 0 });
    const end = Number((await client.turn(session_id, "again"))["seq"]);
    await barrier(client);
    expect(seqs()).toEqual(range(1, end));
  });

  test("gets them once, too, when it watched before it opened", async () => {
    const [first, client] = [await daemon.connect(), await daemon.connect()];
    const session_id = newId();
    await openDemo(first, session_id);
    const last = Number((await first.turn(session_id, "mine"))["seq"]);
    await ask(client, "watch", { session_id, last_seen_seq: 0 });
    await seen(client, (frame) => frame["seq"] === last);
    await openDemo(client, session_id, { resume: true, last_seen_seq: last });
    const end = Number((await client.turn(session_id, "yours"))["seq"]);
    await barrier(client);
    expect(seqsOf(client, session_id)).toEqual(range(1, end));
  });

  test("continues as the owner when it unwatches, and watched only once", async () => {
    const { client, session_id, watching, seqs } = await ownerWatching();
    expect(await ask(client, "unwatch", { session_id })).toMatchObject({ was_watching: true });
    expect(await ask(client, "unwatch", { session_id })).toMatchObject({ was_watching: false });
    const end = Number((await client.turn(session_id, "still mine"))["seq"]);
    expect(seqs()).toEqual(range(Number(watching["last_seq"]) + 1, end));
  });

  test("continues as a watcher when another client takes the session over", async () => {
    const { client, session_id, watching, seqs } = await ownerWatching();
    const other = await daemon.connect();
    await openDemo(other, session_id, { resume: true });
    await client.next("blemeesd.session_taken");
    const end = Number((await other.turn(session_id, "now mine"))["seq"]);
    await seen(client, (frame) => frame["seq"] === end);
    expect(seqs()).toEqual(range(Number(watching["last_seq"]) + 1, end));
    expect(await ask(client, "unwatch", { session_id })).toMatchObject({ was_watching: true });
  });

  test("is taken over without hearing more when it does not watch", async () => {
    const { client, session_id } = await ownerWatching();
    await ask(client, "unwatch", { session_id });
    const other = await daemon.connect();
    await openDemo(other, session_id, { resume: true });
    await client.next("blemeesd.session_taken");
    const heard = seqsOf(client, session_id).length;
    await other.turn(session_id, "unheard");
    await barrier(client);
    expect(seqsOf(client, session_id)).toHaveLength(heard);
  });

  test("receives the end once as a watcher, and once as the closer", async () => {
    const { client, session_id } = await ownerWatching();
    expect(await ask(client, "close", { session_id })).toMatchObject({ type: "blemeesd.closed" });
    await barrier(client);
    expect(client.frames.filter(isOf("blemeesd.session_closed", session_id))).toHaveLength(1);
  });
});

test("a client that owns on one connection and watches on another gets each frame on both", async () => {
  const [owner, watcher] = [await daemon.connect(), await daemon.connect()];
  const session_id = newId();
  await openDemo(owner, session_id);
  const { last_seq } = await ask(watcher, "watch", { session_id });
  const end = Number((await owner.turn(session_id, "both"))["seq"]);
  await seen(watcher, (frame) => frame["seq"] === end);
  const frames = range(Number(last_seq) + 1, end);
  expect(seqsOf(watcher, session_id)).toEqual(frames);
  expect(seqsOf(owner, session_id).slice(-frames.length)).toEqual(frames);
});
