// The tokens that an OpenAI-compatible provider counted. What it calls the prompt holds the cached part.
import { isObject, type JsonObject } from "../../../base/json.ts";
import type { TokenUsage } from "../types.ts";

export function readUsage(chunk: JsonObject): TokenUsage | undefined {
  // Groq's stream has it in a place of its own.
  const groq = isObject(chunk["x_groq"]) ? chunk["x_groq"]["usage"] : undefined;
  const usage = isObject(chunk["usage"]) ? chunk["usage"] : groq;
  if (!isObject(usage)) return undefined;
  const inputTokens = count(usage["prompt_tokens"]);
  const outputTokens = count(usage["completion_tokens"]);
  if (inputTokens === undefined && outputTokens === undefined) return undefined;
  const cacheReadTokens =
    count(inner(usage, "prompt_tokens_details", "cached_tokens")) ?? count(usage["prompt_cache_hit_tokens"]);
  const reasoningTokens = count(inner(usage, "completion_tokens_details", "reasoning_tokens"));
  return {
    inputTokens: inputTokens ?? 0,
    outputTokens: outputTokens ?? 0,
    ...(cacheReadTokens === undefined ? {} : { cacheReadTokens }),
    ...(reasoningTokens === undefined ? {} : { reasoningTokens }),
  };
}

function inner(usage: JsonObject, group: string, name: string): unknown {
  const details = usage[group];
  return isObject(details) ? details[name] : undefined;
}

function count(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}
