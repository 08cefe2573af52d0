import { expect, test } from "vitest";
import { Backpressure } from "../../src/backends/backpressure.ts";
import { gate } from "../support/gate.ts";

function setUp() {
  const calls: string[] = [];
  const pressure = new Backpressure({
    pause: () => calls.push("pause"),
    resume: () => calls.push("resume"),
  });
  return { pressure, calls };
}

test("a reader that falls behind while a turn is interrupted is waited for only afterwards", async () => {
  const { pressure, calls } = setUp();
  const ended = gate();
  const interrupted = pressure.interrupt(() => ended.passed);
  pressure.pause();
  expect([calls, pressure.isPaused]).toEqual([[], true]);
  ended.open();
  await interrupted;
  expect(calls).toEqual(["pause"]);
});

test("a reader that has caught up meanwhile is not waited for", async () => {
  const { pressure, calls } = setUp();
  pressure.pause();
  await pressure.interrupt(async () => pressure.resume());
  expect([calls, pressure.isPaused]).toEqual([["pause", "resume"], false]);
});

test("two concurrent interrupts wait for the same end, and the next one starts over, also after a failure", async () => {
  const { pressure } = setUp();
  let count = 0;
  const fail = async () => {
    count += 1;
    throw new Error("no");
  };
  const both = await Promise.allSettled([pressure.interrupt(fail), pressure.interrupt(fail)]);
  expect([both.map(({ status }) => status), count]).toEqual([["rejected", "rejected"], 1]);
  await expect(pressure.interrupt(fail)).rejects.toThrow("no");
  expect(count).toBe(2);
});

test("an interrupt of the next turn does not wait until the one before has tidied up", async () => {
  const { pressure, calls } = setUp();
  const tidied = gate();
  const first = pressure.interrupt(() => tidied.passed);
  pressure.turnOver();
  const second = gate();
  const next = pressure.interrupt(() => second.passed);
  expect(pressure.interrupt(() => Promise.reject(new Error("no")))).toBe(next);
  tidied.open();
  await first;
  pressure.pause();
  expect(calls).toEqual([]);
  second.open();
  await next;
  expect(calls).toEqual(["pause"]);
});
