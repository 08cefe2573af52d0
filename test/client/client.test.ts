import { afterEach, beforeEach, expect, test } from "vitest";
import { type Client, type ConnectOptions, connect, type SessionFrame } from "../../src/client/index.ts";
import { delta, openAnything, result, ScriptedServer } from "./scripted-server.ts";

let server: ScriptedServer;
const clients: Client[] = [];

beforeEach(async () => {
  server = await ScriptedServer.start(openAnything);
});
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
  await server.close();
});

async function join(options: ConnectOptions = {}): Promise<Client> {
  const client = await connect({ socket: server.path, ...options });
  clients.push(client);
  return client;
}

async function take(events: AsyncIterator<SessionFrame>, count: number): Promise<SessionFrame[]> {
  const frames: SessionFrame[] = [];
  while (frames.length < count) {
    const { done, value } = await events.next();
    if (done) break;
    frames.push(value);
  }
  return frames;
}

test("a stale socket explains how to start the daemon", async () => {
  const attempt = connect({ socket: `${server.path}.none` });
  await expect(attempt).rejects.toMatchObject({
    code: "no_daemon",
    message: expect.stringMatching(/start one with `blemeesd`/),
  });
});

test("a path that is not a socket is reported as such", async () => {
  await expect(connect({ socket: import.meta.filename })).rejects.toMatchObject({
    code: "no_daemon",
    message: expect.stringContaining("not a socket"),
  });
});

test("a daemon of another protocol version is refused with its own code", async () => {
  server.hello = { type: "blemeesd.error", code: "protocol_mismatch", message: "expected blemees/3" };
  await expect(connect({ socket: server.path })).rejects.toMatchObject({ code: "protocol_mismatch" });
});

test("hello names the client and the protocol, and its answer is kept", async () => {
  server.hello = undefined;
  const joining = join({ client: "my-tool/1.0" });
  const peer = await server.accept();
  expect(await peer.next()).toEqual({
    type: "blemeesd.hello",
    client: "my-tool/1.0",
    protocol: "blemees/2",
    features: ["requests"],
  });
  peer.send({
    type: "blemeesd.hello_ack",
    daemon: "blemeesd/9",
    protocol: "blemees/2",
    pid: 7,
    backends: {},
  });
  expect((await joining).hello).toMatchObject({ daemon: "blemeesd/9", pid: 7 });
});

test("a line that is not JSON ends the connection for good, with a reason", async () => {
  const client = await join({ reconnect: { initialMs: 1 } });
  const status = client.status();
  const peer = await server.accept();
  await peer.next();
  peer.socket.write("{oops\n");
  await expect(status).rejects.toMatchObject({ code: "bad_frame" });
});

test("requests are answered by their id, whatever the order", async () => {
  const client = await join();
  const [first, second] = [client.ping("a"), client.ping("b")];
  const peer = await server.accept();
  const [one, two] = [await peer.next(), await peer.next()];
  peer.send(
    { type: "blemeesd.pong", id: two["id"], data: "b" },
    { type: "blemeesd.pong", id: one["id"], data: "a" },
  );
  expect(await Promise.all([first, second])).toEqual(["a", "b"]);
});

test("an error of the daemon becomes a CodedError with its code and session", async () => {
  server.responder = () => undefined;
  const client = await join();
  const opening = client.open({ session_id: "s1", backend: "nope" });
  const peer = await server.accept();
  const { id } = await peer.next();
  peer.send({
    type: "blemeesd.error",
    id,
    session_id: "s1",
    code: "unknown_backend",
    message: "no such backend",
  });
  await expect(opening).rejects.toMatchObject({ code: "unknown_backend", data: { session_id: "s1" } });
});

test("a request without an answer fails after the given timeout", async () => {
  const client = await join({ requestTimeoutMs: 5 });
  await expect(client.status()).rejects.toMatchObject({ code: "timeout" });
});

test("without reconnect, pending requests and open sessions fail when the socket drops", async () => {
  const client = await join({ reconnect: false });
  const session = await client.open({ session_id: "s1", backend: "demo" });
  const status = client.status();
  const events = session.events().next();
  (await server.accept()).drop();
  await expect(status).rejects.toMatchObject({ code: "connection_lost" });
  await expect(events).rejects.toMatchObject({ code: "connection_lost" });
  await expect(client.ping()).rejects.toMatchObject({ code: "connection_lost" });
});

test("options go into the block of the backend, and a new session gets a UUID", async () => {
  server.responder = () => undefined;
  const client = await join();
  const opening = client.open({ backend: "demo", options: { cwd: "/tmp" } });
  const peer = await server.accept();
  const frame = await peer.next();
  expect(frame).toMatchObject({ backend: "demo", options: { demo: { cwd: "/tmp" } } });
  expect(frame["session_id"]).toMatch(/^[0-9a-f-]{36}$/);
  peer.send({
    type: "blemeesd.opened",
    id: frame["id"],
    session_id: frame["session_id"],
    backend: "demo",
    last_seq: 0,
  });
  expect((await opening).session_id).toBe(frame["session_id"]);
});

test("frames that arrive together with the reply to open are not missed", async () => {
  server.responder = (frame) => [
    { type: "blemeesd.opened", id: frame["id"], session_id: "s1", backend: "demo", last_seq: 2 },
    delta("s1", 1),
    delta("s1", 2),
  ];
  const session = await (await join()).open({ session_id: "s1", backend: "demo", resume: true });
  expect(await take(session.events(), 2)).toEqual([delta("s1", 1), delta("s1", 2)]);
});

test("a turn yields its own frames, ends with the result, and returns it", async () => {
  const session = await (await join()).open({ session_id: "s1", backend: "demo" });
  const peer = await server.accept();
  const turn = session.turn("hi");
  expect(await peer.next()).toEqual({
    type: "agent.user",
    session_id: "s1",
    message: { role: "user", content: "hi" },
  });
  peer.send(delta("s1", 1), result("s1", 2), delta("s1", 3));
  const types: string[] = [];
  for await (const frame of turn) types.push(frame.type);
  expect(types).toEqual(["agent.delta", "agent.result"]);
  expect(await turn.result()).toMatchObject({ subtype: "success", seq: 2 });
});

test("a turn skips the replayed result of an earlier turn", async () => {
  server.responder = (frame) =>
    frame["type"] === "blemeesd.open"
      ? [
          { type: "blemeesd.opened", id: frame["id"], session_id: "s1", backend: "demo", last_seq: 2 },
          delta("s1", 1),
          result("s1", 2, "error"),
        ]
      : [delta("s1", 3), result("s1", 4)];
  const session = await (await join()).open({ session_id: "s1", backend: "demo", resume: true });
  expect(await session.turn("again").result()).toMatchObject({ seq: 4, subtype: "success" });
});

test("leaving a turn's loop early loses nothing of it", async () => {
  const session = await (await join()).open({ session_id: "s1", backend: "demo" });
  const turn = session.turn("hi");
  (await server.accept()).send(delta("s1", 1), delta("s1", 2), result("s1", 3));
  for await (const frame of turn) {
    expect(frame).toMatchObject({ seq: 1 });
    break;
  }
  expect(await turn.result()).toMatchObject({ seq: 3 });
});

test("a message that the daemon refuses makes the turn throw the daemon's code", async () => {
  const session = await (await join()).open({ session_id: "s1", backend: "demo" });
  const turn = session.turn("hi");
  (await server.accept()).send({
    type: "blemeesd.error",
    session_id: "s1",
    code: "session_busy",
    message: "busy",
  });
  await expect(turn.result()).rejects.toMatchObject({ code: "session_busy" });
});

test("an interrupt is matched to its session although its answer has no id", async () => {
  const session = await (await join()).open({ session_id: "s1", backend: "demo" });
  const interrupt = session.interrupt();
  const peer = await server.accept();
  expect(await peer.next()).toEqual({ type: "blemeesd.interrupt", session_id: "s1" });
  peer.send({ type: "blemeesd.interrupted", session_id: "s1", was_idle: true });
  expect(await interrupt).toMatchObject({ was_idle: true });
});

test("a session that was taken over ends its events after the frame that reports it", async () => {
  const session = await (await join()).open({ session_id: "s1", backend: "demo" });
  const peer = await server.accept();
  peer.send(delta("s1", 1), { type: "blemeesd.session_taken", session_id: "s1", by_peer_pid: 42 });
  const types: string[] = [];
  for await (const frame of session.events()) types.push(frame.type);
  expect(types).toEqual(["agent.delta", "blemeesd.session_taken"]);
  expect(session.ended).toMatchObject({
    code: "session_taken",
    message: expect.stringMatching(/process 42/),
  });
  await expect(session.send("more")).rejects.toMatchObject({ code: "session_taken" });
});

test("a watch without last_seen_seq starts after the session's last frame", async () => {
  server.responder = (frame) => [
    { type: "blemeesd.watching", id: frame["id"], session_id: "s1", last_seq: 7 },
    delta("s1", 8),
    { type: "blemeesd.catching_up", session_id: "s1", since_seq: 8, last_seq: 9 },
    { type: "blemeesd.session_closed", session_id: "s1", reason: "owner_closed" },
  ];
  const watch = await (await join()).watch("s1");
  const types: string[] = [];
  for await (const frame of watch.events()) types.push(frame.type);
  expect(types).toEqual(["agent.delta", "blemeesd.catching_up", "blemeesd.session_closed"]);
  expect(watch).toMatchObject({ last_seen_seq: 8, ended: { code: "session_closed" } });
});

test("an error without a request or session reaches onError", async () => {
  let tell: (error: unknown) => void = () => undefined;
  const told = new Promise((resolve) => {
    tell = resolve;
  });
  await join({ onError: tell });
  (await server.accept()).send({ type: "blemeesd.error", code: "daemon_shutdown", message: "bye" });
  expect(await told).toMatchObject({ code: "daemon_shutdown" });
});

test("two readers at once are refused instead of sharing the frames", async () => {
  const session = await (await join()).open({ session_id: "s1", backend: "demo" });
  const first = session.events().next();
  await expect(session.events().next()).rejects.toMatchObject({ code: "reader_exists" });
  (await server.accept()).send(delta("s1", 1));
  expect((await first).value).toMatchObject({ seq: 1 });
});
