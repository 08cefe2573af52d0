// Reads the token usage of the Responses API. Its input tokens include cached ones.

import { isObject } from "../../../base/json.ts";
import { asCount, asObject, defined } from "../../../base/values.ts";
import type { TokenUsage } from "../types.ts";

export function readUsage(usage: unknown): TokenUsage | undefined {
  if (!isObject(usage)) return undefined;
  const inputTokens = asCount(usage["input_tokens"]);
  const outputTokens = asCount(usage["output_tokens"]);
  if (inputTokens === undefined && outputTokens === undefined) return undefined;
  const cacheReadTokens = asCount(asObject(usage["input_tokens_details"])["cached_tokens"]);
  const reasoningTokens = asCount(asObject(usage["output_tokens_details"])["reasoning_tokens"]);
  return {
    inputTokens: inputTokens ?? 0,
    outputTokens: outputTokens ?? 0,
    ...defined({ cacheReadTokens, reasoningTokens }),
  };
}
