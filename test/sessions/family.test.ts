// Families: which sessions are notified of what, and when not; stalls; limits. Exactly-once delivery is in
// family-once.test.ts.
import { afterEach, describe, expect, test, vi } from "vitest";
import { CodedError } from "../../src/base/coded-error.ts";
import type { SessionRow } from "../../src/protocol/session.ts";
import { listDescendants } from "../../src/sessions/family/kin.ts";
import { settle } from "./fakes.ts";
import { Disk, Life, queueOf } from "./family-world.ts";

/** A parent `p` and its child `c`, which has started turn `t`. */
async function parentAndChild(fields: Partial<SessionRow> = {}): Promise<Life> {
  const life = new Life(new Disk());
  life.add("p");
  life.add("c", { parent: "p", ...fields });
  await life.begin("c", "t");
  return life;
}

describe("wakes", () => {
  test("the end of a child's turn is one message in its parent's queue, from the child", async () => {
    const life = await parentAndChild({ name: "tests" });
    await life.end("c");
    await life.family.idle();
    const [message, ...more] = life.get("p").queue ?? [];
    expect(more).toEqual([]);
    expect(message).toMatchObject({ message_id: "wake_c_t", kind: "wake", from: "c" });
    expect(message?.message.content).toContain('Your child session "tests" (c, fake) has finished its turn.');
    expect(life.get("c").wakes).toBeUndefined();
    expect(JSON.parse(life.disk.rows.get("c") ?? "{}").wakes).toBeUndefined();
  });

  test("the wake is stored in the same write as the result", async () => {
    const life = await parentAndChild();
    await life.family.close(); // nothing is delivered after the write
    await life.end("c");
    const row = life.disk.read().get("c");
    expect(row?.last_result?.turn_id).toBe("t");
    expect(row?.wakes?.map(({ wake_id }) => wake_id)).toEqual(["wake_c_t"]);
  });

  test.each([
    ["it has no parent", {}, { parent: undefined }],
    ["it was opened not to wake its parent", {}, { wakes_parent: false }],
    ["more of it is queued", { hasMore: true }, {}],
  ])("no parent is woken when %s", async (_why, how, fields) => {
    const life = await parentAndChild();
    const row = Object.assign(life.get("c"), fields);
    if (row.parent === undefined) delete row.parent;
    await life.end("c", "success", how);
    life.ask("c", "req_1");
    if (row.parent !== undefined && row.wakes_parent !== false) life.settle("c", "req_1");
    await life.family.idle();
    expect(queueOf(life, "p")).toEqual([]);
  });

  test("a turn that its parent stopped wakes no one; one stopped by another client does", async () => {
    const life = await parentAndChild();
    life.family.noteStop("c", "p");
    await life.end("c", "interrupted");
    await life.begin("c", "u");
    life.family.noteStop("c", undefined);
    await life.end("c", "interrupted");
    await life.begin("c", "v");
    life.family.noteStop("c", "stranger");
    await life.end("c", "interrupted");
    await life.family.idle();
    expect(queueOf(life, "p")).toEqual(["wake_c_u", "wake_c_v"]);
  });

  test("a stop that came too late hides neither this end nor a later one", async () => {
    const life = await parentAndChild();
    life.family.noteStop("c", "p");
    await life.end("c", "success");
    life.family.noteStop("c", "p"); // nothing runs
    await life.begin("c", "u");
    await life.end("c", "interrupted");
    await life.family.idle();
    expect(queueOf(life, "p")).toEqual(["wake_c_t", "wake_c_u"]);
  });

  test("a message that the agent could not be given is reported too", async () => {
    const life = await parentAndChild();
    life.family.onInputFailed(life.get("c"), "m1", { code: "spawn_failed", message: "no such program" });
    await life.save("c");
    await life.family.idle();
    expect(queueOf(life, "p")).toEqual(["wake_c_m1"]);
    expect(life.get("p").queue?.[0]?.message.content).toContain("> no such program");
  });

  test("if the parent is gone, the wake is dropped and not retried", async () => {
    const life = await parentAndChild();
    life.rows.delete("p");
    await life.end("c");
    await life.family.idle();
    expect(life.get("c").wakes).toBeUndefined();
    expect(life.enqueued).toBe(0);
  });

  test("what the disk refuses is retried until it is stored", async () => {
    const life = await parentAndChild();
    life.faults = ["before", "before", "before", "before", "before"];
    life.end("c").catch(() => undefined);
    await life.family.idle();
    expect(queueOf(life, "p")).toEqual(["wake_c_t"]);
    expect(life.disk.read().get("p")?.queue).toHaveLength(1);
    expect(life.disk.read().get("c")?.wakes).toBeUndefined();
  });

  test("after `close` rows are marked and nothing is delivered; the next daemon does it", async () => {
    const life = await parentAndChild();
    await life.family.close();
    await life.end("c");
    await settle();
    expect(queueOf(life, "p")).toEqual([]);
    const next = new Life(life.disk);
    next.family.resume(next.rows.values());
    await next.family.idle();
    expect(queueOf(next, "p")).toEqual(["wake_c_t"]);
  });
});

describe("an agent that keeps working after its turn", () => {
  test("is reported when it becomes idle", async () => {
    const life = await parentAndChild();
    await life.end("c", "success", { goesOn: true });
    life.ask("c", "req_1");
    await life.family.idle();
    expect(queueOf(life, "p")).toEqual(["wake_c_req_1"]);
    const result = {
      type: "agent.result" as const,
      backend: "fake",
      subtype: "success" as const,
      turn_id: "t",
    };
    life.family.onTurnEnd(life.get("c"), result, false);
    await life.save("c");
    await life.family.idle();
    expect(queueOf(life, "p")).toEqual(["wake_c_req_1", "wake_c_t"]);
  });

  test("and starts another turn: only that turn's end is reported", async () => {
    const life = await parentAndChild();
    await life.end("c", "success", { goesOn: true });
    await life.begin("c", "u");
    await life.end("c");
    await life.family.idle();
    expect(queueOf(life, "p")).toEqual(["wake_c_u"]);
    expect(life.get("c").wakes).toBeUndefined();
  });

  test("and dies with the daemon: the next daemon reports it", async () => {
    const life = await parentAndChild();
    await life.end("c", "success", { goesOn: true });
    const next = new Life(life.disk);
    next.family.resume(next.rows.values());
    await next.family.idle();
    expect(queueOf(next, "p")).toEqual(["wake_c_t"]);
  });
});

describe("questions", () => {
  test("a child's question is reported, with how to answer it if the parent may", async () => {
    const life = await parentAndChild();
    life.get("p").may_answer = true;
    life.ask("c", "req_1");
    await life.family.idle();
    expect(queueOf(life, "p")).toEqual(["wake_c_req_1"]);
    expect(life.get("p").queue?.[0]?.message.content).toContain("`sm approve req_1`");
  });

  test("one that was settled before it was reported is not reported", async () => {
    const life = await parentAndChild();
    life.ask("c", "req_1");
    life.settle("c", "req_1");
    await life.family.idle();
    expect(queueOf(life, "p")).toEqual([]);
    expect(life.enqueued).toBe(0);
    expect(life.get("c").wakes).toBeUndefined();
  });

  test("one that waits in the parent's queue when it is settled is removed again", async () => {
    const life = await parentAndChild();
    life.ask("c", "req_1");
    life.ask("c", "req_2");
    await life.family.idle();
    life.faults = ["before"]; // also if the disk refuses at first
    life.settle("c", "req_1");
    await life.family.idle();
    expect(queueOf(life, "p")).toEqual(["wake_c_req_2"]);
  });

  test("after a restart no request is pending: messages that say so are withdrawn", async () => {
    const life = await parentAndChild();
    life.ask("c", "req_1");
    await life.family.idle();
    life.get("c").wakes = [{ wake_id: "wake_c_req_2", kind: "blocked", at_ms: 1, text: "asks" }];
    await life.save("c");
    const next = new Life(life.disk);
    next.family.resume(next.rows.values());
    await next.family.idle();
    expect(queueOf(next, "p")).toEqual([]);
    expect(next.get("c").wakes).toBeUndefined();
  });
});

describe("silences", () => {
  afterEach(() => void vi.useRealTimers());

  const MINUTE = 60_000;

  async function silentChild(): Promise<Life> {
    const life = await parentAndChild();
    life.running = [{ row: life.get("c"), last_event_at_ms: life.nowMs, isAsking: false }];
    return life;
  }

  async function check(life: Life, minutes: number): Promise<string[]> {
    life.nowMs += minutes * MINUTE;
    life.family.checkStalls(life.nowMs);
    await life.family.idle();
    return queueOf(life, "p");
  }

  test("one is reported once, and again if there was activity in between", async () => {
    const life = await silentChild();
    expect(await check(life, 9)).toEqual([]);
    expect(await check(life, 1)).toEqual(["wake_c_t_stall_1"]);
    expect(await check(life, 30)).toEqual(["wake_c_t_stall_1"]);
    life.running = [{ row: life.get("c"), last_event_at_ms: life.nowMs, isAsking: false }];
    expect(await check(life, 5)).toEqual(["wake_c_t_stall_1"]);
    expect(await check(life, 5)).toEqual(["wake_c_t_stall_1", "wake_c_t_stall_2"]);
    expect(life.stalls).toEqual(["c", "c"]);
  });

  test("none while a request is pending, and after the answer the time starts again", async () => {
    const life = await silentChild();
    const [child] = life.running;
    if (child === undefined) throw new Error("nobody runs");
    child.isAsking = true;
    expect(await check(life, 60)).toEqual([]);
    child.isAsking = false;
    life.family.onSettled({ session_id: "c", request_id: "req_1" });
    expect(await check(life, 9)).toEqual([]);
    expect(await check(life, 1)).toEqual(["wake_c_t_stall_1"]);
  });

  test("none between turns; a root's stall is recorded and wakes no one", async () => {
    const life = await silentChild();
    delete life.get("c").turn;
    expect(await check(life, 60)).toEqual([]);
    life.get("p").turn = { turn_id: "x", started_at_ms: 0 };
    life.running = [{ row: life.get("p"), isAsking: false }];
    expect(await check(life, 60)).toEqual([]);
    expect(life.stalls).toEqual(["p"]);
  });

  test("one that is still unread is withdrawn when the turn ends", async () => {
    const life = await silentChild();
    expect(await check(life, 10)).toEqual(["wake_c_t_stall_1"]);
    await life.end("c");
    await life.family.idle();
    expect(queueOf(life, "p")).toEqual(["wake_c_t"]);
  });

  test("stall_s 0 disables the check", async () => {
    const life = new Life(new Disk(), { stallMs: 0 });
    life.running = [{ row: life.add("p", { turn: { turn_id: "x", started_at_ms: 0 } }), isAsking: false }];
    life.family.checkStalls(1e12);
    expect(life.stalls).toEqual([]);
  });

  test("the timer checks on its own; after the machine slept the time starts again", () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const life = new Life(new Disk(), { stallMs: 10 * MINUTE });
    life.running = [
      { row: life.add("p", { turn: { turn_id: "x", started_at_ms: life.nowMs } }), isAsking: false },
    ];
    const tick = (ms: number) => {
      life.nowMs += ms;
      vi.advanceTimersByTime(30_000);
    };
    life.family.startStallChecks();
    tick(8 * 60 * MINUTE);
    expect(life.stalls).toEqual([]);
    for (let n = 0; n < 20; n += 1) tick(30_000);
    expect(life.stalls).toEqual(["p"]);
    void life.family.close();
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe("limits", () => {
  const limited = () => new Life(new Disk(), { limits: { maxChildren: 2, maxDepth: 2, maxSize: 5 } });
  const fault = async (life: Life, parent_id: string) => {
    try {
      (await life.family.checkSpawn(parent_id))();
      return undefined;
    } catch (error) {
      return error instanceof CodedError ? { code: error.code, message: error.message } : error;
    }
  };

  test("an unknown parent is session_unknown", async () => {
    expect(await fault(limited(), "p")).toMatchObject({ code: "session_unknown" });
  });

  test("a session has at most max_children that are not stopped, and the error names one to stop", async () => {
    const life = limited();
    life.add("p");
    life.add("a", { parent: "p", turn: { turn_id: "t", started_at_ms: 1 } });
    expect(await fault(life, "p")).toBeUndefined();
    const done = life.add("b", { parent: "p" });
    expect(await fault(life, "p")).toEqual({
      code: "family_limit",
      message: expect.stringMatching(/2 active children.*max_children.*`sm stop b`/),
    });
    done.stopped_at_ms = 5;
    expect(await fault(life, "p")).toBeUndefined();
  });

  test("a child that is only stored counts if it has work to do", async () => {
    const limits = { maxChildren: 2, maxDepth: 2, maxSize: 5 };
    const life = new Life(new Disk(), { limits }, { isLoaded: (id) => id === "p" });
    life.add("p");
    for (const id of ["a", "b", "c"]) life.add(id, { parent: "p" });
    expect(await fault(life, "p")).toBeUndefined();
    life.get("a").turn = { turn_id: "t", started_at_ms: 1 };
    life.get("b").queue = [
      { message_id: "m", kind: "user", message: { role: "user", content: "go" }, queued_at_ms: 1 },
    ];
    expect(await fault(life, "p")).toMatchObject({ code: "family_limit" });
    life.get("b").stopped_at_ms = 1;
    expect(await fault(life, "p")).toBeUndefined();
  });

  test("a family is at most max_family_depth generations deep", async () => {
    const life = limited();
    life.add("p");
    life.add("a", { parent: "p" });
    expect(await fault(life, "a")).toBeUndefined();
    life.add("b", { parent: "a" });
    expect(await fault(life, "b")).toMatchObject({
      code: "family_limit",
      message: expect.stringMatching(/max_family_depth/),
    });
  });

  test("and has at most max_family_size sessions", async () => {
    const life = limited();
    life.add("p");
    for (const id of ["a", "b"]) life.add(id, { parent: "p" });
    life.add("c", { parent: "a" });
    expect(await fault(life, "b")).toBeUndefined();
    life.add("d", { parent: "a" });
    expect(await fault(life, "b")).toMatchObject({ message: expect.stringMatching(/max_family_size/) });
  });

  test("a cycle of parents does not hang anything", async () => {
    const life = limited();
    life.add("a", { parent: "b" });
    life.add("b", { parent: "a" });
    expect(await fault(life, "a")).toBeUndefined();
  });
});

describe("descendants", () => {
  const kin = (session_id: string, parent?: string, started_at_ms = 0) => ({
    session_id,
    started_at_ms,
    ...(parent === undefined ? {} : { parent }),
  });

  test("parents come before their children, older siblings first, unrelated sessions are left out", () => {
    const rows = [
      kin("a2", "a"),
      kin("b", "p", 2),
      kin("a", "p", 1),
      kin("p"),
      kin("x"),
      kin("x1", "x"),
      kin("a1", "a", -1),
    ];
    const found = listDescendants("p", rows).map(({ depth, row }) => `${depth} ${row.session_id}`);
    expect(found).toEqual(["1 a", "2 a1", "2 a2", "1 b"]);
    expect(listDescendants("nobody", rows)).toEqual([]);
  });

  test("a cycle of parents is visited once", () => {
    const found = listDescendants("a", [kin("a", "b"), kin("b", "a")]);
    expect(found.map(({ row }) => row.session_id)).toEqual(["b"]);
  });
});
