// Model settings common to all providers.
import * as z from "zod";
import { EFFORTS } from "../providers/effort.ts";
import { ModelFacts } from "../providers/models/facts.ts";

export const tokens = z.int().min(1);

export const modelSettings = {
  model: z.string().min(1).optional().describe("The default model."),
  contextTokens: tokens
    .optional()
    .describe("The context window of all its models in tokens, including the answer. Default: see Models."),
  maxTokens: tokens.optional().describe("Maximum tokens of an answer."),
  temperature: z
    .number()
    .min(0)
    .max(2)
    .optional()
    .describe("Sampling temperature, as defined by the vendor."),
  effort: z.enum(EFFORTS).optional().describe("Reasoning effort. Default: the vendor's."),
  models: z
    .record(z.string().min(1), ModelFacts)
    .optional()
    .describe("What you know better than the vendor's list, by model name; see Models."),
  maxRetries: z
    .int()
    .min(0)
    .max(20)
    .optional()
    .describe("How often to retry a request after a temporary failure."),
};
