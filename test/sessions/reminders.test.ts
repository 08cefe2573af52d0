// A request that nobody answers is reported again.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Reminders } from "../../src/sessions/notify/reminders.ts";
import { rowOf } from "./fakes.ts";
import { requestOf } from "./family-world.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** `every`: the daemon's setting, in seconds. */
function remindersOf(every: number): { reminders: Reminders; said: string[] } {
  const said: string[] = [];
  const reminders = new Reminders(every * 1000, Date.now, (_row, { request_id }, number) =>
    said.push(`${request_id} ${number}`),
  );
  return { reminders, said };
}
const asked = (request_id: string) => ({ ...requestOf("s", request_id), requested_at_ms: Date.now() });

test("after each such time, until it is settled", () => {
  const { reminders, said } = remindersOf(10);
  reminders.start(rowOf("s"), asked("req_1"));
  vi.advanceTimersByTime(9_999);
  expect(said).toEqual([]);
  vi.advanceTimersByTime(20_001);
  expect(said).toEqual(["req_1 1", "req_1 2", "req_1 3"]);
  reminders.stop("req_1");
  vi.advanceTimersByTime(60_000);
  expect(said).toHaveLength(3);
  expect(vi.getTimerCount()).toBe(0);
});

test("a session's own time counts instead of the setting; 0 never reminds", () => {
  const { reminders, said } = remindersOf(10);
  reminders.start(rowOf("s", { remind_s: 25 }), asked("own"));
  reminders.start(rowOf("s", { remind_s: 0 }), asked("never"));
  vi.advanceTimersByTime(60_000);
  expect(said).toEqual(["own 1", "own 2"]);
  const off = remindersOf(0);
  off.reminders.start(rowOf("s"), asked("off"));
  reminders.close();
  expect(vi.getTimerCount()).toBe(0);
});

test("what was missed while no daemon ran is not made up for, and the count goes on", () => {
  const { reminders, said } = remindersOf(10);
  const request = asked("req_1");
  vi.advanceTimersByTime(34_000);
  reminders.start(rowOf("s"), request);
  vi.advanceTimersByTime(6_000);
  expect(said).toEqual(["req_1 4"]);
  reminders.close();
});

test("a clock that is a little late does not repeat a number", () => {
  const said: number[] = [];
  const start = Date.now();
  // Timers fire before this clock says so.
  const reminders = new Reminders(
    10_000,
    () => Math.max(start, Date.now() - 3),
    (_row, _request, number) => said.push(number),
  );
  reminders.start(rowOf("s"), { ...requestOf("s", "req_1"), requested_at_ms: start });
  vi.advanceTimersByTime(30_010);
  expect(said).toEqual([1, 2, 3]);
  reminders.close();
});
