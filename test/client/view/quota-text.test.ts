// Limits as text: the same words on all screens.
import { expect, test } from "vitest";
import { formatState } from "../../../src/client/view/format.ts";
import {
  formatMoment,
  formatQuotaLine,
  formatUntil,
  formatWindow,
} from "../../../src/client/view/quota-text.ts";

const NOW = new Date(2026, 0, 5, 12, 0).getTime();
const FIVE = new Date(2026, 0, 5, 17, 0).getTime();
const LATER = new Date(2026, 0, 7, 9, 5).getTime();

test("until when a session waits: the time today, with the day otherwise", () => {
  const wait = { since_ms: NOW, until_ms: FIVE };
  expect(formatUntil(wait, NOW)).toBe("waiting_quota until 17:00");
  expect(formatUntil({ ...wait, window: "5h", asks: true }, NOW)).toBe(
    "waiting_quota until 17:00 (5h), if a person agrees",
  );
  expect(formatMoment(LATER, NOW)).toBe("2026-01-07 09:05");
});

test("the state of a session that waits says until when; a request is more urgent", () => {
  const session = { activity_state: "waiting_quota", pending_requests: 0, stalled: false } as const;
  const quota_wait = { since_ms: NOW, until_ms: LATER };
  expect(formatState({ ...session, quota_wait })).toBe("waiting_quota until 2026-01-07 09:05");
  expect(formatState({ ...session, quota_wait, pending_requests: 1 })).toBe("needs approval");
});

test("a window: what is used, whether it is reached, and when it is reset", () => {
  const window = { backend: "claude", account: "default", window: "5h", reported_at_ms: NOW };
  expect(formatWindow({ ...window, used_percent: 86.6, resets_at_ms: FIVE }, NOW)).toEqual([
    "5h",
    "87%",
    "17:00",
  ]);
  expect(formatWindow({ ...window, reached: true }, NOW)).toEqual(["5h", "reached", ""]);
  expect(formatWindow(window, NOW)).toEqual(["5h", "unknown", ""]);
  const reached = { ...window, reached: true as const, resets_at_ms: FIVE };
  expect(formatQuotaLine([{ ...window, used_percent: 12 }, reached, window], NOW)).toEqual([
    "5h 12%",
    "5h reached until 17:00",
  ]);
});
