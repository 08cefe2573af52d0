import { expect, onTestFinished, test } from "vitest";
import { WorkerThread } from "../../src/base/worker-thread.ts";

interface Reply {
  id: number;
  value?: unknown;
}

/** A thread that runs `source`, with `parentPort` as `port`. */
function open(source: string, onEnd?: (error: Error) => void): WorkerThread<{ op: string }, Reply> {
  const code = `import { parentPort as port } from "node:worker_threads"; ${source}`;
  const url = new URL(`data:text/javascript,${encodeURIComponent(code)}`);
  const thread = new WorkerThread<{ op: string }, Reply>({
    name: "test",
    url,
    workerData: undefined,
    ...(onEnd === undefined ? {} : { onEnd }),
  });
  onTestFinished(() => thread.terminate());
  return thread;
}

test("a call resolves with the reply that has its id, whatever the order", async () => {
  const thread = open(`
    const held = [];
    port.on("message", (call) => {
      held.push(call);
      if (held.length === 2) for (const { id, op } of held.reverse()) port.postMessage({ id, value: op });
    });
    port.postMessage({ id: 0, value: "ready" });`);
  expect(await thread.awaitReply(0)).toEqual({ id: 0, value: "ready" });
  const replies = await Promise.all([thread.call({ op: "a" }), thread.call({ op: "b" })]);
  expect(replies.map(({ value }) => value)).toEqual(["a", "b"]);
});

test.each([
  ["ends", "process.exit(3)", "the test thread ended with code 3"],
  ["fails", 'throw new Error("on fire")', "the test thread failed: on fire"],
])("pending and later calls reject when the thread %s", async (_how, death, message) => {
  const ends: string[] = [];
  const thread = open(`port.on("message", ({ op }) => { if (op === "die") ${death}; });`, (error) => {
    ends.push(error.message);
  });
  const calls = [thread.call({ op: "wait" }), thread.call({ op: "die" })];
  for (const call of calls) await expect(call).rejects.toMatchObject({ code: "internal", message });
  await expect(thread.call({ op: "late" })).rejects.toThrow(message);
  await thread.ended;
  expect(ends).toEqual([message]);
});

test("a thread that never answers does not collect calls without limit", async () => {
  const thread = open(`port.on("message", () => undefined);`);
  const pending = Array.from({ length: 10_000 }, () => thread.call({ op: "wait" }));
  await expect(thread.call({ op: "more" })).rejects.toThrow(/does not answer; 10000 calls are pending/);
  await thread.terminate();
  const ended = await Promise.allSettled(pending);
  expect(ended.every(({ status }) => status === "rejected")).toBe(true);
});

test("a call exempt from the limit is sent to a thread that is behind", async () => {
  const thread = open(
    `port.on("message", ({ id, op }) => { if (op === "close") port.postMessage({ id }); });`,
  );
  const pending = Array.from({ length: 10_000 }, () => thread.call({ op: "wait" }));
  const settled = Promise.allSettled(pending);
  expect(await thread.call({ op: "close" }, { isLimited: false })).toEqual({ id: 10_001 });
  await thread.terminate();
  await settled;
});
