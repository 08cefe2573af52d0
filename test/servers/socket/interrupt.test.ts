// Cancelling a turn.
import { describe, expect, test } from "vitest";
import { barrier, info, isOf, lastText, newId, openDemo, say, streamOf, useDaemon } from "./talk.ts";

const daemon = useDaemon();
const interrupt = (session_id: string) => ({ type: "blemeesd.interrupt", session_id });

/** Opens a session with a long turn that has produced output. */
async function busy(more: object = {}) {
  const client = await daemon.connect();
  const session_id = newId();
  const opened = await client.open(session_id, { include_partial_messages: true, ...more });
  say(client, session_id, "#slow 1000 5");
  await client.next(isOf("agent.delta", session_id));
  return { client, session_id, pid: opened["subprocess_pid"] };
}

describe("an interrupt", () => {
  test("is acknowledged first, then the turn ends as interrupted, once; earlier output stays", async () => {
    const { client, session_id } = await busy();
    client.send(interrupt(session_id));
    const result = await client.next(isOf("agent.result", session_id));
    expect(result["subtype"]).toBe("interrupted");
    await barrier(client);
    const told = client.frames.filter((frame) => /interrupted|agent.result/.test(frame.type));
    expect(told).toMatchObject([
      { type: "blemeesd.interrupted", session_id, was_idle: false },
      { seq: result["seq"] },
    ]);
    expect(told[0]).not.toHaveProperty("seq");
    expect(client.frames.some(isOf("agent.delta", session_id))).toBe(true);
    expect(streamOf(client, session_id).at(-1)).toEqual(result);
  });

  test("leaves the agent alive and the context intact (control protocol)", async () => {
    const { client, session_id, pid } = await busy();
    client.send(interrupt(session_id));
    await client.next(isOf("agent.result", session_id));
    expect((await client.turn(session_id, "#context"))["subtype"]).toBe("success");
    expect(lastText(client, session_id)).toContain("#slow 1000 5");
    const again = await client.open(session_id, {}, { resume: true, last_seen_seq: 10_000 });
    expect(again["subprocess_pid"]).toBe(pid);
  });

  test("a message that is sent right after it is a new turn", async () => {
    const { client, session_id } = await busy();
    client.send(interrupt(session_id));
    say(client, session_id, "#say after");
    const results = [
      await client.next(isOf("agent.result", session_id)),
      await client.next(isOf("agent.result", session_id)),
    ];
    expect(results.map((result) => result["subtype"])).toEqual(["interrupted", "success"]);
    expect(lastText(client, session_id)).toBe("after");
  });

  test.each(["#deaf", "#ack-only"])(
    "an agent that does not obey (%s) is replaced; the next turn works",
    async (directive) => {
      const client = await daemon.connect();
      const session_id = newId();
      const opened = await client.open(session_id);
      say(client, session_id, `#say begun ${directive}`);
      await client.next(isOf("agent.message", session_id));
      client.send(interrupt(session_id));
      const result = await client.next(isOf("agent.result", session_id));
      expect(result["subtype"]).toBe("interrupted");
      expect((await client.turn(session_id, "#say back"))["subtype"]).toBe("success");
      expect((await info(client, session_id))["subprocess_running"]).toBe(true);
      const now = await client.open(session_id, {}, { resume: true, last_seen_seq: 10_000 });
      expect(now["subprocess_pid"]).not.toBe(opened["subprocess_pid"]);
      expect(client.frames.filter((frame) => frame["code"] === "backend_crashed")).toEqual([]);
    },
  );

  test("without a turn is was_idle, and adds no frame to the stream", async () => {
    const client = await daemon.connect();
    const session_id = newId();
    await openDemo(client, session_id);
    const before = streamOf(client, session_id);
    client.send(interrupt(session_id));
    expect(await client.next("blemeesd.interrupted")).toEqual({
      type: "blemeesd.interrupted",
      session_id,
      was_idle: true,
    });
    await barrier(client);
    expect(streamOf(client, session_id)).toEqual(before);
  });

  test("of an unknown or foreign session is a harmless was_idle", async () => {
    const { client, session_id } = await busy();
    const other = await daemon.connect();
    for (const id of [session_id, newId()]) {
      other.send(interrupt(id));
      expect(await other.next("blemeesd.interrupted")).toMatchObject({ session_id: id, was_idle: true });
    }
    await client.next(isOf("agent.delta", session_id)); // it continues
    client.send(interrupt(session_id));
    await client.next(isOf("agent.result", session_id));
  });

  test("twice in a row gives two acknowledgements and one result", async () => {
    const { client, session_id } = await busy();
    client.send(interrupt(session_id));
    client.send(interrupt(session_id));
    await client.next(isOf("agent.result", session_id));
    await barrier(client);
    expect(client.frames.filter((frame) => frame.type === "blemeesd.interrupted")).toHaveLength(2);
    expect(client.frames.filter(isOf("agent.result", session_id))).toHaveLength(1);
  });

  test("in the same write as the message stops that message's turn", async () => {
    const client = await daemon.connect();
    const session_id = newId();
    await client.open(session_id);
    const message = { type: "agent.user", session_id, message: { role: "user", content: "#hang" } };
    client.sendRaw(`${JSON.stringify(message)}\n${JSON.stringify(interrupt(session_id))}\n`);
    expect(await client.next("blemeesd.interrupted")).toMatchObject({ was_idle: false });
    expect((await client.next(isOf("agent.result", session_id)))["subtype"]).toBe("interrupted");
  });
});
