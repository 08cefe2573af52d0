import { expect, test } from "vitest";
import { type Started, user } from "../conformance.ts";
import { fakeCodex } from "./fake.ts";

async function say({ run, sink }: Started, text: string, turn_id?: string): Promise<string> {
  const { length } = sink.results;
  await run.send(user(text), turn_id === undefined ? {} : { turn_id });
  await sink.untilResults(length + 1);
  return sink.texts.at(-1) ?? "";
}

test("codex forgets a turn and all later ones, also after the thread was opened again", async () => {
  const codex = fakeCodex();
  const session = await codex.start();
  for (const text of ["alpha", "beta", "gamma"]) await say(session, text, `turn-${text}`);
  const named = session.sink.heard.find((heard) => heard.kind === "nativeId");
  const native_session_id = named?.kind === "nativeId" ? named.id : "";
  await session.run.stop("finish");
  const again = await codex.start({}, { resume: true, native_session_id });
  expect(await again.run.rewind?.(["turn-beta", "turn-gamma"])).toEqual({ first: "turn-beta" });
  expect(await say(again, "#context")).toBe('texts ["alpha","#context"]');
});

test("a turn far back in a long conversation is found", async () => {
  const session = await fakeCodex().start();
  for (let n = 0; n < 60; n += 1) await say(session, `m${n}`, `turn-${n}`);
  const turns = Array.from({ length: 59 }, (_, n) => `turn-${n + 1}`);
  expect(await session.run.rewind?.(turns)).toEqual({ first: "turn-1" });
  expect(await say(session, "#context")).toBe('texts ["m0","#context"]');
});

test("a turn that codex started itself is not known, the later ones are forgotten", async () => {
  const session = await fakeCodex().start();
  for (const text of ["alpha", "beta"]) await say(session, text, `turn-${text}`);
  const reason = expect.stringContaining("does not know this turn");
  expect(await session.run.rewind?.(["turn-own", "turn-beta"])).toEqual({ first: "turn-beta", reason });
  expect(await session.run.rewind?.(["turn-own"])).toEqual({ reason });
});

test("a thread that codex has unloaded is loaded first", async () => {
  const session = await fakeCodex().start();
  await say(session, "alpha", "turn-alpha");
  await say(session, "#say x #unload", "turn-x");
  expect(await session.run.rewind?.(["turn-x"])).toEqual({ first: "turn-x" });
  expect(await say(session, "#context")).toBe('texts ["alpha","#context"]');
});
