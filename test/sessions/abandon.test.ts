// A daemon that stops and leaves its agents running: the sessions record nothing more and do nothing to them.
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { RunKeeper } from "../../src/backends/types.ts";
import { askOf, Ear, gate, settle, user } from "./fakes.ts";
import { runOf, spawn, type World, world } from "./system.ts";

const ann = { id: "ann" };

/** A world with a session in a turn that waits for an answer, and one that is idle and owned by a client. */
async function working(): Promise<World> {
  const on = await world();
  await spawn(on, "asks", { answers: "any" });
  await settle();
  runOf(on, "asks").say("before");
  runOf(on, "asks").ask(askOf("x"));
  await on.hub.open(ann, new Ear(), { session_id: "idle", backend: "fake", resume: false, options: {} });
  await settle();
  return on;
}

/** Everything in the store, as text. */
function stored({ store }: World): string {
  const frames = store.log.map(({ bytes }) => Buffer.from(bytes).toString());
  return JSON.stringify([frames, [...store.saved.values()], [...store.ledger.values()]]);
}

const HAPPENINGS: [string, (on: World) => unknown][] = [
  ["an event", (on) => runOf(on, "asks").say("after")],
  ["the end of a turn", (on) => runOf(on, "asks").result()],
  ["the end of an agent", (on) => runOf(on, "asks").end(false)],
  ["a withdrawn request", (on) => runOf(on, "asks").withdraw("x")],
  ["a new request", (on) => runOf(on, "asks").ask(askOf("y"))],
  ["an owner that leaves", (on) => on.hub.detach(ann)],
  ["the reaper", (on) => on.hub.reap(0, Date.now() + 1_000_000).catch(() => undefined)],
];

describe("after abandon", () => {
  test.each(HAPPENINGS)("%s is not recorded, and no agent is stopped", async (_what, happen) => {
    const on = await working();
    await on.abandon();
    const before = stored(on);
    expect(before).toContain("before");
    happen(on);
    await settle(20);
    expect(stored(on)).toBe(before);
    expect(on.backend.runs.flatMap(({ calls }) => calls)).toEqual([]);
  });

  test("clients are refused with daemon_shutdown, and nothing reaches an agent", async () => {
    const on = await working();
    const [request] = [...on.store.ledger.values()];
    const { request_id = "" } = request ?? {};
    await on.abandon();
    const sent = on.backend.runs.map((run) => run.sent.length);
    const answer = { decision: "accept" } as const;
    const calls = [
      on.hub.send(ann, "idle", user("hello")),
      on.manager.input({ session_id: "idle", message: user("hello") }),
      on.manager.interrupt("asks"),
      on.manager.stop("asks", { tree: false }),
      on.hub.respond(ann, { session_id: "asks", request_id, answer, source: "api" }),
      on.hub.open(ann, new Ear(), { session_id: "new", backend: "fake", resume: false, options: {} }),
    ];
    const refused = expect.objectContaining({ code: "daemon_shutdown" });
    expect(await Promise.all(calls.map((call) => call.catch((error: unknown) => error)))).toEqual(
      calls.map(() => refused),
    );
    await settle(20);
    expect(on.backend.runs.map((run) => run.sent.length)).toEqual(sent);
    expect(on.backend.runs.flatMap((run) => run.offered)).toEqual([]);
  });
});

test("abandon waits until everything before it is stored", async () => {
  const on = await working();
  const disk = gate();
  on.store.held = disk.passed;
  runOf(on, "asks").say("just before");
  let isDone = false;
  const abandoned = on.abandon().then(() => {
    isDone = true;
  });
  await settle(20);
  runOf(on, "asks").say("too late");
  expect(isDone).toBe(false);
  disk.open();
  await abandoned;
  expect(stored(on)).toContain("just before");
  expect(stored(on)).not.toContain("too late");
});

test("an answer that is being delivered reaches its agent, and this is stored", async () => {
  const on = await working();
  const [request] = [...on.store.ledger.values()];
  const { request_id = "" } = request ?? {};
  const reading = gate();
  runOf(on, "asks").deaf = reading.passed;
  const answer = { decision: "accept" } as const;
  const responded = on.hub.respond(ann, { session_id: "asks", request_id, answer, source: "api" });
  await settle();
  const abandoned = on.abandon();
  await settle(20);
  reading.open();
  await Promise.all([responded, abandoned]);
  expect(runOf(on, "asks").answered).toHaveLength(1);
  expect(on.store.ledger.get(request_id)).toMatchObject({ status: "resolved" });
  expect(on.store.ledger.get(request_id)?.dispatched_at_ms).toBeGreaterThan(0);
});

function keeperOf(over: Partial<RunKeeper>): RunKeeper {
  return {
    mark: { run_id: "r", out: 0, err: 0, n: 0 },
    record: (_name, _args, make) => make(),
    checkpoint: () => undefined,
    release: () => undefined,
    drained: () => Promise.resolve(),
    ...over,
  };
}

test("a message that is being written reaches its agent: with half of it no daemon could take the agent over", async () => {
  const on = await working();
  const reading = gate();
  runOf(on, "idle").keeper = keeperOf({ drained: () => reading.passed });
  let isDone = false;
  const abandoned = on.abandon().then(() => {
    isDone = true;
  });
  await settle(20);
  expect(isDone).toBe(false);
  reading.open();
  await abandoned;
});

test("no snapshot includes what an agent said after abandon, because it is not stored", async () => {
  const on = await working();
  const checkpoint = vi.fn();
  runOf(on, "asks").keeper = keeperOf({ checkpoint });
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  await on.abandon();
  runOf(on, "asks").result();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(checkpoint).not.toHaveBeenCalled();
});

test("between turns that follow each other directly an agent's place is kept before the next message", async () => {
  const on = await working();
  const done: string[] = [];
  runOf(on, "idle").keeper = keeperOf({
    checkpoint: (_about, minBytes) => void done.push(`checkpoint ${minBytes}`),
    record: (name, _args, make) => {
      done.push(name);
      return make();
    },
  });
  await on.manager.input({ session_id: "idle", message: user("next") });
  await settle(20);
  expect(done).toEqual(["checkpoint 32768", "send"]);
});
