// Who may answer, the result of an answer in every state, and what a pending request means for its session.
import { describe, expect, test } from "vitest";
import { silentLog } from "../../src/base/log.ts";
import { drain } from "../../src/sessions/index.ts";
import { allRequests, askOf, type Ear, gate, type Stage, settle, stage, user } from "./fakes.ts";

const ann = { id: "ann" };
const bob = { id: "bob" };
const KEEP = { delete: false, deleteTranscript: false };
const accept = { decision: "accept" } as const;

async function asked(answers?: "any"): Promise<Stage & { ear: Ear; request_id: string }> {
  const on = stage();
  const ear = await on.open(ann, answers === undefined ? {} : { answers });
  on.backend.last.ask(askOf("n1"));
  await settle();
  const [row] = await allRequests(on.hub, {});
  return { ...on, ear, request_id: row?.request_id ?? "" };
}

const order = (request_id: string, fields: object = {}) => ({
  ...{ session_id: "s", request_id, answer: accept, source: "api" as const },
  ...fields,
});

describe("who", () => {
  test("a watcher may answer only where the owner's session allows it", async () => {
    const closed = await asked();
    await expect(closed.hub.respond(bob, order(closed.request_id))).rejects.toMatchObject({
      code: "answer_not_allowed",
    });
    expect(await allRequests(closed.hub, {})).toHaveLength(1);
    const open = await asked("any");
    await expect(open.hub.respond(bob, order(open.request_id))).resolves.toMatchObject({ repeated: false });
  });

  test("a former owner may not answer, the current one may", async () => {
    const on = await asked();
    await on.open(bob, { resume: true });
    await expect(on.hub.respond(ann, order(on.request_id))).rejects.toMatchObject({
      code: "answer_not_allowed",
    });
    await expect(on.hub.respond(bob, order(on.request_id))).resolves.toMatchObject({ repeated: false });
  });

  test("only the owner may answer, also while it is away", async () => {
    const on = await asked();
    on.hub.detach(ann);
    await settle();
    const session = on.hub.table.session("s");
    expect(session.owner).toBeUndefined();
    expect(() => session.respond(undefined, order(on.request_id))).toThrow(/only the owner/);
    expect(await allRequests(on.hub, {})).toHaveLength(1);
    await on.open(ann, { resume: true });
    await expect(on.hub.respond(ann, order(on.request_id))).resolves.toMatchObject({ repeated: false });
  });

  test("an answer sent as soon as the notice arrives is accepted", async () => {
    const on = stage();
    const ear = await on.open(ann);
    const write = ear.write.bind(ear);
    let answering: Promise<unknown> | undefined;
    ear.write = (batch) => {
      write(batch);
      const { request } = (ear.heard.at(-1)?.["data"] ?? {}) as { request?: { request_id: string } };
      if (request !== undefined) answering ??= on.hub.respond(ann, order(request.request_id));
    };
    on.backend.last.ask(askOf("n1"));
    await settle();
    await expect(answering).resolves.toMatchObject({ repeated: false });
  });
});

describe("an answer to a request that is", () => {
  /** How the request gets into this state, and the error that an answer gets. */
  const STATES: [state: string, code: string, make: (on: Stage) => unknown][] = [
    ["withdrawn", "request_withdrawn", ({ backend }) => backend.last.withdraw("n1")],
    ["orphaned by a crash", "request_orphaned", ({ backend }) => backend.last.end(false, 1)],
    ["orphaned by a close", "request_orphaned", ({ hub }) => hub.close(ann, "s", KEEP)],
  ];

  test.each(STATES)("%s: %s, and nothing changes", async (_state, code, make) => {
    const on = await asked();
    await make(on);
    await settle();
    const before = structuredClone(on.store.ledger.get(on.request_id));
    const frames = on.ear.heard.length;
    await expect(on.hub.respond(ann, order(on.request_id))).rejects.toMatchObject({
      code,
      data: { request: { request_id: on.request_id } },
    });
    await settle();
    expect(on.store.ledger.get(on.request_id)).toEqual(before);
    expect(on.ear.heard).toHaveLength(frames);
    expect(on.backend.last.offered).toEqual([]);
  });

  test.each([
    ["unknown", { request_id: "req_x" }, "request_unknown"],
    ["of another session", { session_id: "other" }, "request_unknown"],
    ["of another type", { answer: { answers: {} } }, "invalid_answer"],
    ["not offering that", { answer: { decision: "acceptAlways" } }, "invalid_answer"],
    ["not accepting a message", { answer: { decision: "accept", message: "x" } }, "invalid_answer"],
    ["shown as something else", { shown_hash: "x" }, "request_changed"],
  ])("%s: an explicit code, and nothing changes", async (_what, fields, code) => {
    const on = await asked();
    const frames = on.ear.heard.length;
    await expect(on.hub.respond(ann, order(on.request_id, fields))).rejects.toMatchObject({ code });
    expect(on.store.ledger.get(on.request_id)?.status).toBe("pending");
    expect(on.ear.heard).toHaveLength(frames);
    expect(on.backend.last.offered).toEqual([]);
  });

  test("already answered: returns the stored answer each time, even after the session was closed", async () => {
    const on = await asked();
    await on.hub.respond(ann, order(on.request_id));
    const other = order(on.request_id, { answer: { decision: "decline" } });
    const stored = { repeated: true, request: { status: "resolved", answer: accept } };
    await expect(on.hub.respond(ann, other)).resolves.toMatchObject(stored);
    await on.hub.close(ann, "s", KEEP);
    await expect(on.hub.respond(ann, other)).resolves.toMatchObject(stored);
    expect(on.backend.last.offered).toEqual(["n1"]);
  });
});

describe("a session that waits for an answer", () => {
  test("accepts no message, and says what it is waiting for", async () => {
    const on = await asked();
    await expect(on.hub.send(ann, "s", user("x"))).rejects.toMatchObject({
      code: "pending_structured_request",
      data: { request_id: on.request_id, request_type: "command", requested_at_ms: expect.any(Number) },
    });
    await on.hub.respond(ann, order(on.request_id));
    await on.hub.send(ann, "s", user("x"));
    expect(on.backend.last.sent).toHaveLength(1);
  });

  test("does not report a request that is not stored yet", async () => {
    const on = stage();
    await on.open(ann);
    const { open: release, passed } = gate();
    on.store.held = passed;
    on.backend.last.ask(askOf("n1"));
    await settle();
    const refusal = await on.hub.send(ann, "s", user("x")).catch((error: unknown) => error);
    release();
    expect(refusal).toMatchObject({ code: "session_busy" });
    expect(JSON.stringify(refusal)).not.toContain("req_");
  });

  test("keeps waiting when its owner leaves, and is not reaped", async () => {
    const on = await asked();
    on.hub.detach(ann);
    await settle();
    expect(await on.hub.reap(0, Date.now() + 1000)).toBe(0);
    expect(on.backend.alive).toHaveLength(1);
    await on.open(bob, { resume: true });
    await expect(on.hub.respond(bob, order(on.request_id))).resolves.toMatchObject({ repeated: false });
    expect(on.backend.runs).toHaveLength(1);
  });

  test("and has no owner: the answer reaches the agent before the agent is released", async () => {
    const on = await asked("any");
    on.hub.detach(ann);
    await settle();
    const load = on.store.request.bind(on.store);
    on.store.request = async (...ids) => {
      await settle(3); // as a store in another thread
      return load(...ids);
    };
    await expect(on.hub.respond(bob, order(on.request_id))).resolves.toMatchObject({
      request: { status: "resolved" },
    });
    expect(on.backend.last.answered).toEqual([{ native_id: "n1", answer: accept }]);
    await settle();
    expect(on.backend.alive).toEqual([]);
  });

  test("an interrupt withdraws the requests of its turn", async () => {
    const on = stage();
    const ear = await on.open(ann);
    await on.hub.send(ann, "s", user("x"));
    on.backend.last.ask(askOf("n1"));
    on.backend.last.ask(askOf("n2"));
    await settle();
    await on.hub.interrupt(ann, "s", () => undefined);
    await settle();
    expect(await allRequests(on.hub, {})).toEqual([]);
    expect(ear.heard.filter((frame) => frame["category"] === "request_withdrawn")).toHaveLength(2);
    expect(ear.of("agent.result")).toMatchObject([{ subtype: "interrupted" }]);
  });

  test("shutdown does not wait for answers: requests are orphaned as server_restarted, reported and stored", async () => {
    const on = await asked();
    on.ledger.close();
    await drain(on.hub, 60_000, new AbortController().signal, silentLog);
    expect(on.store.ledger.get(on.request_id)).toMatchObject({
      ...{ status: "orphaned", error_code: "server_restarted" },
    });
    expect(on.backend.alive).toEqual([]);
  });
});

test("requests of a sub-agent reach the session with their path, and are answered like any other", async () => {
  const on = stage();
  await on.open(ann);
  const path = ["explore", "search"];
  on.backend.last.ask(askOf("n1", { path, thread_id: "t2", item_id: "i" }));
  await settle();
  const [row] = await allRequests(on.hub, { session_id: "s" });
  expect(row).toMatchObject({ path, thread_id: "t2", item_id: "i", session_id: "s" });
  await on.hub.respond(ann, order(row?.request_id ?? ""));
  expect(on.backend.last.answered).toEqual([{ native_id: "n1", answer: accept }]);
});

test("a secret is never shown or kept: not in frames, lists or answers, nor in the store once the agent has it", async () => {
  const on = stage();
  const ear = await on.open(ann);
  const questions = [{ id: "q", question: "password?", is_secret: true }];
  const payload = { title: "log in", questions, choices: [accept] };
  on.backend.last.ask(askOf("n1", { request_type: "user_input", payload }));
  await settle();
  const [row] = await allRequests(on.hub, {});
  const answer = { answers: { q: "hunter2" } };
  const given = await on.hub.respond(ann, order(row?.request_id ?? "", { answer }));
  await settle();
  expect(on.backend.last.answered).toEqual([{ native_id: "n1", answer }]);
  const seen = [
    given,
    ear.heard,
    await allRequests(on.hub, { settled: true }),
    [...on.store.ledger.values()],
  ];
  expect(JSON.stringify(seen)).not.toContain("hunter2");
  expect(JSON.stringify(seen)).toContain("[secret]");
});
