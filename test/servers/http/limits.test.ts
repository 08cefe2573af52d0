// Slow and many clients, NDJSON and HTTP on one socket, and the end of the daemon.
import { once } from "node:events";
import { connect } from "node:net";
import { afterEach, describe, expect, test, vi } from "vitest";
import { SESSION } from "./fake-manager.ts";
import { SseReader } from "./sse-reader.ts";
import { createWorld, eventually, untilClosed, type World } from "./world.ts";

let world: World;
afterEach(() => world.close());

describe.each([
  ["the Unix socket", false],
  ["loopback", true],
])("slow-loris on %s", (_name, tcp) => {
  test("a head or a body that never ends gets 408", async () => {
    world = await createWorld({ headersTimeoutMs: 100, requestTimeoutMs: 300, checkEveryMs: 20 });
    const half = await world.raw(tcp);
    half.write("GET /health HTTP/1.1\r\nHost: loc");
    expect(await untilClosed(half)).toMatch(/^HTTP\/1\.1 408 .*did not arrive in time/s);
    const body = await world.raw(tcp);
    const token = `Authorization: Bearer ${world.http.token}\r\n`;
    const host = `Host: ${tcp ? `127.0.0.1:${world.http.port}` : "localhost"}\r\n`;
    const type = "Content-Type: application/json\r\nContent-Length: 100\r\n";
    body.write(`POST /sessions HTTP/1.1\r\n${host}${token}${type}\r\n{`);
    expect(await untilClosed(body)).toMatch(/^HTTP\/1\.1 408 /);
    expect(world.manager.calls).toEqual([]);
    expect((await world.ask("GET", "/health", { tcp })).status).toBe(200);
  });

  test("control: a wait or a stream may last longer than both", async () => {
    world = await createWorld({
      headersTimeoutMs: 50,
      requestTimeoutMs: 50,
      checkEveryMs: 10,
      heartbeatMs: 50,
    });
    const headers = { accept: "text/event-stream", authorization: `Bearer ${world.http.token}` };
    const reader = new SseReader(await world.open("/events", { tcp, headers }));
    await reader.until(({ comments }) => comments.length >= 5);
    expect(reader.isOver).toBe(false);
    reader.close();
  });
});

test("connections over the limit are refused, both kinds counted, and closed ones free their slot", async () => {
  world = await createWorld({}, 3);
  const lines = await world.raw();
  const reader = new SseReader(await world.open("/events"));
  const another = new SseReader(await world.open("/events"));
  const refused = await world.raw();
  await once(refused, "close");
  reader.close();
  lines.destroy();
  await eventually(() =>
    world.ask("GET", "/health").then(
      ({ status }) => status,
      () => 0,
    ),
  ).toBe(200);
  another.close();
});

test("over loopback too", async () => {
  world = await createWorld({}, 2);
  const kept = [await world.raw(true), await world.raw(true)];
  const third = await world.raw(true);
  await once(third, "close");
  for (const socket of kept) socket.destroy();
  await eventually(() =>
    world.ask("GET", "/health", { tcp: true }).then(
      ({ status }) => status,
      () => 0,
    ),
  ).toBe(200);
});

test("the first byte decides: lines and requests on one socket, also byte by byte", async () => {
  world = await createWorld();
  const lines = await world.raw();
  lines.write('{"type":"blemeesd.hello","protocol":"blemees/2","client":"t/1"}\n');
  const [ack] = (await once(lines, "data")) as [Buffer];
  expect(JSON.parse(ack.toString()).type).toBe("blemeesd.hello_ack");
  lines.destroy();
  const slow = await world.raw();
  const reply = untilClosed(slow);
  for (const byte of "GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n") {
    slow.write(byte);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(await reply).toMatch(/^HTTP\/1\.1 200 OK/);
  const small = await world.raw();
  small.write("get /health HTTP/1.1\r\n");
  expect(await untilClosed(small)).toMatch(/^\{"type":"blemeesd.error"/);
});

test("a client that half-closes after its request still gets its reply", async () => {
  world = await createWorld();
  const socket = await world.raw();
  const reply = untilClosed(socket);
  socket.end("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n");
  expect(await reply).toMatch(/^HTTP\/1\.1 200 OK.*"ok":true/s);
});

test("on shutdown, streams and waits end and every request is daemon_shutdown", async () => {
  world = await createWorld();
  world.manager.waits = new Promise(() => undefined);
  const headers = { accept: "text/event-stream" };
  const reader = new SseReader(await world.open(`/sessions/${SESSION}/events`, { headers }));
  const waiting = world.ask("GET", `/sessions/${SESSION}/wait`);
  await eventually(() => world.manager.named("wait").length).toBe(1);
  world.unix.dismiss();
  world.http.dismiss();
  await reader.ended();
  expect((await waiting).body.error.code).toBe("daemon_shutdown");
  for (const tcp of [true, false]) {
    const { status, body } = await world.ask("GET", "/health", { tcp });
    expect([status, body.error.code]).toEqual([503, "daemon_shutdown"]);
  }
  const lines = await world.raw();
  lines.write('{"type":"blemeesd.hello","protocol":"blemees/2"}\n');
  expect(await untilClosed(lines)).toContain('"code":"daemon_shutdown"');
  const silent = await world.raw();
  expect(await untilClosed(silent)).toContain('"code":"daemon_shutdown"');
});

test("a client that was silent until shutdown gets the notice in its own protocol", async () => {
  world = await createWorld();
  const opened = () => world.logged.filter(({ event }) => event === "connection.open").length;
  const requesting = await world.raw();
  const talking = await world.raw();
  const silent = await world.raw();
  await eventually(opened).toBe(3);
  world.unix.dismiss();
  requesting.write("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n");
  talking.write('{"type":"blemeesd.hello","protocol":"blemees/2"}\n');
  expect(await untilClosed(requesting)).toMatch(/^HTTP\/1\.1 503 .*"daemon_shutdown"/s);
  expect(await untilClosed(talking)).toMatch(/^\{"type":"blemeesd.error".*"daemon_shutdown"/);
  expect(await untilClosed(silent)).toMatch(/^\{"type":"blemeesd.error".*"daemon_shutdown"/);
  await eventually(() => world.logged.filter(({ event }) => event === "connection.close").length).toBe(3);
});

test("a request that arrives during shutdown is not served, and the end is logged once", async () => {
  world = await createWorld();
  const closed = () => world.logged.filter(({ event }) => event === "connection.close").length;
  const socket = connect({ path: world.path, allowHalfOpen: true });
  const reply = untilClosed(socket);
  await eventually(() => world.logged.filter(({ event }) => event === "connection.open").length).toBe(1);
  world.unix.dismiss();
  await eventually(closed).toBe(1);
  socket.end("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n");
  expect(await reply).toMatch(/^\{"type":"blemeesd.error"[^\n]*\n$/);
  await world.unix.close();
  expect(closed()).toBe(1);
});

test("shutdown does not wait for a client that was notified and does not disconnect", async () => {
  world = await createWorld();
  const socket = connect({ path: world.path, allowHalfOpen: true });
  const reply = untilClosed(socket);
  socket.write('{"type":"blemeesd.hello","protocol":"blemees/2"}\n');
  await once(socket, "data");
  vi.useFakeTimers({ toFake: ["setTimeout"] }); // the time a connection may linger never passes
  try {
    world.unix.dismiss();
    await world.unix.close();
  } finally {
    vi.useRealTimers();
  }
  socket.end();
  expect(await reply).toContain('"code":"daemon_shutdown"');
});

test("a client that is refused repeatedly does not fill the log", async () => {
  world = await createWorld();
  const told = (): number => world.logged.filter(({ event }) => event === "http.refused").length;
  for (let n = 0; n < 110; n += 1)
    expect((await world.ask("GET", "/health", { tcp: true, headers: {} })).status).toBe(401);
  expect(told()).toBe(100);
});

test("many clients refused by a full port are logged as one entry", async () => {
  world = await createWorld({}, 1);
  const first = await world.raw(true);
  for (let n = 0; n < 5; n += 1) await untilClosed(await world.raw(true));
  first.destroy();
  expect(world.logged.filter(({ event }) => event === "connection.refused").length).toBe(1);
});

test("a negative since_seq must be 0 or more", async () => {
  world = await createWorld();
  for (const since of ["-1", "-9007199254740991"]) {
    const { status, body } = await world.ask("GET", `/sessions/${SESSION}/events?since_seq=${since}`);
    expect([status, body.error.message]).toEqual([400, "query: /since_seq: must be 0 or more"]);
  }
});
