// A key that the API refuses. Claude itself would retry for minutes (ten times, 2.1.197).
import { afterAll, beforeAll, expect, test } from "vitest";
import { ofType } from "../world.ts";
import { type ClaudeWorld, openWorld } from "./world.ts";

let world: ClaudeWorld;
beforeAll(async () => {
  world = await openWorld({ CLAUDE_CODE_MAX_RETRIES: "10" });
});
afterAll(() => world.close());

test("401 is reported at once, as one error and one result, and the session can be used again", async () => {
  const talk = await world.session();
  const turn = await talk.say("#mock:err 401");
  // Far fewer than the eleven that claude would send.
  expect(world.model.requests.length).toBeLessThan(5);
  expect(ofType(turn.frames, "blemeesd.error").map((frame) => frame["code"])).toEqual(["auth_failed"]);
  expect(turn.result).toMatchObject({ subtype: "error", error: { code: "auth_failed" } });
  const next = await talk.say("#mock:text logged in again");
  expect(next.text).toBe("logged in again");
  expect(ofType(talk.client.frames, "agent.result")).toHaveLength(2);
  expect(ofType(talk.client.frames, "blemeesd.error")).toHaveLength(1);
});
