// An agent's request is stored, shown, answered and dispatched.
import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { RawClient } from "../../support/raw-client.ts";
import { ledgerOf, listed, respond, timesTold, told, waitingClaude, waitingDemo } from "./asking.ts";
import { ask, barrier, isOf, lastText, newId, say, seen, streamOf, useDaemon } from "./talk.ts";

const daemon = useDaemon();
const ACCEPT = { decision: "accept" };

describe("a request", () => {
  test("is reported, listed and answered; then the turn continues", async () => {
    const { client, session_id, row } = await waitingDemo(await daemon.connect());
    expect(row).toMatchObject({ backend: "demo", request_type: "command", status: "pending" });
    expect(row.payload).toMatchObject({ command: "rm -rf build" });
    expect(await listed(client, { session_id })).toEqual([row]);
    const reply = await respond(client, row, ACCEPT, { shown_hash: row.shown_hash, source: "tui" });
    expect(reply).toMatchObject({
      type: "blemeesd.responded",
      session_id,
      request_id: row.request_id,
      repeated: false,
      request: { status: "resolved", answer: ACCEPT, resolution_source: "tui", payload: row.payload },
    });
    // Set by the daemon: the process of this test.
    expect(reply["request"]).toMatchObject({ answered_by: { peer_pid: process.pid, via: "tui" } });
    expect(reply["request"]).toMatchObject({ dispatched_at_ms: expect.any(Number) });
    await client.next(isOf("agent.result", session_id));
    expect(lastText(client, session_id)).toContain("It was allowed");
    expect(await listed(client, { session_id })).toEqual([]);
    const order = streamOf(client, session_id).map((frame) => frame["category"] ?? frame.type);
    expect(order.filter((name) => /^request_|result$/.test(String(name)))).toEqual([
      "request_pending",
      "request_resolved",
      "agent.tool_result",
      "agent.result",
    ]);
  });

  test("of a real process is answered through its stdin, with the fields it expects", async () => {
    const { client, session_id, row } = await waitingClaude(await daemon.connect());
    const always = row.payload.choices.find(({ decision }) => decision === "acceptAlways");
    expect(always?.writes?.[0]).toMatchObject({ content: "permissions.allow += Bash(mkdir x)" });
    await respond(client, row, { decision: "decline", message: "not here" });
    await client.next(isOf("agent.result", session_id));
    expect(JSON.parse(lastText(client, session_id))).toEqual({ behavior: "deny", message: "not here" });
  });

  test("has the hash of what is shown, which a client can recompute", async () => {
    const { row } = await waitingDemo(await daemon.connect());
    const hash = createHash("sha256").update(JSON.stringify(row.payload)).digest("hex");
    expect(row.shown_hash).toBe(hash);
  });

  test("is answered once: the same again, or another answer, gets the first one", async () => {
    const { client, session_id, row } = await waitingDemo(await daemon.connect());
    const first = await respond(client, row, ACCEPT);
    for (const answer of [ACCEPT, { decision: "decline" }]) {
      const again = await respond(client, row, answer, { source: "tui" });
      expect(again).toMatchObject({ type: "blemeesd.responded", repeated: true });
      expect(again["request"]).toEqual(first["request"]);
    }
    await seen(client, isOf("agent.result", session_id));
    expect(lastText(client, session_id)).toContain("It was allowed");
    expect(timesTold(client, session_id, "resolved")).toBe(1);
  });

  test("that two clients answer at once has one winner, and both learn which", async () => {
    const owner = await daemon.connect();
    const other = await daemon.connect();
    const { session_id, row } = await waitingDemo(owner, { answers: "any" });
    const replies = await Promise.all([
      respond(owner, row, { decision: "decline", message: "a" }),
      respond(other, row, { decision: "decline", message: "b" }),
    ]);
    expect(replies.map((reply) => reply["repeated"]).sort()).toEqual([false, true]);
    const answers = replies.map((reply) => (reply["request"] as { answer: unknown }).answer);
    expect(answers[0]).toEqual(answers[1]);
    await owner.next(isOf("agent.result", session_id));
    expect(timesTold(owner, session_id, "resolved")).toBe(1);
  });

  test("with questions takes answers in the form of Codex too, and stores them in ours", async () => {
    const { client, session_id, row } = await waitingDemo(await daemon.connect(), {}, "ask");
    const reply = await respond(client, row, { answers: { answer: { answers: ["Blue"] } } });
    expect(reply).toMatchObject({ request: { answer: { answers: { answer: ["Blue"] } } } });
    await client.next(isOf("agent.result", session_id));
    expect(lastText(client, session_id)).toContain("Blue");
  });

  test("that accepts no reason is declined without it, and the reply says so", async () => {
    const { client, session_id, row } = await waitingDemo(await daemon.connect(), {}, "ask");
    const reply = await respond(client, row, { decision: "decline", message: "not now" });
    expect(reply).toMatchObject({
      type: "blemeesd.responded",
      request: { answer: { decision: "decline" } },
      notice: expect.stringMatching(/^demo accepts no reason/),
    });
    await client.next(isOf("agent.result", session_id));
  });

  test("with questions takes answers, and says that it waits for input", async () => {
    const { client, session_id, row } = await waitingDemo(await daemon.connect(), {}, "ask me");
    expect(row).toMatchObject({ request_type: "user_input", payload: { questions: [{ id: "answer" }] } });
    expect(await sessionRow(client, session_id)).toMatchObject({
      activity_state: "waiting_input",
      pending_requests: 1,
      turn_active: true,
    });
    await respond(client, row, { answers: { answer: "Blue" } });
    await client.next(isOf("agent.result", session_id));
    expect(lastText(client, session_id)).toBe("You said Blue.");
  });

  test("is counted in the list of sessions until it is answered", async () => {
    const { client, session_id, row } = await waitingDemo(await daemon.connect());
    expect(await sessionRow(client, session_id)).toMatchObject({
      activity_state: "waiting_permission",
      pending_requests: 1,
    });
    await respond(client, row, { decision: "cancel" });
    expect(await client.next(isOf("agent.result", session_id))).toMatchObject({ subtype: "interrupted" });
    expect(await sessionRow(client, session_id)).toMatchObject({
      activity_state: "idle",
      pending_requests: 0,
      turn_active: false,
    });
  });

  test("of a sub-agent names the way to it", async () => {
    const { client, session_id, row } = await waitingClaude(await daemon.connect(), "#ask-sub ls");
    expect(row.path).toHaveLength(2);
    await respond(client, row, ACCEPT);
    await client.next(isOf("agent.result", session_id));
  });

  test("beside another one is answered alone", async () => {
    const { client, session_id, row } = await waitingClaude(await daemon.connect(), "#ask-two ls");
    const second = await told(client, session_id, "pending");
    expect(await sessionRow(client, session_id)).toMatchObject({ pending_requests: 2 });
    await respond(client, second, { decision: "decline", message: "no" });
    expect(await listed(client, { session_id })).toEqual([row]);
    await respond(client, row, ACCEPT);
    await client.next(isOf("agent.result", session_id));
    const [first, other] = JSON.parse(lastText(client, session_id)) as { behavior: string }[];
    expect([first?.behavior, other?.behavior]).toEqual(["allow", "deny"]);
  });

  test("is accepted for the session: the same thing is not asked again", async () => {
    const { client, session_id, row } = await waitingDemo(await daemon.connect());
    await respond(client, row, { decision: "acceptForSession" });
    await client.next(isOf("agent.result", session_id));
    expect(await client.turn(session_id, "approve")).toMatchObject({ subtype: "success" });
    expect(timesTold(client, session_id, "pending")).toBe(1);
  });

  test("that is over is listed on demand only", async () => {
    const { client, session_id, row } = await waitingDemo(await daemon.connect());
    await respond(client, row, ACCEPT);
    expect(await listed(client, { session_id, include_orphaned: true })).toEqual([]);
    expect(await listed(client, { session_id, include_settled: true })).toMatchObject([
      { request_id: row.request_id, status: "resolved" },
    ]);
    const everywhere = await listed(client, { include_settled: true });
    expect(everywhere.map(({ request_id }) => request_id)).toContain(row.request_id);
  });
});

describe("a message while a request waits", () => {
  test("is session_busy in the turn, names the pending request, and answers nothing", async () => {
    const { client, session_id, row } = await waitingDemo(await daemon.connect());
    say(client, session_id, "accept");
    const { request_id, request_type, requested_at_ms } = row;
    expect(await client.next("blemeesd.error")).toMatchObject({
      code: "session_busy",
      session_id,
      message: `the agent is waiting for an answer to "${row.payload.title}"; answer request ${request_id} first`,
      data: { request_id, request_type, requested_at_ms },
    });
    expect(await listed(client, { session_id })).toEqual([row]);
  });

  test("is pending_structured_request after the turn, and names the pending request", async () => {
    const { client, session_id, row } = await waitingClaude(await daemon.connect(), "#ask-background");
    await seen(client, isOf("agent.result", session_id));
    say(client, session_id, "#say hello");
    const { request_id, request_type, requested_at_ms } = row;
    expect(await client.next("blemeesd.error")).toMatchObject({
      code: "pending_structured_request",
      session_id,
      data: { request_id, request_type, requested_at_ms },
    });
    await respond(client, row, ACCEPT);
    await client.turn(session_id, "#say hello");
    expect(lastText(client, session_id)).toBe("hello");
  });
});

describe("which clients may answer", () => {
  test("a watcher sees the request but may not answer it", async () => {
    const owner = await daemon.connect();
    const watcher = await daemon.connect();
    const { session_id, row } = await waitingDemo(owner);
    await ask(watcher, "watch", { session_id, last_seen_seq: 0 });
    expect(await told(watcher, session_id, "pending")).toEqual(row);
    expect(await respond(watcher, row, ACCEPT)).toMatchObject({ code: "answer_not_allowed", session_id });
    expect(await listed(owner, { session_id })).toEqual([row]);
    await respond(owner, row, ACCEPT);
    expect(await told(watcher, session_id, "resolved")).toMatchObject({ request_id: row.request_id });
  });

  test('any client may when the session was opened with answers: "any", until an open says otherwise', async () => {
    const owner = await daemon.connect();
    const other = await daemon.connect();
    const { session_id, row } = await waitingDemo(owner, { answers: "any" });
    expect(await respond(other, row, ACCEPT)).toMatchObject({ type: "blemeesd.responded" });
    await owner.next(isOf("agent.result", session_id));
    const demo = { session_id, backend: "demo", options: {}, resume: true, last_seen_seq: 10_000 };
    await ask(owner, "open", demo); // omitted: unchanged
    say(owner, session_id, "approve");
    await respond(other, await told(owner, session_id, "pending"), ACCEPT);
    await owner.next(isOf("agent.result", session_id));
    await ask(owner, "open", { ...demo, answers: "owner" });
    say(owner, session_id, "approve");
    const third = await told(owner, session_id, "pending");
    expect(await respond(other, third, ACCEPT)).toMatchObject({ code: "answer_not_allowed" });
  });

  test("the client that takes the session over, and no longer the old owner", async () => {
    const old = await daemon.connect();
    const { session_id, row } = await waitingDemo(old);
    const owner = await daemon.connect();
    await ask(owner, "open", { session_id, backend: "demo", options: {}, resume: true, last_seen_seq: 0 });
    expect(await told(owner, session_id, "pending")).toEqual(row);
    expect(await respond(old, row, ACCEPT)).toMatchObject({ code: "answer_not_allowed" });
    expect(await respond(owner, row, ACCEPT)).toMatchObject({ repeated: false });
    await owner.next(isOf("agent.result", session_id));
  });

  test("an open with another word is refused", async () => {
    const client = await daemon.connect();
    const frame = { session_id: newId(), backend: "demo", options: {}, answers: "everybody" };
    expect(await ask(client, "open", frame)).toMatchObject({
      code: "invalid_message",
      message: expect.stringMatching(/^blemeesd\.open: \/answers: /),
    });
  });
});

describe("clients that know nothing of requests", () => {
  test("features are named only to a client that names some", async () => {
    const plain = await daemon.connect();
    expect(plain.frames[0]).not.toHaveProperty("features");
    const client = await RawClient.connect(daemon.current.socket);
    client.send({ type: "blemeesd.hello", protocol: "blemees/2", features: [] });
    expect(await client.next("blemeesd.hello_ack")).toMatchObject({ features: ["requests"] });
    client.close();
  });

  test("an interrupt is a way out for them", async () => {
    const { client, session_id, row } = await waitingDemo(await daemon.connect());
    client.send({ type: "blemeesd.interrupt", session_id });
    expect(await client.next(isOf("agent.result", session_id))).toMatchObject({ subtype: "interrupted" });
    const [over] = await ledgerOf(client, session_id);
    expect(over).toMatchObject({ request_id: row.request_id, status: "withdrawn" });
    expect(await client.turn(session_id, "hello")).toMatchObject({ subtype: "success" });
  });

  test("a blemees/1 client sees nothing of a request, and its turn continues when another client answers", async () => {
    const old = await daemon.current.connect("blemees/1");
    const session_id = newId();
    await ask(old, "open", { session_id, approvals: true });
    const watcher = await daemon.connect();
    await ask(watcher, "watch", { session_id });
    const message = { role: "user", content: "#ask ls" };
    old.send({ type: "claude.user", session_id, message });
    const row = await told(watcher, session_id, "pending");
    await barrier(old);
    old.send({ type: "claude.user", session_id, message });
    expect(await old.next("blemeesd.error")).toMatchObject({ code: "session_busy" });
    const owner = await daemon.connect();
    await owner.open(session_id, {}, { resume: true, answers: "any" });
    await ask(old, "open", { session_id, resume: true });
    await respond(watcher, row, ACCEPT);
    await old.next("claude.result");
    expect(JSON.stringify(old.frames)).not.toMatch(/request_pending|request_resolved/);
  });
});

async function sessionRow(client: RawClient, session_id: string): Promise<unknown> {
  const { sessions } = (await ask(client, "list_sessions", { live: true })) as unknown as {
    sessions: { session_id: string }[];
  };
  return sessions.find((session) => session.session_id === session_id);
}
