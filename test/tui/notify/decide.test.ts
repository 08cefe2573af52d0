// Whether and how the user is notified.
import { expect, test } from "vitest";
import { decide, NOTIFY_MODES, notifyMode, type Situation } from "../../../src/tui/notify/decide.ts";
import type { Notification } from "../../../src/tui/types.ts";

const ALERT: Notification = { kind: "waits", session_id: "s1", text: "fixer waits for you" };
const situation = (fields: Partial<Situation> = {}): Situation => ({
  mode: "all",
  isFocused: false,
  reported: new Map(),
  nowMs: 100_000,
  ...fields,
});

test("an unfocused terminal gets bell and message, a focused one neither", () => {
  expect(decide(ALERT, situation())).toEqual({ bell: true, desktop: true });
  expect(decide(ALERT, situation({ isFocused: true }))).toEqual({ bell: false, desktop: false });
});

test("where the terminal does not say whether it has the focus, only pending requests notify", () => {
  expect(decide(ALERT, situation({ isFocused: undefined })).bell).toBe(true);
  for (const kind of ["done", "failed"] as const)
    expect(decide({ ...ALERT, kind }, situation({ isFocused: undefined })).bell).toBe(false);
});

test("BLEMEES_NOTIFY says how much: nothing, the title, the bell, all", () => {
  const telling = Object.fromEntries(NOTIFY_MODES.map((mode) => [mode, decide(ALERT, situation({ mode }))]));
  expect(telling).toEqual({
    off: { bell: false, desktop: false },
    title: { bell: false, desktop: false },
    bell: { bell: true, desktop: false },
    all: { bell: true, desktop: true },
  });
  expect(notifyMode({ BLEMEES_NOTIFY: " Bell " })).toBe("bell");
  expect(notifyMode({ BLEMEES_NOTIFY: "" })).toBe("all");
  expect(() => notifyMode({ BLEMEES_NOTIFY: "quiet" })).toThrow(
    'BLEMEES_NOTIFY is "quiet"; set it to off, title, bell, all, or unset it',
  );
  expect(notifyMode({})).toBe("all");
});

test("the same event from two streams notifies once, and again if it recurs later", () => {
  const reported = new Map([["waits s1", 100_000]]);
  expect(decide(ALERT, situation({ reported, nowMs: 100_500 })).bell).toBe(false);
  expect(decide(ALERT, situation({ reported, nowMs: 160_000 })).bell).toBe(true);
  expect(decide({ ...ALERT, session_id: "s2" }, situation({ reported, nowMs: 100_500 })).bell).toBe(true);
});
