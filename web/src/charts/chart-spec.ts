// What a chart is told to draw; only types, so that elements need not load what draws it.
import type { Span } from "./ranges.ts";

/** One of the theme's `--chart-*`. */
export type Colour = "1" | "2" | "3" | "4" | "5" | "rest";

export interface Series {
  label: string;
  colour: Colour;
  /** One for each of `xs`; null where there is nothing. */
  values: readonly (number | null)[];
}

export interface ChartSpec {
  kind: "bars" | "points";
  /** For people who do not see it. */
  label: string;
  span: Span;
  /** Moments, ascending. */
  xs: readonly number[];
  series: readonly Series[];
  isStacked?: boolean;
  isLog?: boolean;
  /** Where something is written at the axis of time. */
  ticks: readonly number[];
  xName(at_ms: number): string;
  /** A moment as it is told of one point. */
  pointName(at_ms: number): string;
  yName(value: number): string;
}

export interface Colours {
  series: Readonly<Record<Colour, string>>;
  text: string;
  grid: string;
  font: string;
}
