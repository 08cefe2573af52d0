// Event streams: in order, once, from where the reader left off, and a reader that stops reading does not affect
// others.
import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Streams } from "../../../src/servers/http/streams.ts";
import { SESSION, view } from "./fake-manager.ts";
import { SseReader } from "./sse-reader.ts";
import { createWorld, eventually, type World } from "./world.ts";

const EVENTS = `/sessions/${SESSION}/events`;
const SSE = { accept: "text/event-stream" };

let world: World;
beforeEach(async () => {
  world = await createWorld({ heartbeatMs: 50, checkEveryMs: 20, slowConsumerMs: 500, maxStreams: 30 });
});
afterEach(() => world.close());

const follow = async (path = EVENTS, headers: Record<string, string> = {}) =>
  new SseReader(await world.open(path, { headers: { ...SSE, ...headers } }));
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => from + n);

describe("the events of a session", () => {
  test("come with id, type and the frame itself; from now on without a cursor", async () => {
    world.manager.publish();
    const reader = await follow();
    world.manager.publish({ text: "zwei\u2028drei" });
    await reader.until(({ events }) => events.length === 1);
    const [event] = reader.events;
    expect([event?.id, event?.event]).toEqual(["2", "agent.delta"]);
    expect(JSON.parse(event?.data ?? "")).toMatchObject({ seq: 2, text: "zwei\u2028drei" });
    expect(reader.response.headers["content-type"]).toBe("text/event-stream; charset=utf-8");
    reader.close();
  });

  test("start after since_seq, and Last-Event-ID overrides it", async () => {
    for (const _ of range(1, 10)) world.manager.publish();
    const first = await (await follow(`${EVENTS}?since_seq=4`)).until(({ events }) => events.length === 6);
    expect(first.ids()).toEqual(range(5, 10));
    const again = await follow(`${EVENTS}?since_seq=4`, { "last-event-id": "8" });
    await again.until(({ events }) => events.length === 2);
    expect(again.ids()).toEqual([9, 10]);
    first.close();
    again.close();
  });

  test("a bad Last-Event-ID and an unknown session are refused before the stream begins", async () => {
    const bad = await world.ask("GET", EVENTS, { headers: { ...SSE, "last-event-id": "x" } });
    expect([bad.status, bad.body.error.code]).toEqual([400, "invalid_message"]);
    const unknown = await world.ask("GET", "/sessions/nobody/events", { headers: SSE });
    expect([unknown.status, unknown.body.error.code]).toEqual([404, "session_unknown"]);
    expect((await world.ask("GET", "/status")).body.http.streams).toBe(0);
  });

  test("a stream that did not start leaves nothing on its connection, which stays usable", () => {
    const limits = { maxStreams: 9, outboxBytes: 9, heartbeatMs: 60_000 };
    const streams = new Streams(limits);
    const socket = new Socket();
    const outgoing = new ServerResponse(new IncomingMessage(socket));
    outgoing.assignSocket(socket);
    const own = socket.listenerCount("drain");
    const stream = streams.open(outgoing);
    expect(socket.listenerCount("drain")).toBe(own + 1);
    stream.end();
    expect(socket.listenerCount("drain")).toBe(own);
    streams.close();
    socket.destroy();
  });

  test("a bad number is refused, not read somehow", async () => {
    for (const bad of ["0x0", "1e1", "+1", " 1", "1.5", "-1", "9007199254740992"]) {
      const query = await world.ask("GET", `${EVENTS}?since_seq=${encodeURIComponent(bad)}`);
      expect([query.status, query.body.error.code], bad).toEqual([400, "invalid_message"]);
      expect(query.body.error.message).toContain("/since_seq");
    }
    const header = await world.ask("GET", EVENTS, { headers: { ...SSE, "last-event-id": "1e3" } });
    expect([header.status, header.body.error.code]).toEqual([400, "invalid_message"]);
    for (const bad of ["0x1", "1e1", "Infinity", "1."])
      expect((await world.ask("GET", `${EVENTS}?wait_s=${bad}`)).status, bad).toBe(400);
    expect((await world.ask("GET", `${EVENTS}?since_seq=07&wait_s=0.5`)).status).toBe(200);
  });

  test("a gap is reported, a frame that was not stored has no id, and closed ends the stream", async () => {
    for (const _ of range(1, 5)) world.manager.publish();
    world.manager.earliest = 4;
    const reader = await follow(`${EVENTS}?since_seq=1`);
    await reader.until(({ events }) => events.length === 3);
    world.manager.publishUnstored();
    for (const { subscriber } of world.manager.ears) {
      subscriber.lagging(5, 9);
      subscriber.closed("deleted");
    }
    await reader.ended();
    expect(reader.events.map(({ event, id }) => [event, id])).toEqual([
      ["gap", undefined],
      ["agent.delta", "4"],
      ["agent.delta", "5"],
      ["agent.notice", undefined],
      ["catching_up", undefined],
      ["closed", undefined],
    ]);
    expect(JSON.parse(reader.events[0]?.data ?? "")).toEqual({
      session_id: SESSION,
      since_seq: 1,
      first_available_seq: 4,
    });
    expect(JSON.parse(reader.events.at(-1)?.data ?? "")).toEqual({ session_id: SESSION, reason: "deleted" });
    expect(world.manager.ears.size).toBe(0);
  });

  test("a quiet stream sends keep-alives; a reader that leaves is removed", async () => {
    const reader = await follow();
    await reader.until(({ comments }) => comments.filter((text) => text === "alive").length >= 2);
    expect(world.manager.ears.size).toBe(1);
    reader.close();
    await eventually(() => world.manager.ears.size).toBe(0);
  });

  test("40,000 frames to a reader that stops and continues: each once, in order", async () => {
    const reader = await follow(`${EVENTS}?since_seq=0`);
    reader.response.pause();
    for (const _ of range(1, 40_000)) world.manager.publish();
    // Most of it was not delivered: the buffer for a reader is bounded.
    expect([...world.manager.ears].map(({ cursor }) => cursor < 20_000)).toEqual([true]);
    reader.response.resume();
    await reader.until(({ events }) => events.length >= 40_000);
    expect(reader.ids()).toEqual(range(1, 40_000));
    reader.close();
  });

  test("20 readers, one of which never reads: it is dropped, the others get everything", async () => {
    const stuck = await world.raw();
    stuck.pause();
    stuck.write(`GET ${EVENTS}?since_seq=0 HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n`);
    await eventually(() => world.manager.ears.size).toBe(1);
    const readers = await Promise.all(range(1, 19).map(() => follow(`${EVENTS}?since_seq=0`)));
    const text = "x".repeat(2000);
    for (const _ of range(1, 1000)) {
      world.manager.publish({ text });
      if (world.manager.log.length % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    for (const reader of readers) await reader.until(({ events }) => events.length >= 1000);
    for (const reader of readers) expect(reader.ids()).toEqual(range(1, 1000));
    await eventually(() => world.logged.some(({ event }) => event === "http.slow_consumer")).toBe(true);
    await eventually(() => world.manager.ears.size).toBe(19);
    expect(readers.some(({ isOver }) => isOver)).toBe(false);
    stuck.destroy();
    for (const reader of readers) reader.close();
  });

  test("streams are limited; one that ends frees a slot", async () => {
    const readers = await Promise.all(range(1, 30).map(() => follow()));
    const refused = await world.ask("GET", EVENTS, { headers: SSE });
    expect([refused.status, refused.body.error.code]).toEqual([503, "too_many_streams"]);
    readers[0]?.close();
    await eventually(() => world.manager.ears.size).toBe(29);
    const next = await follow();
    world.manager.publish();
    await next.until(({ events }) => events.length === 1);
    for (const reader of [...readers, next]) reader.close();
  });

  test("a stream that is asked for after another request on the same connection begins when that has its reply", async () => {
    let release: () => void = () => undefined;
    world.manager.waits = new Promise<void>((resolve) => {
      release = resolve;
    });
    const socket = await world.raw();
    let reply = "";
    socket.on("data", (chunk: Buffer) => {
      reply += chunk.toString();
    });
    const head = "Host: localhost\r\n";
    socket.write(`GET /sessions/${SESSION}/wait HTTP/1.1\r\n${head}\r\n`);
    socket.write(`GET ${EVENTS} HTTP/1.1\r\n${head}Accept: text/event-stream\r\n\r\n`);
    await eventually(() => world.manager.named("wait").length).toBe(1);
    expect(world.manager.ears.size).toBe(0);
    release();
    await eventually(() => reply).toMatch(/200 OK.*200 OK.*: ready/s);
    socket.destroy();
    await eventually(() => world.manager.ears.size).toBe(0);
  });
});

test("a reader that joins while the log is failing is informed that something is missing", async () => {
  world.manager.hasLost = true;
  const reader = await follow(`${EVENTS}?since_seq=0`);
  await reader.until(({ events }) => events.length >= 1);
  const [first] = reader.events;
  expect([first?.event, JSON.parse(first?.data ?? "{}")]).toEqual([
    "gap",
    { session_id: SESSION, since_seq: 0, gap_reason: "persistence_error" },
  ]);
  reader.close();
});

describe("the changes of all sessions", () => {
  const removed = (n: number) => ({ kind: "session_removed" as const, session_id: `s-${n}` });

  test("begin with a reset, so that what is read then is complete, and come as they happen", async () => {
    const reader = await follow("/events");
    world.manager.change({ kind: "session", session: view() });
    world.manager.change(removed(1));
    await reader.until(({ events }) => events.length === 3);
    expect(reader.events.map(({ event }) => event)).toEqual(["reset", "session", "session_removed"]);
    expect(reader.events[1]?.id).toMatch(/^[\da-f]{8}-1$/);
    reader.close();
  });

  test("a reader that returns gets what it missed, once", async () => {
    const reader = await follow("/events");
    for (const n of range(1, 3)) world.manager.change(removed(n));
    await reader.until(({ events }) => events.length === 4);
    const last = reader.events[2]?.id ?? "";
    reader.close();
    for (const n of range(4, 6)) world.manager.change(removed(n));
    const again = await follow("/events", { "last-event-id": last });
    await again.until(({ events }) => events.length === 4);
    expect(again.events.map(({ data }) => JSON.parse(data).session_id)).toEqual(["s-3", "s-4", "s-5", "s-6"]);
    again.close();
  });

  test.each(["00000000-5", "nonsense", "ffffffff-99999"])(
    "after %s, which is from another daemon, comes reset",
    async (last) => {
      const reader = await follow("/events", { "last-event-id": last });
      await reader.until(({ events }) => events.length === 1);
      expect([reader.events[0]?.event, reader.events[0]?.data]).toEqual(["reset", '{"kind":"reset"}']);
      world.manager.change(removed(1));
      await reader.until(({ events }) => events.length === 2);
      reader.close();
    },
  );

  test("a reader that was away for too many of them gets reset, then what is new", async () => {
    const reader = await follow("/events");
    world.manager.change(removed(0));
    await reader.until(({ events }) => events.length === 2);
    const last = reader.events[1]?.id ?? "";
    reader.close();
    for (const n of range(1, 2500)) world.manager.change(removed(n));
    const again = await follow("/events", { "last-event-id": last });
    await again.until(({ events }) => events.length === 1);
    world.manager.change(removed(9999));
    await again.until(({ events }) => events.length === 2);
    expect(again.events.map(({ event }) => event)).toEqual(["reset", "session_removed"]);
    again.close();
  });

  test("one that never reads is dropped, the other gets all of them", async () => {
    const stuck = await world.raw();
    stuck.pause();
    stuck.write("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n");
    await eventually(() => world.manager.listeners.size).toBe(1);
    const reader = await follow("/events");
    const name = "x".repeat(2000);
    for (const n of range(1, 1000)) {
      world.manager.change({ kind: "session", session: { ...view(`s-${n}`), name } });
      if (n % 20 === 0) await reader.until(({ events }) => events.length === n + 1);
    }
    expect(reader.events.slice(1).map(({ event }) => event)).not.toContain("reset");
    await eventually(() => world.logged.some(({ event }) => event === "http.slow_consumer")).toBe(true);
    expect(reader.isOver).toBe(false);
    stuck.destroy();
    reader.close();
  });
});

test("a client that never reads a long reply is dropped as well, and one that reads slowly is not", async () => {
  const socket = await world.raw();
  socket.pause();
  for (const _ of range(1, 400)) socket.write("GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n");
  await eventually(() => world.logged.some(({ event }) => event === "http.slow_consumer")).toBe(true);
  // Node 24 reports the reset as an error first, Node 20 does not.
  socket.on("error", () => undefined);
  const closed = new Promise((resolve) => socket.once("close", resolve));
  socket.resume();
  await closed;
});
