// What two things at once must not do to a session.
import { expect, test } from "vitest";
import type { Frame, RawClient } from "../../support/raw-client.ts";
import { ask, newId, say, streamOf, useDaemon } from "./talk.ts";

const daemon = useDaemon();

/** A session whose agent has crashed; its owner stays. */
async function withDeadAgent(): Promise<{ owner: RawClient; session_id: string }> {
  const owner = await daemon.connect();
  const session_id = newId();
  await owner.open(session_id, { include_partial_messages: true });
  await owner.turn(session_id, "#crash");
  return { owner, session_id };
}

const resultsOf = (client: RawClient, session_id: string): Frame[] =>
  streamOf(client, session_id).filter((frame) => frame.type === "agent.result");

test("a takeover that fails leaves the owner its options", async () => {
  const { owner, session_id } = await withDeadAgent();
  const other = await daemon.connect();
  const refused = await other.open(session_id, { cwd: "/nonexistent" }, { resume: true });
  expect(refused["code"]).toBe("spawn_failed");
  expect((await owner.turn(session_id, "#say still here"))["subtype"]).toBe("success");
});

test("a close that waited for a takeover does not end the new owner's session", async () => {
  const [old, heir] = [await daemon.connect(), await daemon.connect()];
  const session_id = newId();
  await old.open(session_id);
  say(old, session_id, "#deaf");
  await old.next((frame) => frame["category"] === "task_started");
  old.send({ type: "blemeesd.interrupt", session_id });
  await old.next("blemeesd.interrupted");
  // The interrupt is now in its fallback; the takeover waits for it, and the close comes after that.
  heir.send({ type: "blemeesd.open", session_id, backend: "claude", resume: true, options: {} });
  await ask(heir, "ping");
  expect((await ask(old, "close", { session_id })).type).toBe("blemeesd.closed");
  if (!heir.frames.some((frame) => frame.type === "blemeesd.opened")) await heir.next("blemeesd.opened");
  say(heir, session_id, "#say mine");
  await heir.next((frame) => frame.type === "agent.result" && frame["subtype"] === "success");
});

test("an interrupt ends the turn it was meant for, not the one the agent starts after it", async () => {
  const client = await daemon.connect();
  const session_id = newId();
  await client.open(session_id, { include_partial_messages: true });
  say(client, session_id, "#bgtool 100 sleep 1; echo finished #slow 200 20");
  await client.next((frame) => frame["text"] === "word20 " || String(frame["text"]).includes("20"));
  client.send({ type: "blemeesd.interrupt", session_id });
  const first = await client.next("agent.result");
  const second = await client.next("agent.result");
  expect([first["subtype"], second["subtype"]]).toEqual(["interrupted", "success"]);
  expect(new Set(resultsOf(client, session_id).map((frame) => frame["turn_id"])).size).toBe(2);
});

test("watch and unwatch in one write are done and answered in that order", async () => {
  const client = await daemon.connect();
  const session_id = newId();
  await client.open(session_id);
  const watcher = await daemon.connect();
  watcher.sendRaw(
    `${JSON.stringify({ type: "blemeesd.watch", session_id })}\n${JSON.stringify({ type: "blemeesd.unwatch", session_id })}\n`,
  );
  expect((await watcher.next("blemeesd.unwatched"))["was_watching"]).toBe(true);
  expect(watcher.frames.map((frame) => frame.type).slice(-2)).toEqual([
    "blemeesd.watching",
    "blemeesd.unwatched",
  ]);
  await client.turn(session_id, "hello");
  expect(streamOf(watcher, session_id)).toEqual([]);
});
