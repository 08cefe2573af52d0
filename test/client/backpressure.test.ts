import { afterEach, beforeEach, expect, test } from "vitest";
import { type Client, connect } from "../../src/client/index.ts";
import { delta, openAnything, type Peer, ScriptedServer } from "./scripted-server.ts";

const FRAMES = 40_000;
let server: ScriptedServer;
let client: Client;

beforeEach(async () => {
  server = await ScriptedServer.start((frame) =>
    frame["type"] === "blemeesd.ping" ? [{ type: "blemeesd.pong", id: frame["id"] }] : openAnything(frame),
  );
  client = await connect({ socket: server.path, maxQueuedFrames: 100 });
});
afterEach(async () => {
  await client.close();
  await server.close();
});

/** Writes until the socket accepts no more; resolves with the number of frames the other side has not taken. */
async function flood(peer: Peer, from: number): Promise<number> {
  for (let seq = from; seq <= FRAMES; seq += 1) peer.send(delta("s1", seq, "x".repeat(200)));
  // The kernel's buffers are full once nothing has drained for some turns of the event loop.
  let before = -1;
  while (before !== peer.socket.writableLength) {
    before = peer.socket.writableLength;
    for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  }
  return peer.socket.writableLength;
}

test("a program that does not read stops the socket, and loses nothing when it reads again", async () => {
  const session = await client.open({ session_id: "s1", backend: "demo" });
  const peer = await server.accept();
  expect(await flood(peer, 1)).toBeGreaterThan(1_000_000);
  let expected = 1;
  for await (const frame of session.events()) {
    expect("seq" in frame && frame.seq).toBe(expected);
    if (expected === FRAMES) break;
    expected += 1;
  }
  expect(peer.socket.writableLength).toBe(0);
});

test("a request after unread frames is still answered", async () => {
  await client.open({ session_id: "s1", backend: "demo" });
  const peer = await server.accept();
  expect(await flood(peer, 1)).toBeGreaterThan(1_000_000);
  await client.ping();
});

test("closing a session without a reader does not hang", async () => {
  const session = await client.open({ session_id: "s1", backend: "demo" });
  await flood(await server.accept(), 1);
  await session.close();
  expect(session.ended).toMatchObject({ code: "session_closed" });
});
