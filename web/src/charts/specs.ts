// The charts of the usage page.
import { sanitizeLine } from "../../../src/base/sanitize.ts";
import { formatCost, formatDuration, formatTokens } from "../../../src/client/view/format.ts";
import type { ToolStat } from "../../../src/protocol/stats.ts";
import type { ChartSpec, Colour } from "./chart-spec.ts";
import { type Bucket, toolFigures } from "./figures.ts";
import { bucketName, createTicks, momentName, type TimeRange, type TimeSpan } from "./ranges.ts";

const POINT_COLOURS: readonly Colour[] = ["1", "2", "3", "4", "5"];
/** More points are unreadable and slow. */
const MAX_POINTS = 4_000;
const MOST_TICKS = 12;

function bars(
  range: TimeRange,
  buckets: readonly Bucket[],
): Pick<ChartSpec, "kind" | "span" | "xs" | "ticks" | "xName" | "pointName"> {
  const xs = buckets.map(({ start_ms }) => start_ms);
  const [first = 0, second = first] = xs;
  const last = xs.at(-1) ?? 0;
  const span = { from_ms: first, to_ms: last + Math.max(1, second - first) };
  return {
    kind: "bars",
    span,
    xs,
    ticks: createTicks(range, span, MOST_TICKS).filter((at) => at < span.to_ms),
    xName: (at) => bucketName(range, at),
    pointName: (at) => bucketName(range, at),
  };
}

export function tokensChart(range: TimeRange, buckets: readonly Bucket[]): ChartSpec {
  const total = buckets.reduce(
    (sum, { input_tokens, output_tokens }) => sum + input_tokens + output_tokens,
    0,
  );
  return {
    ...bars(range, buckets),
    label: `Tokens over the last ${range}: ${formatTokens(total)} in total`,
    isStacked: true,
    series: [
      { label: "out", colour: "2", values: buckets.map(({ output_tokens }) => output_tokens) },
      { label: "in", colour: "1", values: buckets.map(({ input_tokens }) => input_tokens) },
    ],
    yName: formatTokens,
  };
}

export function costChart(range: TimeRange, buckets: readonly Bucket[]): ChartSpec {
  const total = buckets.reduce((sum, { cost_usd }) => sum + cost_usd, 0);
  return {
    ...bars(range, buckets),
    label: `Cost over the last ${range}: ${formatCost(total)} in total`,
    series: [{ label: "cost", colour: "3", values: buckets.map(({ cost_usd }) => cost_usd) }],
    yName: formatCost,
  };
}

/** One point per call; the most expensive tools have their own colors. */
export function latencyChart(range: TimeRange, span: TimeSpan, tools: readonly ToolStat[]): ChartSpec {
  const timed = tools.filter(
    ({ latency_ms, started_at_ms }) => latency_ms !== undefined && started_at_ms >= span.from_ms,
  );
  const calls = timed.sort((a, b) => a.started_at_ms - b.started_at_ms).slice(-MAX_POINTS);
  const named = toolFigures(calls).slice(0, POINT_COLOURS.length);
  const hasRest = new Set(calls.map(({ tool }) => tool)).size > named.length;
  const isNamed = (tool: string): boolean => named.some((one) => one.tool === tool);
  const values = (isMine: (tool: string) => boolean): (number | null)[] =>
    calls.map(({ tool, latency_ms }) => (isMine(tool) ? Math.max(1, latency_ms ?? 1) : null));
  return {
    kind: "points",
    label: `Duration of ${calls.length} tool calls in the last ${range}`,
    span,
    xs: calls.map(({ started_at_ms }) => started_at_ms),
    isLog: true,
    series: [
      ...named.map(({ tool }, at) => ({
        label: sanitizeLine(tool),
        colour: POINT_COLOURS[at] ?? ("rest" as const),
        values: values((other) => other === tool),
      })),
      ...(hasRest
        ? [{ label: "other", colour: "rest" as const, values: values((tool) => !isNamed(tool)) }]
        : []),
    ],
    ticks: createTicks(range, span, MOST_TICKS),
    xName: (at) => (range === "week" ? bucketName(range, at) : momentName(range, at)),
    pointName: (at) => momentName(range, at),
    yName: formatDuration,
  };
}
