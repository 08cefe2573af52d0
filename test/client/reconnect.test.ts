import { afterEach, beforeEach, expect, test } from "vitest";
import { type Client, type ConnectOptions, connect, type SessionFrame } from "../../src/client/index.ts";
import { delta, openAnything, type Responder, result, ScriptedServer } from "./scripted-server.ts";

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
  const client = await connect({ socket: server.path, reconnect: { initialMs: 1, maxMs: 4 }, ...options });
  clients.push(client);
  return client;
}

async function nextSeq(events: AsyncIterator<SessionFrame>): Promise<number | undefined> {
  const { value } = await events.next();
  return value !== undefined && "seq" in value ? value.seq : undefined;
}

test("after a drop an owned session is opened again from the last seq seen and its iterator continues", async () => {
  const session = await (await join()).open({ session_id: "s1", backend: "demo", options: { cwd: "/w" } });
  const events = session.events();
  const first = await server.accept();
  first.send(delta("s1", 1), delta("s1", 2));
  expect([await nextSeq(events), await nextSeq(events)]).toEqual([1, 2]);
  server.responder = () => undefined;
  first.drop();
  const second = await server.accept();
  const open = await second.next();
  expect(open).toMatchObject({
    session_id: "s1",
    resume: true,
    last_seen_seq: 2,
    options: { demo: { cwd: "/w" } },
  });
  second.send({ type: "blemeesd.opened", id: open["id"], session_id: "s1", backend: "demo", last_seq: 3 });
  second.send(delta("s1", 3));
  expect(await nextSeq(events)).toBe(3);
});

test("frames that were seen before the drop are not delivered twice", async () => {
  const session = await (await join()).open({ session_id: "s1", backend: "demo" });
  const events = session.events();
  const first = await server.accept();
  first.send(delta("s1", 1), delta("s1", 2));
  expect([await nextSeq(events), await nextSeq(events)]).toEqual([1, 2]);
  first.drop();
  (await server.accept()).send(delta("s1", 1), delta("s1", 2), delta("s1", 3));
  expect(await nextSeq(events)).toBe(3);
});

test("frames that are unread when the socket drops are kept, and not requested again", async () => {
  const client = await join();
  const session = await client.open({ session_id: "s1", backend: "demo" });
  const first = await server.accept();
  first.send(delta("s1", 1), delta("s1", 2), { type: "blemeesd.pong", id: "req_2" });
  await client.ping(); // both frames come before the pong
  server.responder = () => undefined;
  first.drop();
  expect(await (await server.accept()).next()).toMatchObject({ last_seen_seq: 2 });
  const events = session.events();
  expect([await nextSeq(events), await nextSeq(events)]).toEqual([1, 2]);
});

test("a watch is watched again from the last seq seen", async () => {
  server.responder = (frame) => [
    { type: "blemeesd.watching", id: frame["id"], session_id: "s1", last_seq: 5 },
  ];
  const watch = await (await join()).watch("s1");
  server.responder = () => undefined;
  (await server.accept()).drop();
  expect(await (await server.accept()).next()).toMatchObject({ type: "blemeesd.watch", last_seen_seq: 5 });
  expect(watch.ended).toBeUndefined();
});

test("a replay gap is an event, and frames after it still come", async () => {
  const session = await (await join()).open({
    session_id: "s1",
    backend: "demo",
    resume: true,
    last_seen_seq: 4,
  });
  const gap = { type: "blemeesd.replay_gap", session_id: "s1", since_seq: 4, first_available_seq: 9 };
  (await server.accept()).send(gap, delta("s1", 9));
  const events = session.events();
  expect((await events.next()).value).toEqual(gap);
  expect(await nextSeq(events)).toBe(9);
});

test("a history that starts again (first_available_seq <= since_seq) resets the cursor", async () => {
  const session = await (await join()).open({
    session_id: "s1",
    backend: "demo",
    resume: true,
    last_seen_seq: 50,
  });
  const gap = { type: "blemeesd.replay_gap", session_id: "s1", since_seq: 50, first_available_seq: 1 };
  (await server.accept()).send(gap, delta("s1", 1), delta("s1", 2));
  const events = session.events();
  expect((await events.next()).value).toEqual(gap);
  expect([await nextSeq(events), await nextSeq(events)]).toEqual([1, 2]);
});

test("a daemon that comes back with a lower last_seq is followed from there", async () => {
  server.responder = (frame) => [
    { type: "blemeesd.opened", id: frame["id"], session_id: "s1", backend: "demo", last_seq: 3 },
    delta("s1", 4),
  ];
  const session = await (await join()).open({
    session_id: "s1",
    backend: "demo",
    resume: true,
    last_seen_seq: 50,
  });
  expect(await nextSeq(session.events())).toBe(4);
});

test("a session that was taken over is not reclaimed after a drop", async () => {
  const client = await join();
  await client.open({ session_id: "mine", backend: "demo" });
  const session = await client.open({ session_id: "gone", backend: "demo" });
  const first = await server.accept();
  first.send({ type: "blemeesd.session_taken", session_id: "gone" });
  for await (const frame of session.events()) expect(frame.type).toBe("blemeesd.session_taken");
  server.responder = (frame) =>
    frame["type"] === "blemeesd.ping" ? [{ type: "blemeesd.pong", id: frame["id"] }] : undefined;
  first.drop();
  const second = await server.accept();
  const open = await second.next();
  expect(open["session_id"]).toBe("mine");
  second.send({ type: "blemeesd.opened", id: open["id"], session_id: "mine", backend: "demo", last_seq: 0 });
  await client.ping(); // nothing else was sent before it
});

test("a session that the daemon no longer has ends its own iterator, not the client", async () => {
  const client = await join();
  const session = await client.open({ session_id: "s1", backend: "demo" });
  const events = session.events().next();
  server.responder = (frame) =>
    frame["type"] === "blemeesd.open"
      ? [{ type: "blemeesd.error", id: frame["id"], session_id: "s1", code: "spawn_failed", message: "gone" }]
      : [{ type: "blemeesd.pong", id: frame["id"] }];
  (await server.accept()).drop();
  await expect(events).rejects.toMatchObject({ code: "spawn_failed", message: "cannot resume: gone" });
  await client.ping();
});

test("a harmless request that was in progress is repeated; an open fails", async () => {
  const client = await join();
  server.responder = () => undefined;
  const [ping, opening] = [client.ping("x"), client.open({ session_id: "s1", backend: "demo" })];
  opening.catch(() => undefined);
  const first = await server.accept();
  await first.next();
  first.drop();
  await expect(opening).rejects.toMatchObject({ code: "connection_lost" });
  const second = await server.accept();
  second.send({ type: "blemeesd.pong", id: (await second.next())["id"], data: "x" });
  expect(await ping).toBe("x");
});

test("a message that never reached the daemon is reported instead of waited for", async () => {
  const session = await (await join()).open({ session_id: "s1", backend: "demo" });
  const turn = session.turn("hello?");
  const first = await server.accept();
  await first.next();
  const idle = { session_id: "s1", backend: "demo", attached: true, turn_active: false };
  server.responder = (frame) =>
    openAnything(frame) ?? [{ type: "blemeesd.sessions", id: frame["id"], sessions: [idle] }];
  first.drop();
  await expect(turn.result()).rejects.toMatchObject({ code: "message_lost" });
});

/** Answers a reopen like a daemon whose agent is restarted: the agent's description, then these frames. */
function reopened(last_seq: number, ...frames: object[]): Responder {
  const idle = { session_id: "s1", backend: "demo", attached: true, turn_active: false, last_seq };
  const init = { type: "agent.system_init", session_id: "s1", seq: 1, backend: "demo" };
  return ({ type, id }) =>
    type === "blemeesd.open"
      ? [{ type: "blemeesd.opened", id, session_id: "s1", backend: "demo", last_seq: 1 }, init]
      : [{ type: "blemeesd.sessions", id, sessions: [idle] }, ...frames];
}

test("so is one that was lost with an agent that describes itself when it is restarted", async () => {
  const session = await (await join()).open({ session_id: "s1", backend: "demo" });
  const turn = session.turn("hello?");
  const first = await server.accept();
  await first.next();
  server.responder = reopened(1);
  first.drop();
  await expect(turn.result()).rejects.toMatchObject({ code: "message_lost" });
});

test("a turn that ended meanwhile was not lost, however late its frames come", async () => {
  const session = await (await join()).open({ session_id: "s1", backend: "demo" });
  const turn = session.turn("hello?");
  const first = await server.accept();
  await first.next();
  const started = {
    type: "agent.notice",
    session_id: "s1",
    seq: 2,
    backend: "demo",
    category: "task_started",
  };
  server.responder = reopened(3, { ...started, level: "info" }, delta("s1", 3));
  first.drop();
  const second = await server.accept();
  const seen: unknown[] = [];
  for await (const frame of turn) {
    seen.push("seq" in frame ? frame.seq : frame.type);
    // It was not stored yet when the daemon reported its last seq.
    if (frame.type === "agent.delta") setImmediate(() => second.send(result("s1", 4)));
  }
  expect(seen).toEqual([1, 2, 3, 4]);
});

test("a second drop, in the middle of attaching again, does not hang the client", async () => {
  const session = await (await join()).open({ session_id: "s1", backend: "demo" });
  const turn = session.turn("hello?");
  const first = await server.accept();
  await first.next();
  first.drop();
  const second = await server.accept();
  expect((await second.next())["type"]).toBe("blemeesd.list_sessions"); // is the turn running?
  server.responder = (frame) => [...(openAnything(frame) ?? []), delta("s1", 1), result("s1", 2)];
  second.drop();
  expect(await turn.result()).toMatchObject({ seq: 2 });
});

test("a turn that continues during the drop is read to its end", async () => {
  const session = await (await join()).open({ session_id: "s1", backend: "demo" });
  const turn = session.turn("go");
  const first = await server.accept();
  await first.next();
  server.responder = (frame) => [
    { type: "blemeesd.opened", id: frame["id"], session_id: "s1", backend: "demo", last_seq: 2 },
    delta("s1", 1),
    result("s1", 2),
  ];
  first.drop();
  expect(await turn.result()).toMatchObject({ seq: 2 });
});

test("reconnecting and reconnected are reported, and a restarted daemon is found again", async () => {
  const told: string[] = [];
  let up: () => void = () => undefined;
  const back = new Promise<void>((resolve) => {
    up = resolve;
  });
  await join({
    onReconnecting: ({ cause }) => void told.push(cause.code),
    onReconnected: ({ daemon }) => {
      told.push(daemon);
      up();
    },
  });
  await server.accept();
  await server.restart();
  await back;
  expect(told[0]).toBe("connection_lost");
  expect(told.at(-1)).toBe("blemeesd/test");
});

test("when the attempts are used up, everything fails with the last reason", async () => {
  const client = await join({ reconnect: { initialMs: 1, maxMs: 1, attempts: 2 } });
  const session = await client.open({ session_id: "s1", backend: "demo" });
  const events = session.events().next();
  await server.close();
  await expect(events).rejects.toMatchObject({ code: "no_daemon" });
  await expect(client.status()).rejects.toMatchObject({ code: "no_daemon" });
});

test("an abort ends the pause between two attempts at once", async () => {
  const abort = new AbortController();
  const client = await join({
    reconnect: { initialMs: 600_000, maxMs: 600_000 },
    signal: abort.signal,
    onReconnecting: () => abort.abort(),
  });
  const session = await client.open({ session_id: "s1", backend: "demo" });
  const events = session.events().next();
  (await server.accept()).drop();
  await expect(events).rejects.toMatchObject({ code: "aborted" });
  await expect(client.ping()).rejects.toMatchObject({ code: "aborted" });
});

test("a signal that is aborted already refuses to connect", async () => {
  await expect(connect({ socket: server.path, signal: AbortSignal.abort() })).rejects.toMatchObject({
    code: "aborted",
  });
});
