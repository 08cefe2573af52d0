// Rejected answers: each gets its own code, and nothing changes.
import { describe, expect, test } from "vitest";
import type { RequestRow } from "../../../src/protocol/requests.ts";
import type { Frame, RawClient } from "../../support/raw-client.ts";
import { ledgerOf, listed, respond, timesTold, told, waitingClaude, waitingDemo } from "./asking.ts";
import { ask, barrier, isOf, newId, seen, streamOf, useDaemon } from "./talk.ts";

const daemon = useDaemon();
const ACCEPT = { decision: "accept" };

/** Refused with the code, and the request waits as before: same row, nothing in the stream, no answer at the agent. */
async function refused(
  { client, session_id, row }: { client: RawClient; session_id: string; row: RequestRow },
  answer: unknown,
  expected: object,
  more: object = {},
): Promise<Frame> {
  const before = streamOf(client, session_id).length;
  const error = await respond(client, row, answer, more);
  expect(error).toMatchObject({ type: "blemeesd.error", session_id, ...expected });
  await barrier(client);
  expect(await listed(client, { session_id })).toEqual([row]);
  expect(streamOf(client, session_id)).toHaveLength(before);
  return error;
}

describe("while it waits", () => {
  test.each([
    [
      "a decision that is not offered",
      { decision: "acceptAlways" },
      /\/answer\/decision: "acceptAlways" is not/,
    ],
    [
      "an option that is not offered",
      { decision: "accept", option: "all" },
      /\/answer\/option: "all" is not/,
    ],
    ["a message where none is taken", { decision: "accept", message: "x" }, /\/answer\/message: /],
    ["an input where none is taken", { decision: "accept", updated_input: {} }, /\/answer\/updated_input: /],
    ["answers to what is no question", { answers: { a: "b" } }, /needs a decision: offered: accept/],
    ["no answers to what is no question", { answers: {} }, /needs a decision/],
  ])("%s is invalid_answer", async (_what, answer, message) => {
    const waiting = await waitingDemo(await daemon.connect());
    await refused(waiting, answer, { code: "invalid_answer", message: expect.stringMatching(message) });
  });

  test.each([
    ["a bare yes to a question", { decision: "accept" }, /needs answers, or a refusal/],
    [
      "an answer to another question",
      { answers: { size: "L" } },
      /\/answer\/answers\/size: unknown question/,
    ],
    ["two answers where one is asked", { answers: { answer: ["Red", "Blue"] } }, /accepts one answer/],
  ])("%s is invalid_answer", async (_what, answer, message) => {
    const waiting = await waitingDemo(await daemon.connect(), {}, "ask me");
    await refused(waiting, answer, { code: "invalid_answer", message: expect.stringMatching(message) });
  });

  test.each([
    ["no answer", undefined],
    ["a text", "accept"],
    ["null", null],
    ["an unknown decision", { decision: "yes" }],
    ["a decision and answers at once", { decision: "accept", answers: {} }],
    ["an unknown field", { decision: "accept", always: true }],
    ["a number for an answer", { answers: { answer: 1 } }],
    ["a number in the form of Codex", { answers: { answer: { answers: [1] } } }],
    ["a text in the form of Codex", { answers: { answer: { answers: "Blue" } } }],
    ["more than answers in the form of Codex", { answers: { answer: { answers: ["Blue"], x: 1 } } }],
  ])("a malformed answer (%s) is invalid_message and names the field", async (_what, answer) => {
    const waiting = await waitingDemo(await daemon.connect());
    const message = expect.stringMatching(/^blemeesd\.respond: \/answer/);
    await refused(waiting, answer, { code: "invalid_message", message });
  });

  test.each([
    ["source", { source: "policy" }],
    ["shown_hash", { shown_hash: 7 }],
    ["anything", { anything: 1 }],
  ])("a bad field (%s) is invalid_message", async (name, more) => {
    const waiting = await waitingDemo(await daemon.connect());
    const message = expect.stringContaining(`/${name}`);
    await refused(waiting, ACCEPT, { code: "invalid_message", message }, more);
  });

  test("an answer to another version is request_changed, and gets the pending one", async () => {
    const waiting = await waitingDemo(await daemon.connect());
    const { row } = waiting;
    const shown_hash = "0".repeat(64);
    await refused(waiting, ACCEPT, { code: "request_changed", data: { request: row } }, { shown_hash });
    expect(await respond(waiting.client, row, ACCEPT, { shown_hash: row.shown_hash })).toMatchObject({
      repeated: false,
    });
  });

  test("an unknown request, or one of another session, is request_unknown", async () => {
    const waiting = await waitingDemo(await daemon.connect());
    const { client, row } = waiting;
    const other = await waitingDemo(client);
    await refused(waiting, ACCEPT, { code: "request_unknown" }, { request_id: "req_nothing" });
    await refused(waiting, ACCEPT, { code: "request_unknown" }, { request_id: other.row.request_id });
    expect(await respond(client, { session_id: newId(), request_id: row.request_id }, ACCEPT)).toMatchObject({
      code: "request_unknown",
    });
  });
});

describe("when it is over", () => {
  test("the agent withdrew it: request_withdrawn, with its details", async () => {
    const client = await daemon.connect();
    const { session_id, row } = await waitingClaude(client, "#ask-take-back");
    const over = await told(client, session_id, "withdrawn");
    expect(over.request_id).toBe(row.request_id);
    await seen(client, isOf("agent.result", session_id));
    expect(await respond(client, row, ACCEPT)).toMatchObject({
      code: "request_withdrawn",
      data: { request: { status: "withdrawn", request_id: row.request_id } },
    });
    expect(await ledgerOf(client, session_id)).toMatchObject([{ status: "withdrawn" }]);
    expect(timesTold(client, session_id, "resolved")).toBe(0);
  });

  test("the turn was interrupted: request_withdrawn", async () => {
    const { client, session_id, row } = await waitingClaude(await daemon.connect());
    client.send({ type: "blemeesd.interrupt", session_id });
    expect(await client.next(isOf("agent.result", session_id))).toMatchObject({ subtype: "interrupted" });
    expect(timesTold(client, session_id, "withdrawn")).toBe(1);
    expect(await respond(client, row, ACCEPT)).toMatchObject({ code: "request_withdrawn" });
    expect(await client.turn(session_id, "#say next")).toMatchObject({ subtype: "success" });
  });

  test("an interrupt that the agent obeys without mentioning the request still withdraws it", async () => {
    const { client, session_id, row } = await waitingClaude(await daemon.connect(), "#ask-mute");
    client.send({ type: "blemeesd.interrupt", session_id });
    await client.next(isOf("agent.result", session_id));
    expect(await respond(client, row, ACCEPT)).toMatchObject({ code: "request_withdrawn" });
    expect(await listed(client, { session_id })).toEqual([]);
  });

  test("the agent is gone: request_orphaned, one result, and the next turn works", async () => {
    const client = await daemon.connect();
    const session_id = newId();
    const opened = await client.open(session_id, { approvals: true });
    client.send({ type: "agent.user", session_id, message: { role: "user", content: "#ask ls" } });
    const row = await told(client, session_id, "pending");
    process.kill(Number(opened["subprocess_pid"]), "SIGKILL");
    const over = await told(client, session_id, "orphaned");
    expect(over).toMatchObject({ error_code: "agent_gone" });
    await seen(client, isOf("agent.result", session_id));
    expect(await respond(client, row, ACCEPT)).toMatchObject({
      code: "request_orphaned",
      data: { request: { error_code: "agent_gone" } },
    });
    expect(await listed(client, { session_id })).toEqual([]);
    expect(await listed(client, { session_id, include_orphaned: true })).toMatchObject([
      { status: "orphaned" },
    ]);
    expect(client.frames.filter(isOf("agent.result", session_id))).toHaveLength(1);
    expect(await client.turn(session_id, "#say back")).toMatchObject({ subtype: "success" });
  });

  test("the session was closed: request_orphaned; deleted: request_unknown", async () => {
    const client = await daemon.connect();
    const kept = await waitingDemo(client);
    const deleted = await waitingDemo(client);
    await ask(client, "close", { session_id: kept.session_id });
    await ask(client, "close", { session_id: deleted.session_id, delete: true });
    expect(await respond(client, kept.row, ACCEPT)).toMatchObject({ code: "request_orphaned" });
    expect(await ledgerOf(client, kept.session_id)).toMatchObject([{ status: "orphaned" }]);
    expect(await respond(client, deleted.row, ACCEPT)).toMatchObject({ code: "request_unknown" });
    expect(await ledgerOf(client, deleted.session_id)).toEqual([]);
  });
});

describe("a bad question about requests", () => {
  test.each([
    ["session_id", { session_id: "../x" }],
    ["include_orphaned", { include_orphaned: 1 }],
    ["status", { status: "pending" }],
  ])("%s is invalid_message", async (name, fields) => {
    const client = await daemon.connect();
    expect(await ask(client, "list_requests", fields)).toMatchObject({
      code: "invalid_message",
      message: expect.stringContaining(`/${name}`),
    });
  });

  test("an unknown session has none", async () => {
    const client = await daemon.connect();
    const session_id = newId();
    expect(await ledgerOf(client, session_id)).toEqual([]);
  });
});
