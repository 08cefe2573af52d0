// External failures: the API and the login.
import { afterAll, beforeAll, expect, test } from "vitest";
import { ofType } from "../world.ts";
import { type CodexWorld, openWorld } from "./world.ts";

let world: CodexWorld;
beforeAll(async () => {
  // Codex itself would wait forever for a server that refuses the connection (0.166).
  world = await openWorld({ BLEMEESD_CODEX_RETRY_S: "2" });
});
afterAll(() => world.close());

test("401 is reported as one error and one result, and the session can be used again", async () => {
  const talk = await world.session();
  const turn = await talk.say("#mock:err 401");
  expect(ofType(turn.frames, "blemeesd.error").map((frame) => frame["code"])).toEqual(["auth_failed"]);
  expect(turn.result).toMatchObject({ subtype: "error", error: { code: "auth_failed" } });
  expect((await talk.say("#mock:text logged in again")).text).toBe("logged in again");
  expect(ofType(talk.client.frames, "agent.result")).toHaveLength(2);
});

test.each(["err 429", "err 500", "failed context_length_exceeded", "cut half a"])(
  "%s ends the turn as one error, and the next turn works",
  async (fault) => {
    const talk = await world.session();
    const turn = await talk.say(`#mock:${fault}`);
    expect(turn.result).toMatchObject({ subtype: "error" });
    expect(turn.result["error"]).toMatchObject({ message: expect.stringMatching(/\w/) });
    expect(ofType(turn.frames, "agent.result")).toHaveLength(1);
    if (!fault.startsWith("failed")) expect((await talk.say("#mock:text better")).text).toBe("better");
  },
);

test("a server that refuses the connection ends the turn within the limit", async () => {
  const talk = await world.session();
  await world.model.close();
  const turn = await talk.say("is anybody there?");
  expect(turn.result).toMatchObject({ subtype: "error" });
  expect(ofType(turn.frames, "agent.result")).toHaveLength(1);
});
