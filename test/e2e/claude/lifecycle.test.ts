// Interrupts and crashes of the real claude: what is left of its processes and of its context. Crashes of the daemon
// are in approvals.test.ts.
import { afterAll, beforeAll, expect, test } from "vitest";
import { markOf, processesWith, untilGone, untilRuns } from "../processes.ts";
import { ofType } from "../world.ts";
import { type ClaudeWorld, openWorld } from "./world.ts";

let world: ClaudeWorld;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

test("an interrupt in the middle of a text keeps claude running and the partial answer in its context", async () => {
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

test("an interrupt in the middle of a tool leaves no process of the tool running", async () => {
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
