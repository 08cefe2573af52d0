// A reply that its client no longer waits for. A failure that nobody handles would end the daemon.
import { setImmediate as nextTick } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { awaitUnlessAborted } from "../../../src/servers/http/abort.ts";

let unhandled: unknown[];
const note = (error: unknown): void => void unhandled.push(error);
beforeEach(() => {
  unhandled = [];
  process.on("unhandledRejection", note);
});
afterEach(() => {
  process.off("unhandledRejection", note);
});

const refused = new Error("an agent may not read this");
const gone = new Error("the client disconnected");

/** Fails after the caller has gone. */
async function refuse(): Promise<never> {
  await nextTick();
  throw refused;
}

test("work that fails for a client that has already gone is handled", async () => {
  await expect(awaitUnlessAborted(refuse(), AbortSignal.abort(gone))).rejects.toBe(gone);
  await nextTick();
  await nextTick();
  expect(unhandled).toEqual([]);
});

test("work that fails after the client went is handled", async () => {
  const client = new AbortController();
  const reply = awaitUnlessAborted(refuse(), client.signal);
  client.abort(gone);
  await expect(reply).rejects.toBe(gone);
  await nextTick();
  await nextTick();
  expect(unhandled).toEqual([]);
});

test("control: such a failure is seen by this test", async () => {
  void refuse();
  await nextTick();
  await nextTick();
  expect(unhandled).toEqual([refused]);
});
