// Chart descriptions. Types only, so that elements do not load the plotting library.
import type { TimeSpan } from "./ranges.ts";

/** One of the theme's `--chart-*`. */
export type Colour = "1" | "2" | "3" | "4" | "5" | "rest";

export interface Series {
  label: string;
  colour: Colour;
  /** One per `xs`; null if there is none. */
  values: readonly (number | null)[];
}

export interface ChartSpec {
  kind: "bars" | "points";
  /** For screen readers. */
  label: string;
  span: TimeSpan;
  /** Timestamps, ascending. */
  xs: readonly number[];
  series: readonly Series[];
  isStacked?: boolean;
  isLog?: boolean;
  /** Labels on the time axis. */
  ticks: readonly number[];
  xName(at_ms: number): string;
  /** Formats the time of a point. */
  pointName(at_ms: number): string;
  yName(value: number): string;
}

export interface Colours {
  series: Readonly<Record<Colour, string>>;
  text: string;
  grid: string;
  font: string;
}
