// A client that does not read affects only itself.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { RawClient } from "../../support/raw-client.ts";
import { ask, info, isOf, newId, range, say, seqsOf, until, useDaemon } from "./talk.ts";

const patient = useDaemon();
const strict = useDaemon({ env: { BLEMEESD_SLOW_CONSUMER: "1" } });
/** About 16 MB: far more than all buffers on the way. */
const FLOOD = "#flood 2000 8000";
const FRAMES = 2000;

function residentMiB(pid: number): number {
  const kib = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Number(kib) / 1024;
}

/** The stream has stopped: the same last_seq three times in a row. */
async function standstill(client: RawClient, session_id: string): Promise<number> {
  let last = -1;
  let same = 0;
  await until(
    async () => Number((await info(client, session_id))["last_seq"]),
    (seq) => {
      same = seq === last && seq > 0 ? same + 1 : 0;
      last = seq;
      return same >= 20;
    },
  );
  return last;
}

describe.skipIf(process.platform !== "linux")("an owner that stops reading", () => {
  test("pauses its agent, memory stays bounded, others are served; when it reads again it gets everything", async () => {
    const [owner, other] = [await patient.connect(), await patient.connect()];
    const session_id = newId();
    await owner.open(session_id, { include_partial_messages: true });
    const before = residentMiB(patient.current.pid);
    say(owner, session_id, FLOOD);
    await owner.next(isOf("agent.delta", session_id));
    owner.socket.pause();
    const stopped = await standstill(other, session_id);
    expect(stopped).toBeLessThan(FRAMES / 2);
    expect(residentMiB(patient.current.pid) - before).toBeLessThan(100);
    const neighbour = newId();
    await other.open(neighbour);
    expect((await other.turn(neighbour, "#say not slowed"))["subtype"]).toBe("success");
    owner.socket.resume();
    const result = await owner.next(isOf("agent.result", session_id));
    expect(seqsOf(owner, session_id)).toEqual(range(1, Number(result["seq"])));
  });

  test("can still be interrupted", async () => {
    const [owner, other] = [await patient.connect(), await patient.connect()];
    const session_id = newId();
    await owner.open(session_id, { include_partial_messages: true });
    // More than an agent can write before it is stopped.
    say(owner, session_id, "#flood 40000 8000");
    await owner.next(isOf("agent.delta", session_id));
    owner.socket.pause();
    await standstill(other, session_id);
    owner.send({ type: "blemeesd.interrupt", session_id });
    owner.socket.resume();
    const result = await owner.next(isOf("agent.result", session_id));
    expect(result["subtype"]).toBe("interrupted");
    expect(owner.frames.filter(isOf("blemeesd.interrupted", session_id))).toMatchObject([
      { was_idle: false },
    ]);
  });

  test("can be relieved by another client in the middle of it", async () => {
    const [stalled, next] = [await patient.connect(), await patient.connect()];
    const session_id = newId();
    await stalled.open(session_id, { include_partial_messages: true });
    say(stalled, session_id, FLOOD);
    await stalled.next(isOf("agent.delta", session_id));
    stalled.socket.pause();
    await standstill(next, session_id);
    await next.open(session_id, {}, { resume: true, last_seen_seq: 0 });
    const result = await next.next(isOf("agent.result", session_id));
    expect(result["subtype"]).toBe("success");
    expect(seqsOf(next, session_id)).toEqual(range(1, Number(result["seq"])));
  });

  test("and disconnects lets its turn run to the end", async () => {
    const [stalled, other] = [await patient.connect(), await patient.connect()];
    const session_id = newId();
    await stalled.open(session_id, { include_partial_messages: true });
    say(stalled, session_id, FLOOD);
    await stalled.next(isOf("agent.delta", session_id));
    stalled.socket.pause();
    await standstill(other, session_id);
    stalled.close();
    const row = await until(
      () => info(other, session_id),
      // The counters are ahead of the log by one write: wait for the log too.
      (found) =>
        found["turns"] === 1 && found["subprocess_running"] === false && Number(found["last_seq"]) > FRAMES,
    );
    expect(row["last_seq"]).toBeGreaterThan(FRAMES);
  });

  test("gets slow_consumer and is dropped after the time; the session survives, detached, and finishes its turn", async () => {
    const [owner, other] = [await strict.connect(), await strict.connect()];
    const session_id = newId();
    await owner.open(session_id, { include_partial_messages: true });
    say(owner, session_id, FLOOD);
    await owner.next(isOf("agent.delta", session_id));
    owner.socket.pause();
    await until(
      () => info(other, session_id),
      (row) => row["attached"] === false,
    );
    owner.socket.resume();
    await owner.closed;
    expect(owner.frames.at(-1)).toMatchObject({ type: "blemeesd.error", code: "slow_consumer" });
    await until(
      () => info(other, session_id),
      (row) => row["turns"] === 1,
    );
    await other.open(session_id, {}, { resume: true, last_seen_seq: 0 });
    const result = await other.next(isOf("agent.result", session_id));
    expect(seqsOf(other, session_id)).toEqual(range(1, Number(result["seq"])));
  });
});

describe("a watcher that stops reading", () => {
  test("never slows the owner; it is notified that it lags, and gets everything in order later", async () => {
    const [owner, watcher] = [await patient.connect(), await patient.connect()];
    const session_id = newId();
    await owner.open(session_id, { include_partial_messages: true });
    await ask(watcher, "watch", { session_id });
    watcher.socket.pause();
    const result = await owner.turn(session_id, FLOOD);
    expect(result["subtype"]).toBe("success");
    watcher.socket.resume();
    await watcher.next((frame) => frame["seq"] === result["seq"]);
    const told = watcher.frames.filter((frame) => frame.type === "blemeesd.catching_up");
    expect(told.length).toBeGreaterThanOrEqual(1);
    expect(seqsOf(watcher, session_id)).toEqual(range(1, Number(result["seq"])));
    expect(watcher.frames.some((frame) => frame.type === "blemeesd.replay_gap")).toBe(false);
  });

  test("that joins while the owner is stalled gets what there is", async () => {
    const [owner, watcher] = [await patient.connect(), await patient.connect()];
    const session_id = newId();
    await owner.open(session_id, { include_partial_messages: true });
    say(owner, session_id, FLOOD);
    await owner.next(isOf("agent.delta", session_id));
    owner.socket.pause();
    const stopped = await standstill(watcher, session_id);
    await ask(watcher, "watch", { session_id, last_seen_seq: 0 });
    await watcher.next((frame) => frame["seq"] === stopped);
    owner.socket.resume();
    const result = await owner.next(isOf("agent.result", session_id));
    await watcher.next((frame) => frame["seq"] === result["seq"]);
    expect(seqsOf(watcher, session_id)).toEqual(range(1, Number(result["seq"])));
  });
});
