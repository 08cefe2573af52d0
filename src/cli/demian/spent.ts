// What something took, in words: turns, tokens, money, time.
import type { TokenUsage } from "../../runtime/providers/types.ts";

export interface Spent {
  turns: number;
  usage: TokenUsage;
  durationMs?: number;
}

export function spentText({ turns, usage, durationMs }: Spent): string {
  const { inputTokens, outputTokens, costUsd } = usage;
  return [
    turns === 1 ? "1 turn" : `${turns} turns`,
    // Not every provider counts.
    ...(inputTokens + outputTokens === 0 ? [] : [`${inputTokens} tokens in`, `${outputTokens} out`]),
    ...(costUsd === undefined ? [] : [dollars(costUsd)]),
    ...(durationMs === undefined ? [] : [seconds(durationMs)]),
  ].join(", ");
}

export function seconds(ms: number): string {
  return ms < 10_000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms / 1000)} s`;
}

/** Small sums would be nothing with two digits. */
function dollars(sum: number): string {
  return `$${sum < 1 ? sum.toFixed(4) : sum.toFixed(2)}`;
}
