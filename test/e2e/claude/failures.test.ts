// External failures: the API, the login, ids that claude refuses.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { markOf, untilGone } from "../processes.ts";
import { ofType } from "../world.ts";
import { type ClaudeWorld, openWorld } from "./world.ts";

let world: ClaudeWorld;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

test.each([429, 500])(
  "an API error %d ends the turn as an error, and the next turn works",
  async (status) => {
    const talk = await world.session();
    const turn = await talk.say(`#mock:err ${status}`);
    expect(turn.result).toMatchObject({ subtype: "error", error: { api_error_status: status } });
    expect(ofType(turn.frames, "agent.result")).toHaveLength(1);
    expect((await talk.say("#mock:text better")).text).toBe("better");
  },
);

test("resuming a session unknown to claude is refused, or fails as the turn's error", async () => {
  const client = await world.connect();
  const session_id = randomUUID();
  const opened = await client.open(session_id, { cwd: world.cwd }, { resume: true });
  if (opened.type === "blemeesd.error") {
    expect(opened).toMatchObject({ code: "spawn_failed" });
    expect(opened["message"]).toContain("No conversation found");
  } else {
    const result = await client.turn(session_id, "hello");
    expect(result).toMatchObject({ subtype: "error" });
    expect(JSON.stringify(result["error"])).toContain("No conversation found");
  }
});

test("an id for which claude already has a transcript is refused with claude's own message", async () => {
  const talk = await world.session();
  await talk.say("hello");
  await talk.client.request({ type: "blemeesd.close", session_id: talk.session_id, delete: true });
  await untilGone(markOf(talk.session_id));
  const error = await talk.client.open(talk.session_id, { cwd: world.cwd });
  expect(error).toMatchObject({ type: "blemeesd.error", code: "spawn_failed" });
  expect(error["message"]).toContain("is already in use");
  // Our own record was deleted with the session, so the directory must be given again.
  const again = await talk.client.open(talk.session_id, { cwd: world.cwd }, { resume: true });
  expect(again.type).toBe("blemeesd.opened");
});

test("an id that is not a UUID is refused with claude's own message", async () => {
  const client = await world.connect();
  const error = await client.open("not-a-uuid", { cwd: world.cwd });
  expect(error).toMatchObject({ type: "blemeesd.error", code: "spawn_failed" });
  expect(error["message"]).toContain("Invalid session ID");
});
