// Owners that leave, return, or take over.
import { describe, expect, test } from "vitest";
import { isRunning } from "../../backends/processes.ts";
import type { RawClient } from "../../support/raw-client.ts";
import {
  ask,
  barrier,
  info,
  isOf,
  lastText,
  newId,
  openDemo,
  range,
  say,
  seen,
  seqsOf,
  streamOf,
  until,
  useDaemon,
} from "./talk.ts";

const daemon = useDaemon();
const resume = (last_seen_seq = 0) => ({ resume: true, last_seen_seq });

/** A session with a running turn that ends on its own after about `ms`. */
async function busy(ms: number): Promise<{ client: RawClient; session_id: string; pid: number }> {
  const client = await daemon.connect();
  const session_id = newId();
  const opened = await client.open(session_id, { include_partial_messages: true });
  say(client, session_id, `#slow ${Math.ceil(ms / 10)} 10 #say all done`);
  await client.next(isOf("agent.delta", session_id));
  return { client, session_id, pid: Number(opened["subprocess_pid"]) };
}

describe("takeover", () => {
  test("the old owner is notified before the new one is served; its connection and other sessions survive", async () => {
    const [old, next] = [await daemon.connect(), await daemon.connect()];
    const [session_id, other] = [newId(), newId()];
    await openDemo(old, session_id);
    await openDemo(old, other);
    const before = streamOf(old, session_id);
    const opened = await openDemo(next, session_id, resume());
    expect(opened.type).toBe("blemeesd.opened");
    expect(await old.next("blemeesd.session_taken")).toEqual({
      type: "blemeesd.session_taken",
      session_id,
      by_peer_pid: process.pid,
    });
    await next.turn(session_id, "mine now");
    expect((await old.turn(other, "still mine"))["subtype"]).toBe("success");
    await barrier(old);
    expect(streamOf(old, session_id)).toEqual(before);
  });

  test("the ex-owner may no longer drive, and may take it back", async () => {
    const [ann, bob] = [await daemon.connect(), await daemon.connect()];
    const session_id = newId();
    await openDemo(ann, session_id);
    await openDemo(bob, session_id, resume());
    say(ann, session_id, "hello?");
    expect(await ann.next("blemeesd.error")).toMatchObject({ code: "session_unknown" });
    await openDemo(ann, session_id, resume());
    expect(await bob.next("blemeesd.session_taken")).toMatchObject({ session_id });
    expect((await ann.turn(session_id, "hello!"))["subtype"]).toBe("success");
  });

  test("in the middle of a turn: the new owner gets all of it, the old one nothing more, the agent is the same", async () => {
    const { client: old, session_id, pid } = await busy(300);
    const next = await daemon.connect();
    const opened = await next.open(session_id, {}, resume());
    expect(opened["subprocess_pid"]).toBe(pid);
    await old.next("blemeesd.session_taken");
    const before = seqsOf(old, session_id).length;
    const result = await next.next(isOf("agent.result", session_id));
    expect(result["subtype"]).toBe("success");
    await barrier(old);
    expect(seqsOf(old, session_id)).toHaveLength(before);
    expect(seqsOf(next, session_id)).toEqual(range(1, Number(result["seq"])));
    expect((await next.turn(session_id, "#say goes on"))["subtype"]).toBe("success");
  });

  test("opening one's own session again is no takeover", async () => {
    const client = await daemon.connect();
    const session_id = newId();
    await openDemo(client, session_id);
    await client.turn(session_id, "hello");
    const opened = await openDemo(client, session_id, resume(10_000));
    expect(opened.type).toBe("blemeesd.opened");
    await barrier(client);
    expect(client.frames.some((frame) => frame.type === "blemeesd.session_taken")).toBe(false);
  });

  test("that fails takes nothing: the owner keeps the session", async () => {
    const [owner, other] = [await daemon.connect(), await daemon.connect()];
    const session_id = newId();
    await openDemo(owner, session_id);
    const bad = { options: { demo: { nonsense: 1 } }, ...resume() };
    expect(await openDemo(other, session_id, bad)).toMatchObject({ code: "invalid_message" });
    expect((await owner.turn(session_id, "mine"))["subtype"]).toBe("success");
    await barrier(owner);
    expect(owner.frames.some((frame) => frame.type === "blemeesd.session_taken")).toBe(false);
  });

  test("a stalled owner does not hold it up", async () => {
    const { client: stalled, session_id } = await busy(20);
    stalled.socket.pause();
    const next = await daemon.connect();
    await until(
      () => info(next, session_id),
      (row) => row["turns"] === 1,
    );
    expect(await next.open(session_id, {}, resume())).toMatchObject({ type: "blemeesd.opened" });
    expect((await next.turn(session_id, "#say taken"))["subtype"]).toBe("success");
    stalled.socket.resume();
    await seen(stalled, (frame) => frame.type === "blemeesd.session_taken");
  });
});

describe("a connection that closes", () => {
  test("without a turn: the agent is ended, the session stays for a resume, detached", async () => {
    const client = await daemon.connect();
    const session_id = newId();
    const opened = await client.open(session_id);
    await client.turn(session_id, "#say first");
    client.close();
    const other = await daemon.connect();
    const row = await until(
      () => info(other, session_id),
      (found) => found["subprocess_running"] === false,
    );
    expect(row).toMatchObject({ attached: false, turns: 1 });
    await until(
      async () => isRunning(Number(opened["subprocess_pid"])),
      (alive) => !alive,
    );
    const again = await other.open(session_id, {}, resume(100));
    expect(again).toMatchObject({ type: "blemeesd.opened" });
    await other.turn(session_id, "#context");
    expect(lastText(other, session_id)).toContain("#say first");
  });

  test("in the middle of a turn: the turn continues to its result, then the agent exits on its own", async () => {
    const { client, session_id, pid } = await busy(200);
    client.close();
    const other = await daemon.connect();
    expect(await info(other, session_id)).toMatchObject({ subprocess_running: true });
    const row = await until(
      () => info(other, session_id),
      (found) => found["subprocess_running"] === false,
    );
    expect(row).toMatchObject({ turns: 1, attached: false });
    expect(isRunning(pid)).toBe(false);
    await other.open(session_id, {}, resume());
    const result = await other.next(isOf("agent.result", session_id));
    expect(result["subtype"]).toBe("success");
    expect(seqsOf(other, session_id)).toEqual(range(1, Number(result["seq"])));
    expect(lastText(other, session_id)).toBe("all done");
  });

  test("and is back before the turn ends: it sees the rest live, and the agent is not killed at the result", async () => {
    const { client, session_id, pid } = await busy(300);
    const last = seqsOf(client, session_id).at(-1) ?? 0;
    client.close();
    const back = await daemon.connect();
    const opened = await back.open(session_id, {}, resume(last));
    expect(opened["subprocess_pid"]).toBe(pid);
    const result = await back.next(isOf("agent.result", session_id));
    expect(seqsOf(back, session_id)).toEqual(range(last + 1, Number(result["seq"])));
    expect((await back.turn(session_id, "#say same agent"))["subtype"]).toBe("success");
    expect(isRunning(pid)).toBe(true);
  });

  test("and reconnects at once never meets the dying agent", async () => {
    const session_id = newId();
    const first = await daemon.connect();
    await first.open(session_id);
    await first.turn(session_id, "#say one");
    first.close();
    for (const n of [2, 3, 4]) {
      const client = await daemon.connect();
      expect(await client.open(session_id, {}, resume(10_000))).toMatchObject({ type: "blemeesd.opened" });
      const result = await client.turn(session_id, `#say ${n}`);
      expect(result["subtype"]).toBe("success");
      expect(client.frames.filter((frame) => frame.type === "blemeesd.error")).toEqual([]);
      client.close();
    }
  });

  test("takes its watches with it", async () => {
    const [owner, watcher] = [await daemon.connect(), await daemon.connect()];
    const session_id = newId();
    await openDemo(owner, session_id);
    await ask(watcher, "watch", { session_id });
    watcher.close();
    expect((await owner.turn(session_id, "nobody listens"))["subtype"]).toBe("success");
  });
});
