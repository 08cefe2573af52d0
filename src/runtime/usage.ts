// Adds up tokens and cost.
import type { TokenUsage } from "./providers/types.ts";

export function createUsage(): TokenUsage {
  return { inputTokens: 0, outputTokens: 0 };
}

/** Adds to the first. Unreported values stay absent. */
export function addUsage(sum: TokenUsage, more: TokenUsage): void {
  sum.inputTokens += more.inputTokens;
  sum.outputTokens += more.outputTokens;
  for (const key of ["cacheReadTokens", "cacheWriteTokens", "reasoningTokens", "costUsd"] as const) {
    const count = more[key];
    if (count !== undefined) sum[key] = (sum[key] ?? 0) + count;
  }
}
