// What every provider can be told about its model.
import * as z from "zod";

export const tokens = z.int().min(1);

export const modelSettings = {
  model: z.string().min(1).optional().describe("The model that is asked unless another one is chosen."),
  contextTokens: tokens
    .optional()
    .describe("The model's context window in tokens, including the answer. Default: see Long conversations."),
  maxTokens: tokens.optional().describe("The longest answer."),
  temperature: z.number().min(0).max(2).optional().describe("As the vendor understands it."),
  maxRetries: z
    .int()
    .min(0)
    .max(20)
    .optional()
    .describe("How often a request is repeated that failed for a moment."),
};
