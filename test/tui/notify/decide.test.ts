// Whether a person is told, and how.
import { expect, test } from "vitest";
import { decide, NOTIFY_MODES, notifyMode, type Situation } from "../../../src/tui/notify/decide.ts";
import type { News } from "../../../src/tui/types.ts";

const ALERT: News = { kind: "waits", session_id: "s1", text: "fixer waits for you" };
const situation = (fields: Partial<Situation> = {}): Situation => ({
  mode: "all",
  isFocused: false,
  told: new Map(),
  nowMs: 100_000,
  ...fields,
});

test("who looks elsewhere is told by bell and message, who looks here by neither", () => {
  expect(decide(ALERT, situation())).toEqual({ bell: true, desktop: true });
  expect(decide(ALERT, situation({ isFocused: true }))).toEqual({ bell: false, desktop: false });
});

test("where the terminal does not say whether it has the focus, only what waits is told", () => {
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
    'BLEMEES_NOTIFY is "quiet"; set it to off, title, bell, all, or leave it out',
  );
  expect(notifyMode({})).toBe("all");
});

test("the same news of two streams is told once, and again when it comes again later", () => {
  const told = new Map([["waits s1", 100_000]]);
  expect(decide(ALERT, situation({ told, nowMs: 100_500 })).bell).toBe(false);
  expect(decide(ALERT, situation({ told, nowMs: 160_000 })).bell).toBe(true);
  expect(decide({ ...ALERT, session_id: "s2" }, situation({ told, nowMs: 100_500 })).bell).toBe(true);
});
