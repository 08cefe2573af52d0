import { afterEach, beforeEach, expect, test } from "vitest";
import {
  type Client,
  type ConnectOptions,
  connect,
  type RequestsFilter,
  readRequest,
} from "../../src/client/index.ts";
import { noticeOf, pending, resolved, responded } from "./request-rows.ts";
import { delta, HELLO_ACK, type Json, openAnything, result, ScriptedServer } from "./scripted-server.ts";

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

const row = pending();

test("hello requests features, and the daemon's features are kept", async () => {
  server.hello = { ...HELLO_ACK, features: ["requests"] };
  expect((await join()).hello.features).toEqual(["requests"]);
});

test("requests of all sessions, of one, and including finished ones", async () => {
  const client = await join();
  const session = await client.open({ session_id: "s1", backend: "demo" });
  const asked: object[] = [];
  server.responder = ({ id, ...frame }) => {
    asked.push(frame);
    return [{ type: "blemeesd.requests", id, requests: [row] }];
  };
  expect(await client.requests()).toEqual([row]);
  await client.requests({ session_id: "s9", include_orphaned: true, include_settled: true });
  await session.requests({ include_settled: true });
  const type = "blemeesd.list_requests";
  expect(asked).toEqual([
    { type },
    { type, session_id: "s9", include_orphaned: true, include_settled: true },
    { type, session_id: "s1", include_settled: true },
  ]);
});

test("all pages are returned, and with a limit at most that many are requested", async () => {
  const client = await join();
  const asked: Json[] = [];
  server.responder = ({ id, ...frame }) => {
    asked.push(frame);
    const page = Number(frame["after"] ?? 1);
    const requests = [pending({ request_id: `req_${page}` })];
    return [{ type: "blemeesd.requests", id, requests, ...(page < 3 ? { next: String(page + 1) } : {}) }];
  };
  const ids = async (filter?: RequestsFilter) =>
    (await client.requests(filter)).map(({ request_id }) => request_id);
  expect(await ids()).toEqual(["req_1", "req_2", "req_3"]);
  asked.length = 0;
  expect(await ids({ session_id: "s1", limit: 2 })).toEqual(["req_1", "req_2"]);
  expect(await ids({ after: "3" })).toEqual(["req_3"]);
  const type = "blemeesd.list_requests";
  expect(asked).toEqual([
    { type, session_id: "s1", limit: 2 },
    { type, session_id: "s1", limit: 1, after: "2" },
    { type, after: "3" },
  ]);
  asked.length = 0;
  for await (const { requests } of client.requestPages()) if (requests[0]?.request_id === "req_2") break;
  expect(asked).toHaveLength(2);
  await client.requests({ request_id: "req_9" });
  expect(asked[2]).toEqual({ type, request_id: "req_9" });
});

test("a reply that is too large fails its request; the client and its sessions continue", async () => {
  const client = await join();
  const session = await client.open({ session_id: "s1", backend: "demo" });
  const listing = client.requests();
  const first = await server.accept();
  await first.next();
  first.socket.write(Buffer.alloc(65 * 1024 * 1024, "x"));
  await expect(listing).rejects.toMatchObject({ code: "frame_too_large" });
  const second = await server.accept();
  second.send(delta("s1", 1));
  expect((await session.events().next()).value).toMatchObject({ seq: 1 });
});

test("an event that is too large ends the client: it would come again and again", async () => {
  const client = await join();
  const session = await client.open({ session_id: "s1", backend: "demo" });
  (await server.accept()).socket.write(Buffer.alloc(65 * 1024 * 1024, "x"));
  await expect(session.events().next()).rejects.toMatchObject({ code: "frame_too_large" });
});

test("open reports who can answer, also when it is repeated after a drop", async () => {
  const client = await join();
  server.responder = (frame) => (frame["answers"] === "any" ? openAnything(frame) : undefined);
  await client.open({ session_id: "s1", backend: "demo", answers: "any" });
  server.responder = () => undefined;
  (await server.accept()).drop();
  expect(await (await server.accept()).next()).toMatchObject({ answers: "any", resume: true });
});

test("an answer is sent with its hash and source, and its outcome is returned", async () => {
  const session = await (await join()).open({ session_id: "s1", backend: "demo" });
  const answering = session.respond("req_a1", { decision: "accept" }, { shown_hash: "h", source: "tui" });
  const peer = await server.accept();
  const frame = await peer.next();
  expect(frame).toEqual({
    type: "blemeesd.respond",
    id: expect.any(String),
    session_id: "s1",
    request_id: "req_a1",
    answer: { decision: "accept" },
    shown_hash: "h",
    source: "tui",
  });
  peer.send(responded(frame, resolved(row)));
  expect(await answering).toMatchObject({ repeated: false, request: { status: "resolved" } });
});

test("a watcher answers by its handle, and any client by the client", async () => {
  server.responder = ({ id, session_id }) => [{ type: "blemeesd.watching", id, session_id, last_seq: 0 }];
  const client = await join();
  const watch = await client.watch("s1");
  server.responder = (frame) => [responded(frame, resolved(row))];
  const answer = { answers: { q: "text" } };
  expect(await watch.respond("req_a1", answer)).toMatchObject({ session_id: "s1" });
  expect(await client.respond("s2", "req_a1", answer)).toMatchObject({ session_id: "s2" });
});

test("a refused answer is an error with its code and the daemon's data", async () => {
  const client = await join();
  const data = { request: { ...row, status: "expired" } };
  server.responder = ({ id, session_id }) => [
    { type: "blemeesd.error", id, session_id, code: "request_expired", message: "too late", data },
  ];
  await expect(client.respond("s1", "req_a1", { decision: "accept" })).rejects.toMatchObject({
    code: "request_expired",
    message: "too late",
    data: { session_id: "s1", request: { status: "expired" } },
  });
});

test("an answer in progress when the connection dropped is sent again, after the session's open", async () => {
  const session = await (await join()).open({ session_id: "s1", backend: "demo" });
  const answering = session.respond("req_a1", { decision: "accept" }, { shown_hash: "h" });
  const first = await server.accept();
  const said = await first.next();
  server.responder = () => undefined;
  first.drop(); // the daemon has it, its reply is lost
  const second = await server.accept();
  const open = await second.next();
  expect(open).toMatchObject({ type: "blemeesd.open", resume: true });
  second.send({ type: "blemeesd.opened", id: open["id"], session_id: "s1", backend: "demo", last_seq: 0 });
  const again = await second.next();
  expect(again).toEqual(said);
  second.send(responded(again, resolved(row), true));
  expect(await answering).toMatchObject({ repeated: true, request: { answer: { decision: "accept" } } });
});

test("a list in progress when the connection dropped is requested again", async () => {
  const client = await join();
  const listing = client.requests();
  const first = await server.accept();
  await first.next();
  first.drop();
  const second = await server.accept();
  second.send({ type: "blemeesd.requests", id: (await second.next())["id"], requests: [row] });
  expect(await listing).toEqual([row]);
});

test("when the daemon was restarted meanwhile, the repeated answer learns that it is no longer needed", async () => {
  const client = await join();
  const answering = client.respond("s1", "req_a1", { decision: "accept" });
  const first = await server.accept();
  await first.next();
  first.drop();
  const second = await server.accept();
  const { id } = await second.next();
  second.send({ type: "blemeesd.error", id, session_id: "s1", code: "request_orphaned", message: "gone" });
  await expect(answering).rejects.toMatchObject({ code: "request_orphaned" });
});

test("a request is seen in a turn, answered there, and the turn continues", async () => {
  const session = await (await join()).open({ session_id: "s1", backend: "demo" });
  server.responder = (frame) => {
    if (frame["type"] === "agent.user") return [noticeOf(row, 1)];
    return [noticeOf(resolved(row), 2), responded(frame, resolved(row)), delta("s1", 3), result("s1", 4)];
  };
  const updates: string[] = [];
  const turn = session.turn("approve");
  for await (const frame of turn) {
    const request = readRequest(frame);
    if (request === undefined) continue;
    updates.push(request.status);
    if (request.status !== "pending") continue;
    const { request_id, shown_hash, payload } = request;
    expect(payload.command).toBe("mkdir -p build");
    await session.respond(request_id, { decision: "accept" }, { shown_hash });
  }
  expect(updates).toEqual(["pending", "resolved"]);
  expect(await turn.result()).toMatchObject({ seq: 4 });
});

test.each([
  ["another event", { type: "agent.delta", kind: "text" }],
  ["another notice", { category: "task_started" }],
  ["a notice of that name without a request", { category: "request_pending" }],
  ["a category that says something else", { category: "request_pending", data: { request: resolved(row) } }],
  ["a refusal", { category: "request_refused", data: { request: row } }],
])("%s is no request", (_what, fields) => {
  const frame = { type: "agent.notice", session_id: "s1", backend: "demo", level: "info", ...fields };
  expect(readRequest(frame as unknown as Parameters<typeof readRequest>[0])).toBeUndefined();
});
