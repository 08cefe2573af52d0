// uPlot, loaded with the first chart. It writes no HTML and sets styles only through the CSSOM, so it works under our CSP
// and trusted types. Its legend is disabled; ours is in chart.ts.

import uPlot from "uplot";
import { defined } from "../../../src/base/values.ts";
import type { ChartSpec, Colours } from "./chart-spec.ts";

export interface Plot {
  draw(spec: ChartSpec, colours: Colours, size: { width: number; height: number }): void;
  resize(size: { width: number; height: number }): void;
  close(): void;
}

/** `onPoint` gets the data index at the pointer. */
export function createPlot(root: HTMLElement, onPoint: (index: number | undefined) => void): Plot {
  let plot: uPlot | undefined;
  return {
    draw(spec, colours, size) {
      plot?.destroy();
      plot = new uPlot(toPlotOptions(spec, colours, size, onPoint), toPlotData(spec), root);
    },
    resize: (size) => plot?.setSize(size),
    close() {
      plot?.destroy();
      plot = undefined;
    },
  };
}

/** Stacked bars are drawn over each other, starting with the full sum. */
function toPlotData({ xs, series, isStacked }: ChartSpec): uPlot.AlignedData {
  if (!isStacked) return [xs, ...series.map(({ values }) => values)] as uPlot.AlignedData;
  const sums = series.map((_, from) =>
    xs.map((_x, at) => series.slice(from).reduce((sum, { values }) => sum + (values[at] ?? 0), 0)),
  );
  return [xs, ...sums] as uPlot.AlignedData;
}

function toPlotOptions(
  spec: ChartSpec,
  colours: Colours,
  size: { width: number; height: number },
  onPoint: (index: number | undefined) => void,
): uPlot.Options {
  const bars = uPlot.paths.bars?.({ size: [0.72, 36], align: 1, radius: [0.15, 0] });
  const font = `11px ${colours.font}`;
  const grid = { stroke: colours.grid, width: 1 };
  return {
    ...size,
    ms: 1,
    padding: [10, 8, 0, 0],
    legend: { show: false },
    cursor: {
      y: false,
      points: { show: spec.kind === "points" },
      drag: { x: false, y: false },
    },
    scales: {
      x: { time: true, range: () => [spec.span.from_ms, spec.span.to_ms] },
      y: spec.isLog
        ? { distr: 3, range: logRange }
        : { range: (_plot, _low, high) => [0, high > 0 ? high * 1.08 : 1] },
    },
    axes: [
      {
        stroke: colours.text,
        font,
        grid: { show: false },
        ticks: { show: false },
        size: 26,
        splits: (plot) => everyNth(spec.ticks, Math.max(2, Math.floor(plot.width / 72))),
        values: (_plot, at) => at.map((value) => spec.xName(value)),
      },
      {
        stroke: colours.text,
        font,
        grid,
        ticks: { show: false },
        size: 58,
        space: 34,
        ...(spec.isLog
          ? { splits: (_plot: uPlot, _axis: number, low: number, high: number) => decades(low, high) }
          : {}),
        values: (_plot, at) => at.map((value) => (value === null ? "" : spec.yName(value))),
      },
    ],
    series: [
      {},
      ...spec.series.map(({ label, colour }): uPlot.Series => {
        const stroke = colours.series[colour] ?? colours.text;
        return spec.kind === "bars"
          ? {
              label,
              fill: stroke,
              width: 0,
              points: { show: false },
              ...defined({ paths: bars }),
            }
          : {
              label,
              stroke,
              paths: () => null,
              alpha: 0.8,
              points: { show: true, size: 5, width: 0, fill: stroke },
            };
      }),
    ],
    hooks: { setCursor: [(plot) => onPoint(plot.cursor.idx ?? undefined)] },
  };
}

function logRange(_plot: uPlot, low: number, high: number): [number, number] {
  const floor = 10 ** Math.floor(Math.log10(Math.max(1, low ?? 1)));
  const top = 10 ** Math.ceil(Math.log10(Math.max(10, high ?? 10)));
  return [floor, Math.max(top, floor * 10)];
}

function everyNth(ticks: readonly number[], most: number): number[] {
  const every = Math.max(1, Math.ceil(ticks.length / most));
  return ticks.filter((_, index) => index % every === 0);
}

function decades(low: number, high: number): number[] {
  const powers: number[] = [];
  for (let at = 10 ** Math.ceil(Math.log10(low)); at <= high; at *= 10) powers.push(at);
  return powers;
}
