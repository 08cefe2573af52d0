// Interrupts, crashes and restarts of demian under the daemon: what is left of processes, turns and conversations.
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { bash, chatReply, type ModelServer, startModelServer, stuck } from "../../support/model-server.ts";
import { PATIENT } from "../../support/patience.ts";
import { begin, settle } from "../asks.ts";
import { markOf, processesWith, untilGone, untilRuns } from "../processes.ts";
import { createWorld, ofType, resume, type World } from "../world.ts";
import { configure, danglingCalls, userTexts, writeRepository } from "./repository.ts";

let world: World<ModelServer>;
beforeAll(async () => {
  const model = await startModelServer();
  world = await createWorld({
    backend: "demian",
    model,
    furnish: (_home, cwd) => ({ env: {}, options: { cwd } }),
  });
  writeRepository(world.cwd);
  await configure(world.home, model.url);
});
afterAll(async () => {
  const mark = `HOME=${world.home}`;
  await world.close();
  await untilGone(mark);
});

const demians = () =>
  processesWith(`HOME=${world.home}`).filter(({ command }) => command.includes(join("dist", "demian.js")));

test("an interrupt in the middle of a text ends the turn and the request to the model; the next one works", async () => {
  const talk = await world.session();
  world.model.script(stuck("let me think"), chatReply("Here I am."));
  const turn = begin(talk, "think");
  await talk.until((frame) => frame.type === "agent.delta");
  const startedMs = performance.now();
  talk.client.send({ type: "blemeesd.interrupt", session_id: talk.session_id });
  expect((await turn.end()).result["subtype"]).toBe("interrupted");
  console.log(`demian: interrupt to result ${Math.round(performance.now() - startedMs)} ms`);
  expect((await talk.say("are you there?")).text).toBe("Here I am.");
});

test("an interrupt in the middle of a command leaves no process of it running", async () => {
  const talk = await world.session();
  world.model.script(bash("sleep 61 & sleep 62"), chatReply("Here I am."));
  const mark = markOf(talk.session_id);
  const turn = begin(talk, "take your time");
  await settle(turn, await turn.asked(), { decision: "accept" });
  await Promise.all([untilRuns(mark, "sleep 61"), untilRuns(mark, "sleep 62")]);
  talk.client.send({ type: "blemeesd.interrupt", session_id: talk.session_id });
  const { result, frames } = await turn.end();
  expect(result["subtype"]).toBe("interrupted");
  expect(ofType(frames, "agent.tool_result")).toMatchObject([{ is_error: true }]);
  await untilGone(mark, "sleep");
  expect((await talk.say("are you there?")).text).toBe("Here I am.");
});

test("demian is killed in the middle of a turn: one result with the reason, and the next message has the whole context", async () => {
  const talk = await world.session();
  world.model.script(chatReply("Noted."), bash("sleep 63"), chatReply("It was the red fox."));
  await talk.say("remember the red fox");
  const mark = markOf(talk.session_id);
  const turn = begin(talk, "take your time");
  await settle(turn, await turn.asked(), { decision: "accept" });
  await untilRuns(mark, "sleep 63");
  const [one, ...more] = demians();
  expect(more).toEqual([]);
  process.kill(one?.pid ?? 0, "SIGKILL");
  expect((await turn.end()).result).toMatchObject({ subtype: "error", error: { code: "backend_crashed" } });
  await untilGone(mark, "sleep 63");
  expect((await talk.say("which animal?")).text).toBe("It was the red fox.");
  expect(userTexts(world.model)).toEqual(["remember the red fox", "take your time", "which animal?"]);
  expect(danglingCalls(world.model)).toEqual([]);
});

test("the daemon and demian crash in the middle of a command: nothing of demian is left, and the session resumes with its context", async () => {
  const talk = await world.session();
  world.model.script(chatReply("Noted."), bash("sleep 64"), chatReply("It was the blue heron."));
  await talk.say("remember the blue heron");
  const mark = markOf(talk.session_id);
  const turn = begin(talk, "take your time");
  await settle(turn, await turn.asked(), { decision: "accept" });
  await untilRuns(mark, "sleep 64");
  const before = demians().map(({ pid }) => pid);
  await world.restart("SIGKILL");
  await untilGone(mark);
  const again = await resume(world, talk);
  expect(again.opened).toMatchObject({ type: "blemeesd.opened" });
  expect(await again.until((frame) => frame.type === "agent.result")).toMatchObject({
    subtype: "error",
    error: { code: "backend_crashed" },
  });
  expect((await again.say("which animal?")).text).toBe("It was the blue heron.");
  expect(userTexts(world.model)).toEqual(["remember the blue heron", "take your time", "which animal?"]);
  expect(danglingCalls(world.model)).toEqual([]);
  // A process that demian starts has its command line for a moment.
  await vi.waitFor(() => expect(demians()).toHaveLength(1), PATIENT);
  expect(before).not.toContain(demians()[0]?.pid);
});

test("two sessions share a process and nothing else; closing one does not affect the other", async () => {
  const [left, right] = [await world.session(), await world.session()];
  expect(left.opened["subprocess_pid"]).toBe(right.opened["subprocess_pid"]);
  world.model.script(bash("sleep 65"), chatReply("Right is here."));
  const turn = begin(left, "take your time");
  await settle(turn, await turn.asked(), { decision: "accept" });
  await untilRuns(markOf(left.session_id), "sleep 65");
  expect(processesWith(markOf(right.session_id))).toEqual([]);
  await left.client.request({ type: "blemeesd.close", session_id: left.session_id });
  await untilGone(markOf(left.session_id));
  expect((await right.say("are you there?")).text).toBe("Right is here.");
  expect(userTexts(world.model)).toEqual(["are you there?"]);
});
