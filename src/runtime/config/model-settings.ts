// Model settings common to all providers.
import * as z from "zod";

export const tokens = z.int().min(1);

export const modelSettings = {
  model: z.string().min(1).optional().describe("The default model."),
  contextTokens: tokens
    .optional()
    .describe("The model's context window in tokens, including the answer. Default: see Long conversations."),
  maxTokens: tokens.optional().describe("Maximum tokens of an answer."),
  temperature: z
    .number()
    .min(0)
    .max(2)
    .optional()
    .describe("Sampling temperature, as defined by the vendor."),
  maxRetries: z
    .int()
    .min(0)
    .max(20)
    .optional()
    .describe("How often to retry a request after a temporary failure."),
};
