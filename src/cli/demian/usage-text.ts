// Formats turns, tokens, cost and duration.
import type { TokenUsage } from "../../runtime/providers/types.ts";

export interface UsageTotals {
  turns: number;
  usage: TokenUsage;
  durationMs?: number;
}

export function formatUsage({ turns, usage, durationMs }: UsageTotals): string {
  const { inputTokens, outputTokens, costUsd } = usage;
  return [
    turns === 1 ? "1 turn" : `${turns} turns`,
    // Not every provider reports tokens.
    ...(inputTokens + outputTokens === 0 ? [] : [`${inputTokens} tokens in`, `${outputTokens} out`]),
    ...(costUsd === undefined ? [] : [formatDollars(costUsd)]),
    ...(durationMs === undefined ? [] : [formatSeconds(durationMs)]),
  ].join(", ");
}

export function formatSeconds(ms: number): string {
  return ms < 10_000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms / 1000)} s`;
}

/** Four decimals for small amounts. */
function formatDollars(sum: number): string {
  return `$${sum < 1 ? sum.toFixed(4) : sum.toFixed(2)}`;
}
