import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { ControlAnswer } from "../../../src/base/claude-wire/control.ts";
import { ACK_LIMIT_MS, awaitInterrupt, RESULT_LIMIT_MS } from "../../../src/base/claude-wire/interrupt.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const OK: ControlAnswer = { ok: true, response: {} };
const never = new Promise<never>(() => undefined);
const after = <T>(ms: number, value: T) =>
  new Promise<T>((resolve) => {
    setTimeout(() => resolve(value), ms);
  });

test.each<[string, () => Promise<ControlAnswer>, () => Promise<void>, object]>([
  ["the turn ends after the acknowledgement", async () => OK, () => after(100, undefined), { kind: "over" }],
  ["the turn ends without one", () => never, () => after(100, undefined), { kind: "over" }],
  ["no acknowledgement", () => after(ACK_LIMIT_MS + 1, OK), () => never, { kind: "silent" }],
  [
    "an acknowledgement and no end",
    async () => OK,
    () => after(RESULT_LIMIT_MS + 1, undefined),
    { kind: "running" },
  ],
  [
    "a refusal",
    async () => ({ ok: false, error: "not now" }),
    () => after(1, undefined),
    { kind: "refused", error: "not now" },
  ],
])("%s", async (_name, asked, turnOver, outcome) => {
  const found = awaitInterrupt(asked(), turnOver());
  await vi.runAllTimersAsync();
  expect(await found).toEqual(outcome);
});
