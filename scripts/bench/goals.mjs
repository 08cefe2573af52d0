// The goal of each figure. `ratio` is relative to the relay (or what it is compared with) in the same run, `difference` is
// what comes on top of it, so both hold on any machine. `value` is for memory, and for what the relay does not do; times
// among them are for a 2-core machine.

/** @typedef {{ key: "value" | "ratio" | "difference", min?: number, max?: number }} Goal */

const STARTS_OF_PROGRAMS = ["sm --version", "sm all", "sm send", "demian --version", "blemeesd --version"];

/** @type {Record<string, Goal[]>} */
export const GOALS = {
  "start.again": [{ key: "ratio", max: 1.5 }],
  "start.agents": [{ key: "ratio", max: 1.5 }],
  "turn.frame.memory": [{ key: "ratio", max: 1.3 }],
  "turn.frame.durable": [{ key: "ratio", max: 1.3 }],
  "turn.delta.memory": [{ key: "ratio", max: 1.5 }],
  "turn.delta.durable": [{ key: "ratio", max: 1.5 }],
  // 0.4 ms where the relay takes 0.13.
  "turn.cpu.durable": [{ key: "ratio", max: 3 }],
  "latency.p50.memory": [{ key: "ratio", max: 1.25 }],
  "latency.p50.durable": [{ key: "ratio", max: 1.25 }],
  "latency.p99.memory": [{ key: "ratio", max: 1 }],
  "latency.p99.durable": [{ key: "ratio", max: 1 }],
  ping: [{ key: "ratio", max: 1.1 }],
  "throughput.8.memory": [{ key: "ratio", min: 0.85 }],
  "throughput.8.durable": [{ key: "value", min: 200_000 }],
  "rss.idle": [{ key: "value", max: 60 }],
  "rss.after": [{ key: "value", max: 90 }],
  "replay.short": [{ key: "value", min: 500_000 }],
  resume: [{ key: "value", max: 20 }],
  ...Object.fromEntries(STARTS_OF_PROGRAMS.map((name) => [`cli.${name}`, [{ key: "ratio", max: 1.5 }]])),
  "raw.claude.delta": [{ key: "difference", max: 1 }],
  "raw.claude.total": [{ key: "difference", max: 2 }],
  "raw.codex.delta": [{ key: "difference", max: 1 }],
  "raw.codex.total": [{ key: "difference", max: 2 }],
  "cpu.durable": [{ key: "value", max: 40 }],
  "stdio.events/s.1": [{ key: "ratio", min: 0.9 }],
  "stdio.events/s.8": [{ key: "ratio", min: 0.9 }],
  "stdio.events/s.32": [{ key: "ratio", min: 0.9 }],
  "stdio.forward latency p50.1": [{ key: "ratio", max: 1.1 }],
  "stdio.RSS.1": [{ key: "ratio", max: 1.05 }],
  "stdio.RSS.32": [{ key: "ratio", max: 1.05 }],
  "agents.codex": [{ key: "value", max: 300 }],
  "http.list.p50": [{ key: "value", max: 5 }],
  "command.start": [{ key: "difference", max: 10 }],
  "policy.rate": [{ key: "value", min: 10_000 }],
  "search.p99": [{ key: "value", max: 50 }],
  "search.size": [{ key: "value", max: 35 }],
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
  "fleet.list": [{ key: "value", max: 100 }],
  "fleet.inbox": [{ key: "value", max: 100 }],
};

/**
 * @param {{ id: string, value: number, reference?: number }} row
 * @returns {(Goal & { isMet: boolean })[]}
 */
export function judge(row) {
  const reference = row.reference ?? Number.NaN;
  const figures = { value: row.value, ratio: row.value / reference, difference: row.value - reference };
  return (GOALS[row.id] ?? []).map((goal) => {
    const figure = figures[goal.key];
    // Written so that NaN, a figure that was never measured, fails.
    const isMet = figure >= (goal.min ?? -Infinity) && figure <= (goal.max ?? Infinity);
    return { ...goal, isMet };
  });
}
