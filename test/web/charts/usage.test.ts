// The ranges and charts of usage by day.
import { expect, test } from "vitest";
import type { UsageGroup } from "../../../src/protocol/usage-report.ts";
import { checkRange, findRange, listDays } from "../../../web/src/charts/days.ts";
import { costByDay, tokensByDay } from "../../../web/src/charts/usage-specs.ts";

const at = (month: number, day: number): number => new Date(2026, month - 1, day).getTime();
const group = (from_ms: number, more: Partial<UsageGroup>): UsageGroup => ({
  ...{
    key: "x",
    from_ms,
    turns: 1,
    turns_without_tokens: 0,
    turns_without_cost: 0,
    duration_ms: 0,
    waited_ms: 0,
  },
  ...more,
});

test("a range ends today and has as many days as it says, also over the end of a month and a change of the clock", () => {
  expect(findRange(1, at(3, 1))).toEqual({ from: "2026-03-01", to: "2026-03-01" });
  expect(findRange(30, at(4, 10))).toEqual({ from: "2026-03-12", to: "2026-04-10" });
  expect(listDays(at(3, 1), at(4, 1))).toHaveLength(31);
  expect(listDays(at(10, 1), at(11, 1))).toHaveLength(31);
});

test("a range whose end is before its start is said to be wrong", () => {
  expect(checkRange({ from: "2026-01-01", to: "2026-01-01" })).toBe("");
  expect(checkRange({ from: "2026-02-01", to: "2026-01-01" })).toContain("after the last");
});

test("days without turns are in the charts, as 0", () => {
  const starts = listDays(at(1, 1), at(1, 4));
  const groups = [group(at(1, 2), { input_tokens: 5, cached_tokens: 10, output_tokens: 2, cost_usd: 0.5 })];
  expect(tokensByDay(starts, groups).series.map(({ values }) => values)).toEqual([
    [0, 2, 0],
    [0, 15, 0],
  ]);
  expect(costByDay(starts, groups).series[0]?.values).toEqual([0, 0.5, 0]);
  expect(tokensByDay(starts, groups).label).toBe("Tokens by day: 17 in total");
});
