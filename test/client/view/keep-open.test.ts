import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { keepOpen, type StreamState } from "../../../src/client/view/keep-open.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A stream that stays open until `cut`, and cannot be opened while the daemon is away. */
function world() {
  const over = new AbortController();
  const reports: StreamState[] = [];
  const daemon = { isAway: false, opened: 0, attempts: 0, cut: (): void => undefined };
  const stream = (onOpened: () => void): Promise<boolean> => {
    daemon.attempts += 1;
    if (daemon.isAway) return Promise.reject(new Error("away"));
    daemon.opened += 1;
    onOpened();
    return new Promise((_resolve, reject) => {
      daemon.cut = () => {
        daemon.isAway = true;
        reject(new Error("cut"));
      };
    });
  };
  const done = keepOpen(stream, {
    signal: over.signal,
    report: (state) => reports.push(state),
    isFinal: () => false,
  });
  const close = (): Promise<void> => {
    over.abort();
    daemon.cut();
    return done;
  };
  return { daemon, reports, close };
}

test("a restart of the daemon is not reported as a loss, and the stream is opened again", async () => {
  const { daemon, reports, close } = world();
  daemon.cut();
  await vi.advanceTimersByTimeAsync(2_700);
  expect(reports).toEqual([{ state: "live" }]);
  daemon.isAway = false;
  await vi.advanceTimersByTimeAsync(250);
  expect(daemon.opened).toBe(2);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(reports).toEqual([{ state: "live" }, { state: "live" }]);
  await close();
});

test("a daemon that stays away is reported as lost, asked less often, and live again when it is back", async () => {
  const { daemon, reports, close } = world();
  daemon.cut();
  await vi.advanceTimersByTimeAsync(3_000);
  expect(reports.at(-1)).toEqual({ state: "lost", message: "away" });
  await vi.advanceTimersByTimeAsync(60_000);
  const before = daemon.attempts;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(daemon.attempts - before).toBeLessThanOrEqual(60);
  daemon.isAway = false;
  await vi.advanceTimersByTimeAsync(2_000);
  expect(reports.at(-1)).toEqual({ state: "live" });
  await close();
});

test("nothing is reported after the end", async () => {
  const { daemon, reports, close } = world();
  daemon.cut();
  await close();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(reports).toEqual([{ state: "live" }]);
});
