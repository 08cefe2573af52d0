// The figures of a proof, as lines.
import type { ProofReport } from "./proof.ts";

export function summarize(report: ProofReport): string[] {
  const { kills, earlyKills, takeovers, stops, turns, frames, requests, openOverFaults } = report;
  const { adoptedMs, adoptedAfterMs, allAdoptedMs, readyMs, faults } = report;
  return [
    `outlive: ${kills} kills (${earlyKills} early), ${takeovers} takeovers, ${stops} stops; ${turns} turns, ` +
      `${frames} frames, ${requests} requests (open at ${openOverFaults} faults), ${faults.length} faults`,
    `outlive: process adopted ${quantiles(adoptedAfterMs)} ms after the socket listens (taking ${quantiles(adoptedMs)}), all ` +
      `of them after ${quantiles(allAdoptedMs)}, a client answered after ${quantiles(readyMs)} ms (p50 / p99 / max)`,
  ];
}

function quantiles(values: readonly number[]): string {
  return [0.5, 0.99, 1].map((part) => Math.round(percentile(values, part))).join(" / ");
}

export function percentile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
}
