// The context window of a model: from the vendor's model list, or guessed from its name.
import { isObject } from "../../base/json.ts";

/** For vendors whose lists do not include it. A prefix as in "anthropic/claude-x" is ignored. */
const BY_NAME: readonly (readonly [RegExp, number])[] = [
  [/^claude-/, 200_000],
  [/^gpt-4\.1/, 1_000_000],
  [/^(gpt-4o|gpt-4-turbo|chatgpt-4o)/, 128_000],
  [/^gpt-[5-9]/, 272_000],
  [/^o[1-9](-|$)/, 128_000],
  [/^gemini-/, 1_000_000],
  [/^grok-/, 128_000],
];

/** Fields of vendors' lists, in order of precedence: the loaded size before the model's maximum. */
const FIELDS = [
  "loaded_context_length", // LM Studio
  "max_model_len", // vLLM
  "context_length", // OpenRouter, Together
  "context_window", // Groq
  "max_context_length", // LM Studio, Mistral
  "max_input_tokens", // Anthropic
  "n_ctx", // llama.cpp, in `meta`
  "n_ctx_train",
] as const;

const LEAST_TOKENS = 256;

export function guessWindow(model: string): number | undefined {
  const name = model.toLowerCase().slice(model.lastIndexOf("/") + 1);
  return BY_NAME.find(([shape]) => shape.test(name))?.[1];
}

/** Reads a list of models, or a single one; untrusted input. */
export function findWindow(list: unknown, model: string): number | undefined {
  const entries = isObject(list) && Array.isArray(list["data"]) ? list["data"] : list;
  const entry = Array.isArray(entries)
    ? entries.find((one) => isObject(one) && (one["id"] === model || one["id"] === `models/${model}`))
    : entries;
  if (!isObject(entry)) return undefined;
  const places = [entry, entry["meta"], entry["top_provider"]].filter(isObject);
  for (const field of FIELDS) {
    const found = places.map((place) => place[field]).find(isWindow);
    if (found !== undefined) return found;
  }
  return undefined;
}

function isWindow(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= LEAST_TOKENS;
}
