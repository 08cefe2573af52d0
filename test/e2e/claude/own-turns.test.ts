// Turns that claude begins by itself when a background task ends, and messages that meet them (DESIGN R9).
import { afterAll, beforeAll, expect, test } from "vitest";
import { ofType, openWorld, type Talk, type World } from "./world.ts";

let world: World;
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

test("a message sent while such a turn runs a tool is refused as busy or answered, never lost", async () => {
  const talk = await world.session();
  // The description comes back in the notification, and there it makes the model run a tool.
  await talk.say(background("sleep 1", "bg #mock:bash sleep 1 #"));
  await talk.until((frame) => frame["category"] === "task_started");
  const busy = await answerTo(talk, "two #mock:text TWO");
  if (busy === "session_busy") {
    await talk.until((frame) => frame.type === "agent.result");
    expect((await talk.say("two #mock:text TWO")).text).toBe("TWO");
  }
  expectPaired(talk);
});

test("a message that crosses with the end of a background task gets exactly one answer", async () => {
  const talk = await world.session();
  await talk.say(background("sleep 1", "bg #mock:bash sleep 1 #"));
  // The task has ended, claude is about to begin its turn: the message goes out now.
  await talk.until((frame) => frame["category"] === "system_task_updated");
  const outcome = await answerTo(talk, "two #mock:text TWO");
  console.log(`message across the end of a task: ${outcome}`);
  const last = await talk.say("#mock:context").catch(() => undefined);
  if (last?.result !== undefined) expect(last.text).toContain("context:");
  expectPaired(talk);
});

function background(command: string, description: string): string {
  return `#mock:tool Bash ${JSON.stringify({ command, description, run_in_background: true })}`;
}

/** Sends a message and waits for what becomes of it: a refusal, or the end of a turn. */
async function answerTo(talk: Talk, content: string): Promise<unknown> {
  talk.send(content);
  const frame = await talk.until(({ type, seq }) => {
    return type === "agent.result" || (type === "blemeesd.error" && seq === undefined);
  });
  return frame["code"] ?? frame["subtype"];
}

/** Each turn that was announced has one result, and there are no others. */
function expectPaired(talk: Talk): void {
  const started = talk.client.frames.filter((frame) => frame["category"] === "task_started");
  const ids = started.map((frame) => (frame["data"] as { turn_id: string }).turn_id);
  const ended = ofType(talk.client.frames, "agent.result").map((frame) => frame["turn_id"]);
  expect(ended).toEqual(ids);
}
