// Requests that a client sends without waiting for replies, and clients that never read any.
import { once } from "node:events";
import { afterEach, describe, expect, test } from "vitest";
import { SESSION } from "./fake-manager.ts";
import { createWorld, eventually, untilClosed, type World } from "./world.ts";

let world: World;
afterEach(() => world.close());

/** Far more than the kernel buffers for a socket that is not read. */
const REPLY_CHARS = 4_000_000;
const REQUESTS = 20;

function heads(tcp: boolean): string {
  const host = `Host: ${tcp ? `127.0.0.1:${world.http.port}` : "localhost"}\r\n`;
  return `${host}Authorization: Bearer ${world.http.token}\r\n`;
}

function getEvents(tcp: boolean): string {
  return `GET /sessions/${SESSION}/events HTTP/1.1\r\n${heads(tcp)}\r\n`;
}

/** Every page of events is large from now on. */
function inflate(): { asked: number } {
  const { manager } = world;
  const events = manager.events.bind(manager);
  const count = { asked: 0 };
  manager.events = async (order) => {
    count.asked += 1;
    const page = await events(order);
    return { ...page, padding: "x".repeat(REPLY_CHARS) };
  };
  return count;
}

/** The same value 20 looks in a row. */
async function standstill(look: () => unknown): Promise<void> {
  let last: unknown;
  let same = 0;
  await eventually(() => {
    const value = JSON.stringify(look());
    same = value === last ? same + 1 : 0;
    last = value;
    return same;
  }).toBeGreaterThanOrEqual(20);
}

describe.each([
  ["the Unix socket", false],
  ["loopback", true],
])("a client that never reads on %s", (_name, tcp) => {
  test("is served one request, not everything it sent, and the rest when it reads", async () => {
    world = await createWorld();
    const count = inflate();
    const socket = await world.raw(tcp);
    socket.pause();
    socket.write(getEvents(tcp).repeat(REQUESTS));
    await standstill(() => count.asked);
    expect(count.asked).toBe(1);
    let replies = 0;
    socket.on("data", (chunk: Buffer) => {
      replies += chunk.toString("latin1").split("HTTP/1.1 200 OK").length - 1;
    });
    socket.resume();
    await eventually(() => count.asked).toBe(REQUESTS);
    await eventually(() => replies).toBeGreaterThan(REQUESTS - 2); // one may be split between two chunks
    socket.destroy();
  });

  test("is dropped after the stall time", async () => {
    world = await createWorld({ slowConsumerMs: 200, checkEveryMs: 20 });
    inflate();
    const socket = await world.raw(tcp);
    socket.pause();
    socket.write(getEvents(tcp).repeat(REQUESTS));
    await eventually(() => world.logged.filter(({ event }) => event === "http.slow_consumer").length).toBe(1);
    socket.resume();
    await once(socket, "close");
  });

  test("is not read from without end while its first request waits", async () => {
    world = await createWorld();
    world.manager.waits = new Promise(() => undefined);
    const socket = await world.raw(tcp);
    const wait = `GET /sessions/${SESSION}/wait?timeout_s=3600 HTTP/1.1\r\n${heads(tcp)}\r\n`;
    const bytes = Buffer.from(wait + `GET /health HTTP/1.1\r\n${heads(tcp)}\r\n`.repeat(200_000));
    socket.write(bytes);
    await standstill(() => [socket.writableLength, queued(socket)]);
    expect(queued(socket)).toBeGreaterThan(bytes.length / 2);
    socket.destroy();
  });

  test("a body of 100 GB is refused by its head: 413, and the connection is closed", async () => {
    world = await createWorld();
    const socket = await world.raw(tcp);
    const length = "Content-Type: application/json\r\nContent-Length: 107374182400\r\n";
    socket.write(`POST /sessions HTTP/1.1\r\n${heads(tcp)}${length}\r\n{"backend":`);
    const reply = await untilClosed(socket);
    expect(reply).toMatch(/^HTTP\/1\.1 413 .*connection: close.*"oversize_message".*1048576 bytes/is);
    expect(world.manager.calls).toEqual([]);
  });

  test("the same with Expect: 100-continue, and while the body is being sent", async () => {
    world = await createWorld();
    const length = "Content-Type: application/json\r\nContent-Length: 107374182400\r\n";
    const waiting = await world.raw(tcp);
    waiting.write(`POST /sessions HTTP/1.1\r\n${heads(tcp)}${length}Expect: 100-continue\r\n\r\n`);
    expect(await untilClosed(waiting)).toMatch(/^HTTP\/1\.1 413 /);
    const sending = await world.raw(tcp);
    const reply = untilClosed(sending);
    const more = (): void => void (sending.writable && sending.write("x".repeat(100_000), more));
    sending.write(`POST /sessions HTTP/1.1\r\n${heads(tcp)}${length}\r\n`, more);
    expect(await reply).toMatch(/^HTTP\/1\.1 413 /);
    expect((await world.ask("GET", "/health", { tcp })).status).toBe(200);
  });
});

test("control: a body of the largest size is taken", async () => {
  world = await createWorld();
  const text = JSON.stringify({ text: "x".repeat(1024 * 1024 - 20) });
  expect(text.length).toBeLessThanOrEqual(1024 * 1024);
  expect((await world.ask("POST", `/sessions/${SESSION}/input`, { body: text })).status).toBeLessThan(300);
});

test("a connection is used for many requests, also pipelined, and answers in order", async () => {
  world = await createWorld();
  const socket = await world.raw();
  const reply = untilClosed(socket);
  const head = `HTTP/1.1\r\n${heads(false)}`;
  socket.write(
    `${`GET /health ${head}\r\nGET /nope ${head}\r\n`.repeat(200)}GET /health ${head}Connection: close\r\n\r\n`,
  );
  const statuses = (await reply).match(/HTTP\/1\.1 \d+/g) ?? [];
  expect(statuses).toHaveLength(401);
  expect(statuses.every((status, at) => status === `HTTP/1.1 ${at % 2 === 0 ? 200 : 404}`)).toBe(true);
});

test("a wait is abandoned when its client disconnects, and requests after it are never started", async () => {
  world = await createWorld();
  world.manager.waits = new Promise(() => undefined);
  const socket = await world.raw();
  socket.write(`GET /sessions/${SESSION}/wait?timeout_s=3600 HTTP/1.1\r\nHost: localhost\r\n\r\n`.repeat(50));
  await eventually(() => world.manager.named("wait").length).toBe(1);
  socket.destroy();
  await eventually(() => world.manager.aborted).toBe(1);
  expect(world.manager.named("wait").length).toBe(1);
});

test("nothing is served after a stream, which is the last reply of its connection", async () => {
  world = await createWorld();
  const socket = await world.raw();
  let reply = "";
  socket.on("data", (chunk: Buffer) => {
    reply += chunk.toString();
  });
  const head = "Host: localhost\r\nContent-Type: application/json\r\n";
  const stream = `GET /sessions/${SESSION}/events HTTP/1.1\r\n${head}Accept: text/event-stream\r\n\r\n`;
  socket.write(`${stream}POST /sessions/${SESSION}/stop HTTP/1.1\r\n${head}\r\n`);
  await eventually(() => reply).toContain(": ready");
  for (const { subscriber } of world.manager.ears) subscriber.closed("closed");
  await untilClosed(socket);
  expect(world.manager.named("stop")).toEqual([]);
});

/** Bytes that the kernel has not taken. */
function queued(socket: { _handle?: { writeQueueSize?: number } } | object): number {
  return (socket as { _handle?: { writeQueueSize?: number } })._handle?.writeQueueSize ?? 0;
}
