// Bounds: sessions, sessions a connection, connections, and the time a session waits for an owner.
import { describe, expect, test } from "vitest";
import { isRunning } from "../../backends/processes.ts";
import { RawClient } from "../../support/raw-client.ts";
import { ask, info, introduced, newId, openDemo, range, say, seqsOf, until, useDaemon } from "./talk.ts";

const daemon = useDaemon({
  env: {
    BLEMEESD_MAX_SESSIONS: "4",
    BLEMEESD_MAX_SESSIONS_PER_CONNECTION: "3",
    BLEMEESD_MAX_CONNECTIONS: "12",
    BLEMEESD_IDLE_TIMEOUT: "0.3",
  },
});

/** Sessions of earlier tests count until they are torn down. */
async function untilEmpty(client: RawClient): Promise<void> {
  await until(
    async () => (await ask(client, "status"))["sessions"] as { total: number },
    (sessions) => sessions.total === 0,
  );
}

describe("sessions", () => {
  test("a connection has a limit; the next is session_exists and names it; a closed one frees a slot", async () => {
    const client = await daemon.connect();
    const ids = range(1, 3).map(newId);
    for (const id of ids) expect((await openDemo(client, id)).type).toBe("blemeesd.opened");
    const refused = await openDemo(client, newId());
    expect(refused).toMatchObject({
      code: "session_exists",
      message: expect.stringContaining("max_sessions_per_connection"),
    });
    expect((await openDemo(client, String(ids[0]), { resume: true })).type).toBe("blemeesd.opened");
    await ask(client, "close", { session_id: ids[0] });
    expect((await openDemo(client, newId())).type).toBe("blemeesd.opened");
  });

  test("the daemon has a limit over all connections", async () => {
    const [ann, bob] = [await daemon.connect(), await daemon.connect()];
    await untilEmpty(ann);
    for (const client of [ann, bob]) for (const _ of [1, 2]) await openDemo(client, newId());
    const refused = await openDemo(ann, newId());
    expect(refused).toMatchObject({
      code: "session_exists",
      message: expect.stringContaining("max_concurrent_sessions"),
    });
  });

  test("pipelined opens are counted before they are done", async () => {
    const client = await daemon.connect();
    await untilEmpty(client);
    for (const n of range(1, 6)) {
      client.send({
        type: "blemeesd.open",
        id: `o${n}`,
        session_id: newId(),
        backend: "claude",
        options: {},
      });
    }
    for (const _ of range(1, 6)) await client.next((frame) => /^o\d$/.test(String(frame["id"])));
    expect(client.frames.filter((frame) => frame.type === "blemeesd.opened")).toHaveLength(3);
    expect(client.frames.filter((frame) => frame["code"] === "session_exists")).toHaveLength(3);
  });
});

describe("a session without an owner", () => {
  test("is forgotten after the idle time; its history is not", async () => {
    const [client, other] = [await daemon.connect(), await daemon.connect()];
    await untilEmpty(other);
    const session_id = newId();
    await openDemo(client, session_id);
    const last = Number((await client.turn(session_id, "hello"))["seq"]);
    client.close();
    await until(
      () => ask(other, "watch", { session_id }),
      (reply) => reply["code"] === "session_unknown",
    );
    expect(await info(other, session_id)).toMatchObject({ turns: 1, last_seq: last, attached: false });
    await openDemo(other, session_id, { resume: true, last_seen_seq: 0 });
    const { seq } = await introduced(other, session_id, last);
    expect(seqsOf(other, session_id)).toEqual(range(1, Number(seq)));
  });

  test("is torn down with its turn, which gets its result", async () => {
    const [client, other] = [await daemon.connect(), await daemon.connect()];
    await untilEmpty(other);
    const session_id = newId();
    const opened = await client.open(session_id);
    say(client, session_id, "#hang");
    await client.next((frame) => frame["category"] === "task_started");
    await ask(other, "watch", { session_id });
    client.close();
    expect(await other.next("blemeesd.session_closed")).toMatchObject({ reason: "idle_timeout" });
    expect(other.frames.filter((frame) => frame.type === "agent.result")).toMatchObject([
      { subtype: "interrupted" },
    ]);
    expect(isRunning(Number(opened["subprocess_pid"]))).toBe(false);
  });

  test("that has an owner is left alone, however long it is idle", async () => {
    const [client, other] = [await daemon.connect(), await daemon.connect()];
    await untilEmpty(other);
    const [kept, left] = [newId(), newId()];
    await openDemo(client, kept);
    await openDemo(other, left);
    other.close();
    await until(
      () => ask(client, "watch", { session_id: left }),
      (reply) => reply["code"] === "session_unknown",
    );
    expect((await client.turn(kept, "still here"))["subtype"]).toBe("success");
  });
});

test("connections over the limit are closed, the others survive, and closed ones free their slot", async () => {
  const client = await daemon.connect();
  const connections = async () => Number((await ask(client, "status"))["connections"]);
  // Those of earlier tests may still be counted.
  await until(connections, (count) => count === 1);
  const open: RawClient[] = [];
  for (const _ of range(1, 14)) open.push(await RawClient.connect(daemon.current.socket));
  await open.at(-1)?.closed;
  expect(await connections()).toBe(12);
  for (const extra of open) extra.close();
  await until(connections, (count) => count < 12);
  await daemon.connect();
});
