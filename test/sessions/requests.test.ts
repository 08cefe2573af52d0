// The ledger with fakes: what is stored, shown and dispatched when the disk, the agent or the clock misbehaves. All
// orders of such events are covered by the model (test/ledger).
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Answer, RequestRow } from "../../src/protocol/requests.ts";
import { allRequests, askOf, type Ear, gate, type Stage, settle, stage, user } from "./fakes.ts";

const ann = { id: "ann" };
const KEEP = { delete: false, deleteTranscript: false };
const ACCEPT: Answer = { decision: "accept" };
/** How long the ledger waits for an agent, and between two attempts to write to disk. */
const PATIENCE_MS = 2000;
const EVERYTHING = { orphaned: true, settled: true };

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
});

afterEach(() => {
  vi.useRealTimers();
});

interface Scene extends Stage {
  ear: Ear;
  /** Makes a request, and returns its public id. */
  ask(native_id: string, fields?: Parameters<typeof askOf>[1]): Promise<string>;
  respond(request_id: string, answer?: Answer): Promise<string>;
  pass(ms: number): Promise<void>;
  stored(request_id: string): RequestRow | undefined;
  told(): unknown[];
}

async function scene(over: Parameters<typeof stage>[0] = {}): Promise<Scene> {
  const on = stage(over);
  const ear = await on.open(ann);
  return {
    ...on,
    ear,
    async ask(native_id, fields) {
      const known = new Set((await allRequests(on.hub, {})).map(({ request_id }) => request_id));
      on.backend.last.ask(askOf(native_id, fields));
      await settle();
      const row = (await allRequests(on.hub, {})).find(({ request_id }) => !known.has(request_id));
      return row?.request_id ?? "";
    },
    respond: (request_id, answer = ACCEPT) =>
      on.hub.respond(ann, { session_id: "s", request_id, answer, source: "api" }).then(
        ({ request, repeated }) => `${repeated ? "repeated" : "taken"} ${JSON.stringify(request.answer)}`,
        (error: { code: string }) => error.code,
      ),
    async pass(ms) {
      await vi.advanceTimersByTimeAsync(ms);
      await settle();
    },
    stored: (request_id) => on.store.ledger.get(request_id),
    told: () =>
      ear.heard.map((frame) => frame["category"]).filter((name) => String(name).startsWith("request_")),
  };
}

test("a request has the turn in which it was made under our id, and the agent's own id beside it", async () => {
  const on = await scene();
  await on.hub.send(ann, "s", user("go"));
  await settle();
  const turn_id = on.store.saved.get("s")?.turn?.turn_id;
  expect(turn_id).toMatch(/./);
  const request_id = await on.ask("n1", { native_turn_id: "theirs" });
  expect(on.stored(request_id)).toMatchObject({ turn_id, native_turn_id: "theirs" });
});

test("a request outside a turn has no turn id", async () => {
  const on = await scene();
  const request_id = await on.ask("n1", { native_turn_id: "theirs" });
  expect(on.stored(request_id)).toMatchObject({ native_turn_id: "theirs" });
  expect(on.stored(request_id)).not.toHaveProperty("turn_id");
});

test("a reason that the agent cannot be given is not passed on, and the client that answered gets a notice", async () => {
  const on = await scene();
  const payload = { title: "x", choices: [{ decision: "decline" as const }] };
  const request_id = await on.ask("n1", { payload });
  const order = { session_id: "s", request_id, answer: { decision: "decline" as const, message: "why" } };
  const first = await on.hub.respond(ann, { ...order, source: "tui" });
  expect(first).toMatchObject({ repeated: false, notice: expect.stringMatching(/accepts no reason/) });
  expect(first.request.answer).toEqual({ decision: "decline" });
  expect(on.backend.last.answered).toEqual([{ native_id: "n1", answer: { decision: "decline" } }]);
  // A lost reply is requested again.
  expect(await on.hub.respond(ann, { ...order, source: "tui" })).toMatchObject({
    repeated: true,
    notice: first.notice,
  });
});

test("a reason that the agent accepts is passed on without a notice", async () => {
  const on = await scene();
  const request_id = await on.ask("n1");
  const answer = { decision: "decline" as const, message: "why" };
  const reply = await on.hub.respond(ann, { session_id: "s", request_id, answer, source: "tui" });
  expect(reply).not.toHaveProperty("notice");
  expect(on.backend.last.answered).toEqual([{ native_id: "n1", answer }]);
});

describe("when the disk fails", () => {
  test("a request that cannot be stored is refused: the agent continues, a notice says so, it is never shown as pending", async () => {
    const on = await scene();
    on.store.failing = true;
    on.backend.last.ask(askOf("n1"));
    on.backend.last.ask(askOf("n2", { request_type: "user_input" }));
    await settle();
    expect(on.backend.last.answered).toEqual([
      { native_id: "n1", answer: { decision: "decline" } },
      { native_id: "n2", answer: { answers: {} } },
    ]);
    expect(on.told()).toEqual(["request_refused", "request_refused"]);
    expect(on.ear.heard[0]?.["text"]).toMatch(/"run n1" was refused.*disk full/);
    expect(await allRequests(on.hub, EVERYTHING)).toEqual([]);
    await on.hub.send(ann, "s", user("go on"));
  });

  test("one that is withdrawn or whose agent dies meanwhile was never made", async () => {
    for (const end of [
      (on: Scene) => on.backend.last.withdraw("n1"),
      (on: Scene) => on.backend.last.end(false, 1),
    ]) {
      const on = await scene();
      const { open: release, passed } = gate();
      Object.assign(on.store, { held: passed, failing: true });
      on.backend.last.ask(askOf("n1"));
      await settle();
      end(on);
      release();
      await settle();
      on.store.failing = false;
      await on.pass(2 * PATIENCE_MS);
      expect([...on.store.ledger.values()]).toEqual([]);
      expect(on.told()).toEqual(["request_refused"]);
    }
  });

  test("an answer that cannot be stored is not dispatched; a later one is", async () => {
    const on = await scene();
    const request_id = await on.ask("n1");
    on.store.failing = true;
    expect(await on.respond(request_id)).toBe("store_failed");
    expect(on.backend.last.offered).toEqual([]);
    expect(await allRequests(on.hub, {})).toMatchObject([{ request_id, status: "pending" }]);
    on.store.failing = false;
    expect(await on.respond(request_id)).toBe('taken {"decision":"accept"}');
    expect(on.told()).toEqual(["request_pending", "request_resolved"]);
  });

  test("an end that it refuses is retried until it is stored, and never shown as pending meanwhile", async () => {
    const on = await scene();
    const request_id = await on.ask("n1");
    on.store.failing = true;
    on.backend.last.withdraw("n1");
    await on.pass(5 * PATIENCE_MS);
    expect(on.stored(request_id)?.status).toBe("pending");
    expect(await allRequests(on.hub, {})).toEqual([]);
    expect(await allRequests(on.hub, EVERYTHING)).toMatchObject([{ status: "withdrawn" }]);
    expect(await on.respond(request_id)).toBe("request_withdrawn");
    expect(on.told()).toEqual(["request_pending"]);
    on.store.failing = false;
    await on.pass(PATIENCE_MS);
    expect(on.stored(request_id)?.status).toBe("withdrawn");
    expect(on.told()).toEqual(["request_pending", "request_withdrawn"]);
    const writes = on.store.orders.length;
    await on.pass(5 * PATIENCE_MS);
    expect(on.store.orders).toHaveLength(writes);
  });

  test("a closed session's unwritten rows are not written into one opened later", async () => {
    const on = await scene();
    const request_id = await on.ask("n1");
    on.store.failing = true;
    await on.hub.close(ann, "s", KEEP);
    on.store.failing = false;
    expect(await allRequests(on.hub, EVERYTHING)).toMatchObject([{ status: "orphaned" }]);
    const ear = await on.open(ann, { resume: true, last_seen_seq: 0 });
    await on.pass(2 * PATIENCE_MS);
    on.backend.last.say("x");
    await settle();
    expect(on.stored(request_id)?.status).toBe("orphaned");
    expect(ear.heard.map((frame) => [frame["seq"], frame["category"] ?? frame.type])).toEqual([
      [1, "request_pending"],
      [2, "request_orphaned"],
      [3, "agent.delta"],
    ]);
  });

  test("a deleted session's unwritten rows are dropped", async () => {
    const on = await scene();
    await on.ask("n1");
    on.store.failing = true;
    await on.hub.close(ann, "s", { ...KEEP, delete: true });
    on.store.failing = false;
    await on.pass(5 * PATIENCE_MS);
    expect([...on.store.ledger.values()]).toEqual([]);
    expect(on.store.log).toEqual([]);
  });

  test("an unreadable store does not hold back an answer that it has acknowledged", async () => {
    const on = await scene();
    const request_id = await on.ask("n1");
    on.store.unreadable = true;
    expect(await on.respond(request_id)).toBe('taken {"decision":"accept"}');
    expect(on.backend.last.answered).toEqual([{ native_id: "n1", answer: ACCEPT }]);
  });
});

describe("what was shown", () => {
  test("is compared with what is stored: if that was changed, the agent is refused and the row is orphaned", async () => {
    const on = await scene();
    const request_id = await on.ask("n1");
    const load = on.store.request.bind(on.store);
    on.store.request = async (...ids) => {
      const row = await load(...ids);
      return row && { ...row, payload: { ...row.payload, command: "make clean" } };
    };
    expect(await on.respond(request_id)).toBe("request_orphaned");
    expect(on.backend.last.answered).toEqual([{ native_id: "n1", answer: { decision: "decline" } }]);
    expect(on.stored(request_id)).toMatchObject({ status: "orphaned", error_code: "request_changed" });
    expect(on.told()).toEqual(["request_pending", "request_resolved", "request_orphaned"]);
  });

  test("can be named in an answer: another hash changes nothing", async () => {
    const on = await scene();
    const request_id = await on.ask("n1");
    const order = { session_id: "s", request_id, answer: ACCEPT, source: "api" as const };
    await expect(on.hub.respond(ann, { ...order, shown_hash: "0".repeat(64) })).rejects.toMatchObject({
      code: "request_changed",
      data: { request: { request_id, shown_hash: on.stored(request_id)?.shown_hash } },
    });
    expect(on.stored(request_id)?.status).toBe("pending");
    const shown_hash = on.stored(request_id)?.shown_hash ?? "";
    await expect(on.hub.respond(ann, { ...order, shown_hash })).resolves.toMatchObject({ repeated: false });
  });
});

describe("when no one answers", () => {
  test("policy does, from the store; a later answer gets what was stored", async () => {
    const on = await scene({ expiryMs: 60_000 });
    const request_id = await on.ask("n1");
    await on.pass(59_000);
    expect(on.stored(request_id)?.status).toBe("pending");
    await on.pass(1000);
    expect(on.backend.last.answered).toEqual([{ native_id: "n1", answer: { decision: "decline" } }]);
    expect(on.stored(request_id)).toMatchObject({ status: "resolved", resolution_source: "policy" });
    expect(on.told()).toEqual(["request_pending", "request_expired", "request_resolved"]);
    expect(await on.respond(request_id)).toBe('repeated {"decision":"decline"}');
  });

  test("and the disk refuses the expiry, the agent gets nothing until it is stored", async () => {
    const on = await scene({ expiryMs: 60_000 });
    const request_id = await on.ask("n1");
    on.store.failing = true;
    await on.pass(70_000);
    expect(on.backend.last.offered).toEqual([]);
    on.store.failing = false;
    await on.pass(PATIENCE_MS);
    expect(on.stored(request_id)?.status).toBe("resolved");
    expect(on.backend.last.offered).toEqual(["n1"]);
  });

  test("a timeout longer than a timer allows is waited for in parts", async () => {
    const days = (count: number) => count * 24 * 3_600_000;
    const on = await scene({ expiryMs: days(60) });
    const request_id = await on.ask("n1");
    await on.pass(days(59));
    expect(on.stored(request_id)?.status).toBe("pending");
    await on.pass(days(1));
    expect(on.stored(request_id)?.status).toBe("resolved");
  });

  test("an answer in time stops the timer", async () => {
    const on = await scene({ expiryMs: 60_000 });
    const request_id = await on.ask("n1");
    await on.respond(request_id);
    await on.pass(120_000);
    expect(on.told()).toEqual(["request_pending", "request_resolved"]);
    expect(on.backend.last.offered).toEqual(["n1"]);
  });
});

describe("an agent", () => {
  test("that is gone before it takes the answer: orphaned, reported, and the client that answered is informed", async () => {
    const on = await scene();
    const request_id = await on.ask("n1");
    const { open: release, passed } = gate();
    on.backend.last.deaf = passed;
    const answering = on.respond(request_id);
    await settle();
    on.backend.last.end(false, 1);
    release();
    expect(await answering).toBe("request_orphaned");
    expect(on.stored(request_id)).toMatchObject({
      status: "orphaned",
      error_code: "agent_gone",
      answer: ACCEPT,
    });
    expect(on.told()).toEqual(["request_pending", "request_resolved", "request_orphaned"]);
  });

  test("that never takes it and dies: reported as well", async () => {
    const on = await scene();
    const request_id = await on.ask("n1");
    on.backend.last.deaf = new Promise(() => undefined);
    const answering = on.respond(request_id);
    await on.pass(PATIENCE_MS);
    expect(await answering).toBe('taken {"decision":"accept"}');
    on.backend.last.end(false, 1);
    await on.pass(PATIENCE_MS);
    expect(on.told()).toEqual(["request_pending", "request_resolved", "request_orphaned"]);
  });

  test("that withdraws it while the answer is being stored: withdrawn, and nothing is sent", async () => {
    const on = await scene();
    const request_id = await on.ask("n1");
    const { open: release, passed } = gate();
    on.store.held = passed;
    const answering = on.respond(request_id);
    await settle();
    on.backend.last.withdraw("n1");
    release();
    expect(await answering).toBe("request_withdrawn");
    expect(on.backend.last.answered).toEqual([]);
    expect(on.told()).toEqual(["request_pending", "request_resolved", "request_withdrawn"]);
  });

  test("that does not take an answer blocks nothing else: not the client, nor another request, nor a second answer", async () => {
    const on = await scene();
    const [first, second] = [await on.ask("n1"), await on.ask("n2")];
    const { open: release, passed } = gate();
    on.backend.last.deaf = passed;
    const answering = on.respond(first);
    await settle();
    on.backend.last.deaf = undefined;
    expect(await on.respond(second)).toBe('taken {"decision":"accept"}');
    const again = on.respond(first, { decision: "decline" });
    await on.pass(PATIENCE_MS);
    expect(await answering).toBe('taken {"decision":"accept"}');
    expect(await again).toBe('repeated {"decision":"accept"}');
    expect(on.stored(first)).not.toHaveProperty("dispatched_at_ms");
    release();
    await settle();
    expect(on.stored(first)).toHaveProperty("dispatched_at_ms");
    expect(on.backend.last.offered.sort()).toEqual(["n1", "n2"]);
  });

  test("that keeps making requests is refused beyond a limit, and may ask again when one is answered", async () => {
    const on = await scene();
    for (let n = 0; n < 300; n += 1) on.backend.last.ask(askOf(`n${n}`));
    await settle();
    const pending = await allRequests(on.hub, {});
    expect(pending).toHaveLength(256);
    expect(on.backend.last.answered).toHaveLength(44);
    expect(on.told().filter((name) => name === "request_refused")).toHaveLength(44);
    expect(on.audited).toHaveLength(44);
    expect(on.audited[0]).toMatchObject({
      ...{ session_id: "s", native_request_id: "n256", answer: { decision: "decline" } },
      answered_by: { actor: "daemon", via: "policy" },
    });
    await on.respond(pending[0]?.request_id ?? "");
    expect(await on.ask("one more")).toMatch(/^req_/);
  });

  test("that makes the same request twice has made one", async () => {
    const on = await scene();
    const request_id = await on.ask("n1");
    on.backend.last.sink.ask(askOf("n1"));
    await settle();
    expect(await allRequests(on.hub, {})).toHaveLength(1);
    expect(on.backend.last.offered).toEqual([]);
    expect(await on.respond(request_id)).toBe('taken {"decision":"accept"}');
  });

  test("may reuse an id as soon as it has the answer", async () => {
    const on = await scene();
    const request_id = await on.ask("n1");
    const run = on.backend.last;
    const answer = run.answer.bind(run);
    run.answer = async (native_id, given) => {
      const hasIt = await answer(native_id, given);
      run.answer = answer;
      run.ask(askOf("n1"));
      return hasIt;
    };
    await on.respond(request_id);
    await settle();
    expect(on.told()).toEqual(["request_pending", "request_resolved", "request_pending"]);
    expect(run.offered).toEqual(["n1"]);
  });

  test("that makes a request and then fails to start leaves nothing pending", async () => {
    const on = stage();
    on.backend.start = async (_order, sink) => {
      sink.ask(askOf("n1"));
      await settle();
      throw new Error("no such model");
    };
    await expect(on.open(ann)).rejects.toThrow("no such model");
    await settle();
    expect(await allRequests(on.hub, EVERYTHING)).toMatchObject([{ status: "orphaned" }]);
    expect([...on.store.ledger.values()]).toMatchObject([{ status: "orphaned" }]);
  });
});

test("a fault of the rules file is a notice in the session that asks next, once, and the request is shown", async () => {
  const faults = ["policy.toml: rule 1: /then: required"];
  const policy = { mayDecide: () => true, decide: async () => undefined, takeFault: () => faults.shift() };
  const { ask, ear } = await scene({ policy });
  await ask("a");
  await ask("b");
  const notices = ear.heard.filter((frame) => frame["category"] === "policy_invalid");
  expect(notices).toMatchObject([
    { type: "agent.notice", level: "warn", text: expect.stringMatching(/rule 1: \/then: required/) },
  ]);
  const categories = ear.heard.map((frame) => frame["category"]);
  expect(categories.indexOf("policy_invalid")).toBeLessThan(categories.indexOf("request_pending"));
  expect(categories.filter((name) => name === "request_pending")).toHaveLength(2);
});
