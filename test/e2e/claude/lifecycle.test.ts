// Interrupts, deaths and restarts of the real claude: what is left of its processes and of its memory.
import { afterAll, beforeAll, expect, test } from "vitest";
import { markOf, processesWith, untilGone, untilRuns } from "../processes.ts";
import { ofType, resume } from "../world.ts";
import { type ClaudeWorld, openWorld } from "./world.ts";

let world: ClaudeWorld;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

test("an interrupt in the middle of a text keeps claude warm and the half answer in its memory", async () => {
  const talk = await world.session();
  talk.send("#mock:slow 200 50");
  await talk.until((frame) => frame.type === "agent.delta" && String(frame["text"]).startsWith("tick2"));
  const pid = processesWith(markOf(talk.session_id))[0]?.pid;
  const startedMs = performance.now();
  talk.client.send({ type: "blemeesd.interrupt", session_id: talk.session_id });
  expect(await talk.until((frame) => frame.type === "blemeesd.interrupted")).toMatchObject({
    was_idle: false,
  });
  const result = await talk.until((frame) => frame.type === "agent.result");
  console.log(`interrupt to result: ${Math.round(performance.now() - startedMs)} ms`);
  expect(result["subtype"]).toBe("interrupted");
  const next = await talk.say("#mock:context");
  expect(next.text).toContain("tick1");
  expect(processesWith(markOf(talk.session_id))[0]?.pid).toBe(pid);
});

test("an interrupt in the middle of a tool leaves no process of the tool behind", async () => {
  const talk = await world.session();
  talk.send("#mock:bash (setsid sleep 4321 &) ; sleep 1234");
  const [foreground] = await Promise.all([
    untilRuns(markOf(talk.session_id), "sleep 1234"),
    untilRuns(markOf(talk.session_id), "sleep 4321"),
  ]);
  talk.client.send({ type: "blemeesd.interrupt", session_id: talk.session_id });
  expect((await talk.until((frame) => frame.type === "agent.result"))["subtype"]).toBe("interrupted");
  await untilGone(markOf(talk.session_id), "sleep");
  expect(foreground.pid).toBeGreaterThan(0);
  expect((await talk.say("#mock:text go on")).text).toBe("go on");
});

test("a killed claude ends the turn once, as a crash; the next message resumes with all its context", async () => {
  const talk = await world.session();
  await talk.say("remember the green parrot");
  talk.send("#mock:bash echo begun; sleep 1235");
  await untilRuns(markOf(talk.session_id), "sleep 1235");
  const pid = Number(talk.opened["subprocess_pid"]);
  const from = talk.client.frames.length;
  process.kill(pid, "SIGKILL");
  expect(await talk.until((frame) => frame.type === "blemeesd.error")).toMatchObject({
    code: "backend_crashed",
  });
  const result = await talk.until((frame) => frame.type === "agent.result");
  expect(result).toMatchObject({ subtype: "error", error: { code: "backend_crashed" } });
  await untilGone(markOf(talk.session_id), "sleep");
  const next = await talk.say("#mock:context");
  expect(next.text).toContain("green parrot");
  expect(ofType(talk.client.frames.slice(from), "agent.result")).toHaveLength(2);
});

test("close leaves no process, also in the middle of a tool", async () => {
  const talk = await world.session();
  talk.send("#mock:bash (setsid sleep 4322 &) ; sleep 1236");
  await Promise.all([
    untilRuns(markOf(talk.session_id), "sleep 1236"),
    untilRuns(markOf(talk.session_id), "sleep 4322"),
  ]);
  const watcher = await world.connect();
  await watcher.request({ type: "blemeesd.watch", session_id: talk.session_id, last_seen_seq: 0 });
  const closed = await talk.client.request({ type: "blemeesd.close", session_id: talk.session_id });
  expect(closed.type).toBe("blemeesd.closed");
  await untilGone(markOf(talk.session_id));
  await watcher.next("blemeesd.session_closed");
  expect(ofType(watcher.frames, "agent.result")).toHaveLength(1);
});

test.each(["SIGTERM", "SIGKILL"] as const)(
  "after %s of the daemon a session resumes with its context",
  async (signal) => {
    const talk = await world.session();
    await talk.say("remember the red fox");
    await world.restart(signal);
    await untilGone(markOf(talk.session_id));
    const again = await resume(world, talk);
    expect(again.opened.type).toBe("blemeesd.opened");
    expect((await again.say("#mock:context")).text).toContain("red fox");
  },
);

test("a turn goes on without its owner and is replayed to the next one", async () => {
  const talk = await world.session();
  talk.send("#mock:slow 20 50");
  const seen = await talk.until((frame) => frame.type === "agent.delta");
  talk.client.close();
  const again = await resume(world, talk, { last_seen_seq: seen["seq"] });
  const result = await again.until((frame) => frame.type === "agent.result");
  expect(result["subtype"]).toBe("success");
  const seqs = again.client.frames.flatMap((frame) =>
    frame["seq"] === undefined ? [] : [Number(frame["seq"])],
  );
  expect(seqs).toEqual(seqs.map((_, at) => Number(seen["seq"]) + 1 + at));
});

test("another client takes the session over, in the middle of a turn", async () => {
  const talk = await world.session();
  talk.send("#mock:slow 20 50");
  await talk.until((frame) => frame.type === "agent.delta");
  const next = await resume(world, talk, { last_seen_seq: 0 });
  expect(await talk.until((frame) => frame.type === "blemeesd.session_taken")).toBeDefined();
  expect((await next.until((frame) => frame.type === "agent.result"))["subtype"]).toBe("success");
  talk.send("am I still the owner?");
  expect(await talk.until((frame) => frame.type === "blemeesd.error")).toMatchObject({
    code: "session_unknown",
  });
  expect((await next.say("#mock:text mine now")).text).toBe("mine now");
});
