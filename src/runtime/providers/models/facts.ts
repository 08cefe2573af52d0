// What is known about a model: its limits, price and capabilities. Absent means not known.
import * as z from "zod";
import { defined } from "../../../base/values.ts";
import type { TokenUsage } from "../types.ts";

const count = z.int().min(1);
const usd = z.number().min(0).max(100_000);

export const Price = z.strictObject({
  input: usd.describe("USD per million input tokens."),
  output: usd.describe("USD per million output tokens."),
  cacheRead: usd.optional().describe("USD per million tokens read from the cache. Default: as `input`."),
  cacheWrite: usd.optional().describe("USD per million tokens written to the cache. Default: as `input`."),
});
export type Price = z.infer<typeof Price>;

export const ModelFacts = z.strictObject({
  contextTokens: count.optional().describe("Context window in tokens, including the answer."),
  outputTokens: count.optional().describe("Most tokens of one answer."),
  price: Price.optional(),
  tools: z.boolean().optional().describe("Whether it can call tools. `false`: none are sent."),
  images: z.boolean().optional().describe("Whether it accepts images."),
  reasoning: z.boolean().optional().describe("Whether its reasoning effort can be set."),
});
export type ModelFacts = z.infer<typeof ModelFacts>;

/** A model in a vendor's list. */
export interface ListedModel extends ModelFacts {
  id: string;
}

/** Earlier ones take precedence, fact by fact. */
export function mergeFacts(...sources: readonly (ModelFacts | undefined)[]): ModelFacts {
  const merged: ModelFacts = {};
  for (const source of sources.toReversed()) Object.assign(merged, defined({ ...source }));
  return merged;
}

/** In USD. `inputTokens` includes those of the cache. */
export function computeCost(usage: TokenUsage, price: Price): number {
  const { inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage;
  const plain = Math.max(0, inputTokens - cacheReadTokens - cacheWriteTokens);
  const { input, output, cacheRead = input, cacheWrite = input } = price;
  return (
    (plain * input + cacheReadTokens * cacheRead + cacheWriteTokens * cacheWrite + outputTokens * output) /
    1_000_000
  );
}
