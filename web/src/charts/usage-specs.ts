// The charts of usage by day.
import { formatCost, formatTokens } from "../../../src/client/view/format.ts";
import type { UsageGroup } from "../../../src/protocol/usage-report.ts";
import type { ChartSpec } from "./chart-spec.ts";
import { nameDay } from "./days.ts";

const MOST_TICKS = 10;
const DAY_MS = 86_400_000;

/** `starts`: all days of the range; `groups`: those with turns. */
export function tokensByDay(starts: readonly number[], groups: readonly UsageGroup[]): ChartSpec {
  const input = alignDays(
    starts,
    groups,
    ({ input_tokens = 0, cached_tokens = 0 }) => input_tokens + cached_tokens,
  );
  const output = alignDays(starts, groups, ({ output_tokens = 0 }) => output_tokens);
  const total = [...input, ...output].reduce((sum, count) => sum + count, 0);
  return {
    ...dayBars(starts),
    label: `Tokens by day: ${formatTokens(total)} in total`,
    isStacked: true,
    series: [
      { label: "out", colour: "2", values: output },
      { label: "in", colour: "1", values: input },
    ],
    yName: formatTokens,
  };
}

export function costByDay(starts: readonly number[], groups: readonly UsageGroup[]): ChartSpec {
  const costs = alignDays(starts, groups, ({ cost_usd = 0 }) => cost_usd);
  const total = costs.reduce((sum, cost) => sum + cost, 0);
  return {
    ...dayBars(starts),
    label: `Cost by day: ${formatCost(total)} in total`,
    series: [{ label: "cost", colour: "3", values: costs }],
    yName: formatCost,
  };
}

function alignDays(
  starts: readonly number[],
  groups: readonly UsageGroup[],
  read: (group: UsageGroup) => number,
): number[] {
  const byStart = new Map(groups.map((group) => [group.from_ms, group]));
  return starts.map((start) => {
    const group = byStart.get(start);
    return group === undefined ? 0 : read(group);
  });
}

function dayBars(
  starts: readonly number[],
): Pick<ChartSpec, "kind" | "span" | "xs" | "ticks" | "xName" | "pointName"> {
  const every = Math.max(1, Math.ceil(starts.length / MOST_TICKS));
  return {
    kind: "bars",
    span: { from_ms: starts[0] ?? 0, to_ms: (starts.at(-1) ?? 0) + DAY_MS },
    xs: starts,
    ticks: starts.filter((_, at) => at % every === 0),
    xName: nameDay,
    pointName: nameDay,
  };
}
