// Waiting for a session: every reason, no lost wake-up, nothing left over.
import { expect, test, vi } from "vitest";
import { silentLog } from "../../src/base/log.ts";
import type { InputRecord } from "../../src/protocol/queue.ts";
import type { WaitOrder } from "../../src/sessions/manager-types.ts";
import { Changes } from "../../src/sessions/views/changes.ts";
import { toView } from "../../src/sessions/views/view.ts";
import { type WaitState, waitFor } from "../../src/sessions/views/wait.ts";
import { gate, rowOf, settle } from "./fakes.ts";

const IDLE: WaitState = {
  row: {},
  isTurnActive: false,
  isRunning: true,
  isBusy: false,
  isSettling: false,
  pending: 0,
};
const WORKING: WaitState = { ...IDLE, isTurnActive: true };

const message = { role: "user" as const, content: "x" };
const queue = [{ message_id: "m", kind: "user" as const, message, queued_at_ms: 1 }];
const record = (state: InputRecord["state"]): InputRecord => ({
  message_id: "m",
  kind: "user",
  state,
  queued_at_ms: 1,
});

function bench(first: WaitState | undefined) {
  const changes = new Changes({ view: () => undefined, log: silentLog });
  const world = {
    pending: new Map(),
    familyPending: new Map(),
    children: new Map(),
    lastAction: () => undefined,
    quota: () => [],
    provider: (backend: string) => backend,
    stallMs: 0,
    nowMs: 0,
  };
  let now = first;
  const state = vi.fn((): WaitState | undefined | Promise<WaitState | undefined> => now);
  const view = () => toView({ row: rowOf("s") }, world);
  const wait = (more: Partial<WaitOrder> = {}) =>
    waitFor(
      { session_id: "s", until: ["idle", "blocked"], timeoutMs: 60_000, ...more },
      { changes, state, view },
    );
  const become = (next: WaitState | undefined) => {
    now = next;
    changes.markChanged("s");
  };
  return { wait, become, state, changes };
}

test("a session already in the awaited state answers at once", async () => {
  expect(await bench(IDLE).wait()).toMatchObject({ reason: "idle", session: { session_id: "s" } });
  expect(await bench({ ...WORKING, pending: 1 }).wait()).toMatchObject({ reason: "blocked" });
  const stopped = { ...IDLE, isRunning: false, row: { stopped_at_ms: 1, queue } };
  expect(await bench(stopped).wait()).toMatchObject({ reason: "stopped" });
});

test.each([
  ["a turn", WORKING],
  ["a queued message whose turn has not started", { ...IDLE, row: { queue } }],
  ["an agent that keeps working after its turn", { ...IDLE, isBusy: true }],
  ["a result that is not stored yet", { ...IDLE, isSettling: true }],
  ["a pending request", { ...IDLE, pending: 1 }],
  ["an agent that is still being stopped", { ...WORKING, row: { stopped_at_ms: 1 } }],
] as [string, WaitState][])("%s keeps a session from being idle", async (_what, state) => {
  const { wait, become } = bench(state);
  const answered = vi.fn();
  const waiting = wait({ until: ["idle"] }).then(answered);
  await settle();
  become(state);
  await settle();
  expect(answered).not.toHaveBeenCalled();
  become(IDLE);
  await waiting;
  expect(answered).toHaveBeenCalledWith(expect.objectContaining({ reason: "idle" }));
});

test("a wait for requests only is not ended by idleness", async () => {
  const { wait, become } = bench(IDLE);
  const waiting = wait({ until: ["blocked"] });
  await settle();
  become({ ...WORKING, pending: 2 });
  expect(await waiting).toMatchObject({ reason: "blocked" });
});

test.each(["done", "cancelled", "failed"] as const)(
  "a message that is %s ends the wait for it, with its record",
  async (over) => {
    const { wait, become } = bench({ ...IDLE, row: { queue, inputs: [record("queued")] } });
    const waiting = wait({ message_id: "m", until: [] });
    await settle();
    become({ ...WORKING, row: { inputs: [record("delivered")] } });
    await settle();
    // The session continues with something else; only the message counts.
    become({ ...WORKING, row: { inputs: [record(over)] } });
    expect(await waiting).toMatchObject({ reason: "input_done", input: record(over) });
  },
);

test("a message in an idle session is still waited for, and blocked is reported if asked for", async () => {
  const { wait, become } = bench({ ...IDLE, row: { inputs: [record("delivered")] } });
  const waiting = wait({ message_id: "m" });
  await settle();
  become({ ...WORKING, pending: 1, row: { inputs: [record("delivered")] } });
  expect(await waiting).toMatchObject({ reason: "blocked", input: record("delivered") });
});

test("a session that was stopped ends every wait", async () => {
  const { wait, become } = bench(WORKING);
  const waiting = wait();
  await settle();
  become({ ...IDLE, isRunning: false, row: { stopped_at_ms: 5 } });
  expect(await waiting).toMatchObject({ reason: "stopped" });
});

test("an unknown session or message is an error, including one removed meanwhile", async () => {
  await expect(bench(undefined).wait()).rejects.toMatchObject({ code: "session_unknown" });
  await expect(bench(IDLE).wait({ message_id: "m" })).rejects.toMatchObject({ code: "message_unknown" });
  const { wait, become } = bench(WORKING);
  const waiting = wait();
  await settle();
  become(undefined);
  await expect(waiting).rejects.toMatchObject({ code: "session_unknown" });
});

test("a change between the check and the wait is not lost", async () => {
  const { wait, become, state } = bench(WORKING);
  const { open, passed } = gate();
  // The check takes its time and sees the earlier state.
  state.mockImplementationOnce(async () => {
    await passed;
    return WORKING;
  });
  const waiting = wait();
  become(IDLE);
  open();
  expect(await waiting).toMatchObject({ reason: "idle" });
});

test("a timeout and an abort answer with timeout, and no listener is left", async () => {
  vi.useFakeTimers();
  try {
    const { wait, become, state } = bench(WORKING);
    expect(await wait({ timeoutMs: 0 })).toMatchObject({ reason: "timeout" });
    const timed = wait({ timeoutMs: 500 });
    await vi.advanceTimersByTimeAsync(500);
    expect(await timed).toMatchObject({ reason: "timeout" });
    const abort = new AbortController();
    const aborted = wait({ signal: abort.signal });
    abort.abort();
    expect(await aborted).toMatchObject({ reason: "timeout" });
    expect(vi.getTimerCount()).toBe(0);
    const looks = state.mock.calls.length;
    become(IDLE);
    expect(state).toHaveBeenCalledTimes(looks);
  } finally {
    vi.useRealTimers();
  }
});
