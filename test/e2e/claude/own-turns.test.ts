// Turns that claude begins on its own when a background task ends, and messages that meet them.
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { PATIENT } from "../../support/patience.ts";
import type { Frame } from "../../support/raw-client.ts";
import { isUserTurn, ofType, type Talk, textOf } from "../world.ts";
import { type ClaudeWorld, openWorld } from "./world.ts";

let world: ClaudeWorld;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

test("a turn that claude begins is announced as its own and ends with exactly one result", async () => {
  const talk = await world.session();
  const first = await talk.say(background("sleep 1", "in the background"));
  expect(first.result["subtype"]).toBe("success");
  const started = await talk.until((frame) => frame["category"] === "task_started");
  expect(started["data"]).toMatchObject({ origin: "agent" });
  const result = await talk.until((frame) => frame.type === "agent.result");
  expect(result["turn_id"]).toBe((started["data"] as { turn_id: string }).turn_id);
  expect((await talk.say("#mock:text still here")).text).toBe("still here");
  expectPaired(talk);
});

test("a message sent while such a turn runs is refused as busy, and answered afterwards", async () => {
  const talk = await world.session();
  // The description comes back in the notification, and there it makes the model run a tool.
  await talk.say(background("sleep 1", "bg #mock:bash echo begun; sleep 1 #"));
  await talk.until((frame) => frame["category"] === "task_started");
  expect(await send(talk, "two #mock:text TWO")).toMatchObject({ code: "session_busy" });
  await talk.until((frame) => frame.type === "agent.result");
  expect((await talk.say("two #mock:text TWO")).text).toBe("TWO");
  expectPaired(talk);
});

test.each([
  ["while its turn runs a tool", "bg #mock:bash echo begun; sleep 1 #"],
  ["while its turn only talks", "bg"],
])("a message that crosses with the end of a background task is not lost, %s", async (_when, description) => {
  const talk = await world.session();
  await talk.say(background("sleep 1", description));
  // The task has ended and claude is about to begin its turn: now the message is sent.
  await talk.until((frame) => frame["category"] === "claude_system_task_updated");
  const from = talk.client.frames.length;
  const answer = await send(talk, "two #mock:text TWO");
  const isTaken = answer["code"] === undefined;
  // The message's turn ends with its own answer, or with that of the turn it was folded into.
  if (isTaken) expect(textOf(talk.client.frames.slice(from))).toMatch(/^(TWO|tool said: .*begun)/s);
  await untilIdle(talk);
  const last = await talk.say("#mock:text THREE");
  expect(last.text).toBe("THREE");
  expect(JSON.stringify(world.model.requests.at(-1)).includes("two #mock:text TWO")).toBe(isTaken);
  console.log(`a message across the end of a task: ${String(answer["code"] ?? answer["subtype"])}`);
  expectPaired(talk);
});

test("an asynchronous sub-agent continues after the turn, and claude starts a turn for it", async () => {
  const talk = await world.session();
  const sub = { description: "sub", prompt: "#mock:bash echo from-below", subagent_type: "general-purpose" };
  const turn = await talk.say(`#mock:tool Agent ${JSON.stringify({ ...sub, run_in_background: true })}`);
  expect(turn.result["subtype"]).toBe("success");
  const started = await talk.until((frame) => frame["category"] === "task_started");
  expect(started["data"]).toMatchObject({ origin: "agent" });
  await talk.until((frame) => frame.type === "agent.result");
  const use = ofType(talk.client.frames, "agent.tool_use").find((frame) => frame["name"] === "Agent");
  const below = talk.client.frames.filter((frame) => frame["parent_tool_use_id"] !== undefined);
  expect(JSON.stringify(below)).toContain("from-below");
  for (const frame of below) expect(frame["parent_tool_use_id"]).toBe(use?.["tool_use_id"]);
  expect((await talk.say("#mock:text still here")).text).toBe("still here");
  expectPaired(talk);
});

test("an interrupt after the turn stops an asynchronous sub-agent", async () => {
  const talk = await world.session();
  const sub = { description: "sub", prompt: "#mock:slow 1000 100", subagent_type: "general-purpose" };
  await talk.say(`#mock:tool Agent ${JSON.stringify({ ...sub, run_in_background: true })}`);
  talk.client.send({ type: "blemeesd.interrupt", session_id: talk.session_id });
  const ended = await talk.until((frame) => frame["category"] === "subagent_finished");
  expect(ended["data"]).toMatchObject({ subtype: "interrupted" });
  expect((await talk.say("#mock:text still here")).text).toBe("still here");
  expectPaired(talk);
});

function background(command: string, description: string): string {
  return `#mock:tool Bash ${JSON.stringify({ command, description, run_in_background: true })}`;
}

/**
 * Sends a message and waits for its outcome: a refusal, or the end of its turn. By the turn's id: on a slow machine
 * claude's own turn may be over before the message is sent, and its result is not read yet.
 */
async function send(talk: Talk, content: string): Promise<Frame> {
  const from = talk.client.frames.length;
  talk.send(content);
  const answer = await talk.until((frame) => {
    if (talk.client.frames.lastIndexOf(frame) < from) return false;
    return isUserTurn(frame) || (frame.type === "blemeesd.error" && frame["seq"] === undefined);
  });
  if (answer.type === "blemeesd.error") return answer;
  const { turn_id } = answer["data"] as { turn_id: string };
  return talk.until((frame) => frame.type === "agent.result" && frame["turn_id"] === turn_id);
}

/** Claude may make one turn of it or two; both are over when this resolves. */
async function untilIdle(talk: Talk): Promise<void> {
  await vi.waitFor(async () => {
    const reply = await talk.client.request({ type: "blemeesd.list_sessions", live: true });
    const rows = reply["sessions"] as Record<string, unknown>[];
    const row = rows.find((candidate) => candidate["session_id"] === talk.session_id);
    expect(row).toMatchObject({ turn_active: false });
  }, PATIENT);
}

/** Each announced turn has one result, and there are no others. */
function expectPaired(talk: Talk): void {
  const started = talk.client.frames.filter((frame) => frame["category"] === "task_started");
  const ids = started.map((frame) => (frame["data"] as { turn_id: string }).turn_id);
  const ended = ofType(talk.client.frames, "agent.result").map((frame) => frame["turn_id"]);
  expect(ended).toEqual(ids);
}
