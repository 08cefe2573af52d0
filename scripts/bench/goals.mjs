// The target of each figure. `ratio` is relative to the reference of the same run, so it holds on any machine; absolute
// figures are for a 2-core machine.

/** @type {Record<string, { key: "value" | "ratio", min?: number, max?: number }[]>} */
export const GOALS = {
  "throughput.8.memory": [{ key: "ratio", min: 0.7 }],
  "throughput.8.durable": [
    { key: "ratio", min: 0.5 },
    { key: "value", min: 100_000 },
  ],
  "latency.p50.memory": [{ key: "value", max: 0.2 }],
  "latency.p50.durable": [{ key: "value", max: 0.3 }],
  "cpu.durable": [{ key: "value", max: 40 }],
  replay: [{ key: "value", min: 200_000 }],
  "cold-start": [{ key: "value", max: 200 }],
  "rss.idle": [{ key: "value", max: 80 }],
  "rss.after": [{ key: "value", max: 115 }],
  "stdio.events/s.1": [{ key: "ratio", min: 0.9 }],
  "stdio.events/s.8": [{ key: "ratio", min: 0.9 }],
  "stdio.events/s.32": [{ key: "ratio", min: 0.9 }],
  "stdio.forward latency p50.1": [{ key: "ratio", max: 1.1 }],
  "stdio.RSS.1": [{ key: "ratio", max: 1.05 }],
  "stdio.RSS.32": [{ key: "ratio", max: 1.05 }],
  "agents.codex": [{ key: "value", max: 300 }],
  "http.list.p50": [{ key: "value", max: 5 }],
  "growth.start.10000": [{ key: "ratio", max: 1.2 }],
  "growth.rss.10000": [{ key: "ratio", max: 1.2 }],
  "growth.page.10000": [{ key: "value", max: 10 }],
  "growth.stats.10000": [{ key: "value", max: 50 }],
  "growth.start.100000": [{ key: "ratio", max: 1.2 }],
  "growth.rss.100000": [{ key: "ratio", max: 1.2 }],
  "growth.page.100000": [{ key: "value", max: 10 }],
  "growth.stats.100000": [{ key: "value", max: 50 }],
  "ui.tui.cpu": [{ key: "value", max: 60 }],
  "ui.tui.input": [{ key: "value", max: 100 }],
  "ui.tui.lost": [{ key: "value", max: 0 }],
  "ui.web.fps": [{ key: "value", min: 30 }],
  "ui.web.fps.low": [{ key: "value", min: 30 }],
  "ui.web.heap": [{ key: "value", max: 10 }],
};

/**
 * @param {{ id: string, value: number, reference?: number }} row
 * @returns {{ key: "value" | "ratio", min?: number, max?: number, isMet: boolean }[]}
 */
export function judge(row) {
  return (GOALS[row.id] ?? []).map((goal) => {
    const figure = goal.key === "ratio" ? row.value / (row.reference ?? Number.NaN) : row.value;
    // Written so that NaN, a figure that was never measured, fails.
    const isMet = figure >= (goal.min ?? -Infinity) && figure <= (goal.max ?? Infinity);
    return { ...goal, isMet };
  });
}
