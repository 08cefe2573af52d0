// How many tokens a model takes: as the vendor's list of models says, else by its name.
import { isObject } from "../../base/json.ts";

/** Of models that only their vendors serve, whose lists do not tell. A name such as "anthropic/claude-x" counts too. */
const BY_NAME: readonly (readonly [RegExp, number])[] = [
  [/^claude-/, 200_000],
  [/^gpt-4\.1/, 1_000_000],
  [/^(gpt-4o|gpt-4-turbo|chatgpt-4o)/, 128_000],
  [/^gpt-[5-9]/, 272_000],
  [/^o[1-9](-|$)/, 128_000],
  [/^gemini-/, 1_000_000],
  [/^grok-/, 128_000],
];

/** Fields of vendors' lists: what is loaded now comes before what the model could take. */
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

export function windowByName(model: string): number | undefined {
  const name = model.toLowerCase().slice(model.lastIndexOf("/") + 1);
  return BY_NAME.find(([shape]) => shape.test(name))?.[1];
}

/** What a list of models, or a description of one, says about `model`. Anything may be in it. */
export function windowInList(list: unknown, model: string): number | undefined {
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
