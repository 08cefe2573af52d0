import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { type Started, user } from "../conformance.ts";
import { FAKE_CLAUDE, fakeHome, startFake } from "./fake.ts";

const newTurn = () => randomUUID().replaceAll("-", "");

async function say({ run, sink }: Started, text: string, turn_id?: string): Promise<string> {
  const { length } = sink.results;
  await run.send(user(text), turn_id === undefined ? {} : { turn_id });
  await sink.untilResults(length + 1);
  return sink.texts.at(-1) ?? "";
}

/** The turns of a conversation of three messages. */
async function talk(session: Started): Promise<string[]> {
  const turns = [newTurn(), newTurn(), newTurn()];
  for (const [at, text] of ["alpha", "beta", "gamma"].entries()) await say(session, text, turns[at]);
  return turns;
}

test("claude forgets turns, the newest first, also after it was started again", async () => {
  const home = fakeHome();
  const session = await startFake({}, { home });
  const [, second = "", third = ""] = await talk(session);
  await session.run.stop("finish");
  const { session_id } = session.order;
  const again = await startFake({}, { home, session_id, resume: true });
  expect(await again.run.rewind?.([second, third])).toEqual({ first: second });
  expect(await say(again, "#context")).toBe('["alpha","#context"]');
});

test("a turn that claude started itself goes with the one before it", async () => {
  const session = await startFake();
  const [, second = "", third = ""] = await talk(session);
  expect(await session.run.rewind?.([second, newTurn(), third])).toEqual({ first: second });
});

test("what cannot be forgotten is said, with what was", async () => {
  const session = await startFake({}, { home: fakeHome({ FAKE_CLAUDE_FAULT: "keeps-first" }) });
  const [first = "", second = "", third = ""] = await talk(session);
  expect(await session.run.rewind?.([second])).toEqual({
    reason: "claude has received messages since that are not part of these turns",
  });
  expect(await session.run.rewind?.([first, second, third])).toEqual({
    first: second,
    reason: "this version of claude cannot forget its first turn",
  });
  expect(await session.run.rewind?.([second])).toMatchObject({
    reason: expect.stringContaining("does not know this turn"),
  });
  await session.run.stop("now");
  expect(await session.run.rewind?.([first])).toEqual({ reason: "claude: claude has ended" });
});

test("a session without history on disk is not rewound, because it is started again", async () => {
  const session = await startFake({ session_persistence: false });
  const [first = ""] = await talk(session);
  expect(await session.run.rewind?.([first])).toMatchObject({
    reason: expect.stringContaining("keeps no history"),
  });
});

test("a program that does not speak the control protocol gets neither ids nor requests", async () => {
  const session = await startFake({}, { home: fakeHome({ FAKE_CLAUDE_PLAIN: "1" }), bin: FAKE_CLAUDE });
  await say(session, "alpha", newTurn());
  expect(await session.run.rewind?.([newTurn()])).toMatchObject({ reason: expect.any(String) });
  expect(await say(session, "beta")).toBe("You said: beta");
});
