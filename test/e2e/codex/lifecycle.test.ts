// Interrupts, crashes and restarts of the real codex and of the daemon: what is left of processes, turns and requests.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { begin, listRequests, respond, settle } from "../asks.ts";
import { processesWith, untilGone, untilRuns } from "../processes.ts";
import { ofType, resume } from "../world.ts";
import { holdThread } from "./app-server.ts";
import { type CodexWorld, markOf, openWorld } from "./world.ts";

let world: CodexWorld;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(async () => {
  await world.close();
  await untilGone(markOf(world));
});

test("an interrupt in the middle of a text ends the turn; the thread continues", async () => {
  const talk = await world.session();
  talk.send("#mock:slow 200 50");
  await talk.until((frame) => frame.type === "agent.delta" && String(frame["text"]).startsWith("tick2"));
  const startedMs = performance.now();
  talk.client.send({ type: "blemeesd.interrupt", session_id: talk.session_id });
  const result = await talk.until((frame) => frame.type === "agent.result");
  console.log(`interrupt to result: ${Math.round(performance.now() - startedMs)} ms`);
  expect(result["subtype"]).toBe("interrupted");
  expect((await talk.say("#mock:context")).text).toContain("1 earlier");
});

test("an interrupt in the middle of a command leaves no process of it running", async () => {
  const talk = await world.session({ "approval-policy": "never" });
  const turn = begin(talk, "#mock:exec sleep 61");
  await talk.until((frame) => frame.type === "agent.tool_use");
  await untilRuns(markOf(world), "sleep 61");
  talk.client.send({ type: "blemeesd.interrupt", session_id: talk.session_id });
  const { result, frames } = await turn.end();
  expect(result["subtype"]).toBe("interrupted");
  expect(ofType(frames, "agent.tool_result")).toHaveLength(1);
  await untilGone(markOf(world), "sleep 61");
  expect((await talk.say("#mock:text go on")).text).toBe("go on");
});

test("the end of the shared process ends each turn once; the next message resumes with its context", async () => {
  const [left, right] = [await world.session(), await world.session()];
  await Promise.all([left.say("I am left"), right.say("I am right")]);
  const turns = [begin(left, "#mock:slow 400 50"), begin(right, "#mock:exec touch never-answered")] as const;
  const row = await turns[1].asked();
  await left.until((frame) => frame.type === "agent.delta");
  process.kill(Number(left.opened["subprocess_pid"]), "SIGKILL");
  for (const turn of turns) {
    expect((await turn.end()).result).toMatchObject({
      subtype: "error",
      error: { code: "backend_crashed" },
    });
  }
  expect(await turns[1].became(row, "orphaned")).toMatchObject({ request_id: row.request_id });
  for (const [talk, said] of [
    [left, "I am left"],
    [right, "I am right"],
  ] as const) {
    expect((await talk.say("#mock:context")).text).toContain(said);
    // The first turn, the one that was cut off, and this one.
    expect(ofType(talk.client.frames, "agent.result")).toHaveLength(3);
  }
  expect(existsSync(join(world.cwd, "never-answered"))).toBe(false);
});

test("close leaves no command running, and does not affect other sessions", async () => {
  const [talk, other] = [await world.session({ "approval-policy": "never" }), await world.session()];
  talk.send("#mock:exec sleep 62");
  await untilRuns(markOf(world), "sleep 62");
  const closed = await talk.client.request({ type: "blemeesd.close", session_id: talk.session_id });
  expect(closed.type).toBe("blemeesd.closed");
  await untilGone(markOf(world), "sleep 62");
  expect((await other.say("#mock:text unmoved")).text).toBe("unmoved");
});

test("after SIGTERM of the daemon a session resumes with its context, and no codex is left between", async () => {
  const talk = await world.session();
  await talk.say("remember the red fox");
  const native = (await talk.client.request({ type: "blemeesd.session_info", session_id: talk.session_id }))[
    "native_session_id"
  ];
  await world.daemon.kill("SIGTERM");
  await untilGone(markOf(world));
  await world.restart("SIGTERM");
  const again = await resume(world, talk);
  expect(again.opened).toMatchObject({ type: "blemeesd.opened", native_session_id: native });
  expect((await again.say("#mock:context")).text).toBe('1 earlier: ["remember the red fox"]');
});

test("a session that never had a turn is resumed as well", async () => {
  const talk = await world.session();
  await world.restart("SIGTERM");
  const again = await resume(world, talk);
  expect(again.opened.type).toBe("blemeesd.opened");
  expect((await again.say("#mock:context")).text).toBe("0 earlier: []");
});

test("a crash of the daemon and codex leaves one result and an orphaned request; the next message works", async () => {
  const talk = await world.session();
  await talk.say("remember the grey owl");
  const row = await begin(talk, "#mock:exec touch orphan").asked();
  await world.restart("SIGKILL");
  await untilGone(markOf(world), "app-server");
  const of = { session_id: talk.session_id };
  // Reported before any client opens the session again.
  const client = await world.connect();
  expect(await listRequests(client, of)).toEqual([]);
  expect(await listRequests(client, { ...of, include_orphaned: true })).toMatchObject([
    { request_id: row.request_id, status: "orphaned", error_code: "server_restarted" },
  ]);
  const again = await resume(world, talk);
  const result = await again.until((frame) => frame.type === "agent.result");
  expect(result).toMatchObject({ subtype: "error", error: { code: "backend_crashed" } });
  expect(await respond(again.client, row, { decision: "accept" })).toMatchObject({
    code: "request_orphaned",
  });
  expect((await again.say("#mock:context")).text).toContain("remember the grey owl");
  const retry = begin(again, "#mock:exec touch orphan");
  const fresh = await retry.asked();
  expect(fresh.request_id).not.toBe(row.request_id);
  await settle(retry, fresh, { decision: "accept" });
  await retry.end();
  expect(ofType(again.client.frames, "agent.result")).toHaveLength(3);
  expect(existsSync(join(world.cwd, "orphan"))).toBe(true);
});

test("a thread that another codex has open is refused with the reason, and resumes when it is free", async () => {
  const talk = await world.session();
  await talk.say("remember the open door");
  const info = await talk.client.request({ type: "blemeesd.session_info", session_id: talk.session_id });
  await world.daemon.kill("SIGTERM");
  await untilGone(markOf(world));
  const release = await holdThread(world, String(info["native_session_id"] ?? talk.session_id));
  try {
    await world.restart("SIGTERM");
    const refused = await resume(world, talk);
    expect(refused.opened).toMatchObject({ type: "blemeesd.error", code: "spawn_failed" });
    expect(refused.opened["message"]).toMatch(/open in another Codex.*close it there/);
  } finally {
    await release();
  }
  const again = await resume(world, talk);
  expect((await again.say("#mock:context")).text).toContain("remember the open door");
  expect(processesWith(markOf(world)).length).toBeGreaterThan(0);
});
