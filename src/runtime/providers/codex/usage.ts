// The tokens that the Responses API counted. What it calls the input holds the cached part.
import { isObject } from "../../../base/json.ts";
import type { TokenUsage } from "../types.ts";

export function readUsage(usage: unknown): TokenUsage | undefined {
  if (!isObject(usage)) return undefined;
  const inputTokens = count(usage["input_tokens"]);
  const outputTokens = count(usage["output_tokens"]);
  if (inputTokens === undefined && outputTokens === undefined) return undefined;
  const cacheReadTokens = count(inner(usage["input_tokens_details"], "cached_tokens"));
  const reasoningTokens = count(inner(usage["output_tokens_details"], "reasoning_tokens"));
  return {
    inputTokens: inputTokens ?? 0,
    outputTokens: outputTokens ?? 0,
    ...(cacheReadTokens === undefined ? {} : { cacheReadTokens }),
    ...(reasoningTokens === undefined ? {} : { reasoningTokens }),
  };
}

function inner(details: unknown, name: string): unknown {
  return isObject(details) ? details[name] : undefined;
}

function count(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}
