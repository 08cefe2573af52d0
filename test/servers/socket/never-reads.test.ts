// Clients that send requests and never read the replies: their memory is bounded, and they are dropped.

import { mkdirSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { RawClient } from "../../support/raw-client.ts";
import { ask, range, until, useDaemon } from "./talk.ts";

const PING_BYTES = 1_000_000;
const PINGS = 20;
const DATA = "x".repeat(PING_BYTES);
/** The outbox of a connection (1 MiB) and the one reply that filled it. */
const MAX_WAITING = 1024 * 1024 + PING_BYTES + 1000;

const patient = useDaemon();
const strict = useDaemon({ env: { BLEMEESD_SLOW_CONSUMER: "1" } });
const agent = new Agent({ keepAlive: true });
afterAll(() => agent.destroy());

describe.each(["blemees/1", "blemees/2"])("%s", (protocol) => {
  test("20 pings of 1 MB with unread pongs: about one is buffered, and all of them arrive when the client reads", async () => {
    const client = await hostile(patient.current.socket, protocol);
    for (const n of range(1, PINGS)) client.send({ type: "blemeesd.ping", id: `p${n}`, data: DATA });
    const [waiting] = await standstill(async () => [await outboxBytes(), client.socket.writableLength]);
    expect(waiting).toBeGreaterThan(0);
    expect(waiting).toBeLessThan(MAX_WAITING);
    client.socket.resume();
    for (const n of range(1, PINGS))
      expect(await client.next("blemeesd.pong")).toMatchObject({ id: `p${n}` });
    client.close();
  });

  test("requests with small replies, and refusals, are held up in the same way", async () => {
    const client = await hostile(patient.current.socket, protocol);
    const count = 10_000;
    client.sendRaw('{"type":"blemeesd.status"}\n{"type":"blemeesd.nonsense"}\n'.repeat(count / 2));
    const [waiting] = await standstill(async () => [await outboxBytes(), client.socket.writableLength]);
    expect(waiting).toBeLessThan(MAX_WAITING);
    client.socket.resume();
    await until(
      async () => client.frames.length,
      (frames) => frames === count + 1,
    );
    expect(client.frames.filter((frame) => frame["code"] === "unknown_message")).toHaveLength(count / 2);
    client.close();
  });

  test("after the stall time the client is dropped", async () => {
    const other = await strict.connect();
    const before = strict.current.log().split("connection.slow_consumer").length;
    const client = await hostile(strict.current.socket, protocol);
    for (const _ of range(1, PINGS)) client.send({ type: "blemeesd.ping", data: DATA });
    await until(
      async () => strict.current.log().split("connection.slow_consumer").length,
      (count) => count > before,
    );
    expect((await ask(other, "ping")).type).toBe("blemeesd.pong");
    client.socket.resume();
    await client.closed;
    expect(client.frames.length).toBeLessThan(PINGS);
  });
});

test("long lists are produced a few at a time, before the outbox shows that they are not read", async () => {
  const directory = join(patient.current.home, "claude/projects/-long-lists");
  mkdirSync(directory, { recursive: true });
  const cwd = `/long/${"x".repeat(200)}`;
  for (const n of range(1, 400)) {
    const sessionId = `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
    const record = { type: "user", cwd, message: { role: "user", content: "word ".repeat(30) }, sessionId };
    writeFileSync(join(directory, `${sessionId}.jsonl`), `${JSON.stringify(record)}\n`);
  }
  const client = await hostile(patient.current.socket, "blemees/2");
  const count = 40;
  for (const n of range(1, count)) client.send({ type: "blemeesd.list_sessions", id: `l${n}` });
  await until(outboxBytes, (bytes) => bytes > 1024 * 1024);
  const [waiting = 0] = await standstill(async () => [await outboxBytes()]);
  client.socket.resume();
  for (const _ of range(1, count)) await client.next("blemeesd.sessions");
  const replies = client.frames.filter(({ type }) => type === "blemeesd.sessions");
  const listBytes = JSON.stringify(replies[0]).length;
  expect(listBytes).toBeGreaterThan(100_000);
  // The outbox, and what was in progress when it became full.
  expect(waiting).toBeLessThan(1024 * 1024 + 5 * listBytes);
  client.close();
});

test("lines that come before the hello is answered wait, and are answered in order", async () => {
  const client = await RawClient.connect(patient.current.socket);
  const pings = range(1, 5).map((n) => `{"type":"blemeesd.ping","id":"p${n}"}\n`);
  client.sendRaw(`{"type":"blemeesd.hello","protocol":"blemees/2"}\n${pings.join("")}`);
  for (const n of range(1, 5)) expect(await client.next("blemeesd.pong")).toMatchObject({ id: `p${n}` });
  expect(client.frames[0]?.type).toBe("blemeesd.hello_ack");
  client.close();
});

/** Has sent hello and stops reading. */
async function hostile(path: string, protocol: string): Promise<RawClient> {
  const client = await RawClient.connect(path);
  client.send({ type: "blemeesd.hello", protocol });
  await client.next("blemeesd.hello_ack");
  client.socket.pause();
  return client;
}

/** The same values 20 looks in a row. */
async function standstill(look: () => Promise<number[]>): Promise<number[]> {
  let last = "";
  let same = 0;
  return until(look, (values) => {
    same = String(values) === last ? same + 1 : 0;
    last = String(values);
    return same >= 20;
  });
}

/** What waits for all clients of the patient daemon. */
async function outboxBytes(): Promise<number> {
  const text = await new Promise<string>((resolve, reject) => {
    const place = { socketPath: patient.current.socket, path: "/metrics", agent };
    const asking = request(place, (reply) => {
      let all = "";
      reply.setEncoding("utf8");
      reply.on("data", (part: string) => {
        all += part;
      });
      reply.on("end", () => resolve(all));
    });
    asking.on("error", reject);
    asking.end();
  });
  return Number(/^blemees_socket_outbox_bytes (\d+)$/m.exec(text)?.[1]);
}
