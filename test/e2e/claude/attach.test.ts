// Owners of a session that come and go while the real claude streams. Independent of claude's version.
import { afterAll, beforeAll, expect, test } from "vitest";
import { resume } from "../world.ts";
import { type ClaudeWorld, openWorld } from "./world.ts";

let world: ClaudeWorld;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

test("a turn continues without its owner and is replayed to the next one", async () => {
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
