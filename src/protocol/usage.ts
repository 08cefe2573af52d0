// Token counts of a turn, normalized across backends. A vendor's other integer keys are kept.
import * as z from "zod";

const count = z.int().min(0);

export const USAGE_KEYS = [
  "input_tokens",
  "output_tokens",
  "cache_read_input_tokens",
  "cache_creation_input_tokens",
  "reasoning_output_tokens",
] as const;

export const Usage = z
  .object({
    input_tokens: count,
    output_tokens: count,
    cache_read_input_tokens: count,
    cache_creation_input_tokens: count,
    reasoning_output_tokens: count,
  })
  .partial()
  .catchall(z.int());
export type Usage = z.infer<typeof Usage>;
