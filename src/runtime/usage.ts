// Tokens and money, added up.
import type { TokenUsage } from "./providers/types.ts";

export function noUsage(): TokenUsage {
  return { inputTokens: 0, outputTokens: 0 };
}

/** Into the first. What nobody told stays untold. */
export function addUsage(sum: TokenUsage, more: TokenUsage): void {
  sum.inputTokens += more.inputTokens;
  sum.outputTokens += more.outputTokens;
  for (const key of ["cacheReadTokens", "cacheWriteTokens", "reasoningTokens", "costUsd"] as const) {
    const count = more[key];
    if (count !== undefined) sum[key] = (sum[key] ?? 0) + count;
  }
}
