// A turn that asks although it should not, or does not ask although it should, fails at once: waiting would end in the
// test's timeout, which does not say why.
import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import { beforeEach, expect, test } from "vitest";
import { RawClient } from "../support/raw-client.ts";
import { begin } from "./asks.ts";
import { type Talk, talkOn } from "./world.ts";

let talk: Talk;
let emit: (...frames: object[]) => void;
beforeEach(() => {
  const stream = new Duplex({ read: () => undefined, write: (_chunk, _encoding, done) => done() });
  const client = new RawClient(stream as unknown as Socket);
  talk = talkOn(client, "s", { type: "blemeesd.opened" });
  emit = (...frames) => {
    for (const frame of frames) stream.push(`${JSON.stringify({ session_id: "s", ...frame })}\n`);
  };
});

const started = (turn_id: string) => ({ type: "agent.notice", category: "task_started", data: { turn_id } });
const asks = (request_id: string) => ({
  type: "agent.notice",
  category: "request_pending",
  data: { request: { request_id } },
});
const result = (turn_id: string) => ({ type: "agent.result", subtype: "success", turn_id });

test("say fails at once if the agent asks", async () => {
  const turn = talk.say("hello");
  emit(started("t"), asks("unexpected"));
  await expect(turn).rejects.toThrow(/the agent asked after "hello".*unexpected/);
});

test("say ignores a request of another session", async () => {
  const turn = talk.say("hello");
  emit(started("t"), { ...asks("theirs"), session_id: "other" }, result("t"));
  expect((await turn).result).toMatchObject({ turn_id: "t" });
});

test("asked fails at once if the turn ends without the request", async () => {
  const turn = begin(talk, "hello");
  emit(started("t"), asks("first"), result("t"));
  expect(await turn.asked()).toEqual({ request_id: "first" });
  await expect(turn.asked(1)).rejects.toThrow(/no request 1 after "hello".*success/);
});

test("asked fails at once if the message is refused", async () => {
  const turn = begin(talk, "hello");
  emit({ type: "blemeesd.error", code: "pending_structured_request" });
  await expect(turn.asked()).rejects.toThrow(/no request 0 .*pending_structured_request/);
});

test("the result of an earlier turn does not end this one", async () => {
  const turn = begin(talk, "hello");
  emit(result("earlier"), started("t"), asks("first"), result("t"));
  expect(await turn.asked()).toEqual({ request_id: "first" });
  expect((await turn.end()).result).toMatchObject({ turn_id: "t" });
});

test("a sub-agent may ask after the end of the turn", async () => {
  const turn = begin(talk, "hello");
  emit(started("t"), result("t"));
  await turn.end();
  emit(asks("late"));
  expect(await turn.askedAnytime()).toEqual({ request_id: "late" });
});
