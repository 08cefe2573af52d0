// Reads the token usage of an OpenAI-compatible provider. Its prompt tokens include cached ones.

import { isObject, type JsonObject } from "../../../base/json.ts";
import { asCount, asObject, defined } from "../../../base/values.ts";
import type { TokenUsage } from "../types.ts";

export function readUsage(chunk: JsonObject): TokenUsage | undefined {
  // Groq's stream has its own field.
  const usage = isObject(chunk["usage"]) ? chunk["usage"] : asObject(chunk["x_groq"])["usage"];
  if (!isObject(usage)) return undefined;
  const inputTokens = asCount(usage["prompt_tokens"]);
  const outputTokens = asCount(usage["completion_tokens"]);
  if (inputTokens === undefined && outputTokens === undefined) return undefined;
  const cacheReadTokens =
    asCount(asObject(usage["prompt_tokens_details"])["cached_tokens"]) ??
    asCount(usage["prompt_cache_hit_tokens"]);
  const reasoningTokens = asCount(asObject(usage["completion_tokens_details"])["reasoning_tokens"]);
  return {
    inputTokens: inputTokens ?? 0,
    outputTokens: outputTokens ?? 0,
    ...defined({ cacheReadTokens, reasoningTokens }),
  };
}
