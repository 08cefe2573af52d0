// Limits of the account as claude reports them; the shapes are those of 2.1.325.
import { expect, test } from "vitest";
import { translateRateLimit, translateUsage } from "../../../src/backends/claude/limits.ts";

test("a rate_limit_event has the window that was reached, and all windows", () => {
  const { data } = translateRateLimit({
    type: "rate_limit_event",
    rate_limit_info: {
      status: "rejected",
      resetsAt: 1_795_063_043,
      rateLimitType: "five_hour",
      unifiedWindows: {
        five_hour: { utilization: 1, resetsAt: 1_795_063_043, status: "rejected" },
        seven_day: { utilization: 0.4, resetsAt: 1_795_073_042, status: "allowed" },
      },
    },
  });
  expect(data).toMatchObject({
    limit: { window: "5h", window_minutes: 300, resets_at_ms: 1_795_063_043_000, status: "rejected" },
    limits: [
      { window: "5h", used_percent: 100, resets_at_ms: 1_795_063_043_000 },
      { window: "7d", used_percent: 40, window_minutes: 10_080 },
    ],
  });
});

test("the answer to get_usage has percentages and times as text", () => {
  const notice = translateUsage({
    rate_limits_available: true,
    rate_limits: {
      five_hour: { utilization: 99.5, resets_at: "2026-11-19T04:37:23.000Z" },
      seven_day_opus: null,
      model_scoped: [{ display_name: "Fable", utilization: 3, resets_at: null }],
    },
  });
  expect(notice?.data?.["limits"]).toEqual([
    {
      window: "5h",
      window_minutes: 300,
      used_percent: 99.5,
      resets_at_ms: Date.UTC(2026, 10, 19, 4, 37, 23),
    },
    { window: "7d fable", window_minutes: 10_080, used_percent: 3 },
  ]);
});

test.each([{ rate_limits: null, rate_limits_available: false }, {}, { rate_limits: { five_hour: null } }])(
  "an account without limits reports none",
  (answer) => {
    expect(translateUsage(answer)).toBeUndefined();
  },
);
