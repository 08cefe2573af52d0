// Reads a vendor's list of models. Every vendor has its own fields, and local servers too; the list is untrusted input.
import { isObject, type JsonObject } from "../../../base/json.ts";
import { asObject, asText, defined } from "../../../base/values.ts";
import type { ListedModel, Price } from "./facts.ts";

/** Fields of the context window, in order of precedence: the loaded size before the model's maximum. */
const CONTEXT_FIELDS = [
  "loaded_context_length", // LM Studio
  "max_model_len", // vLLM
  "context_length", // OpenRouter, Together
  "context_window", // Groq, Codex
  "max_context_length", // LM Studio, Mistral
  "max_input_tokens", // Anthropic
  "n_ctx", // llama.cpp, in `meta`
  "n_ctx_train",
];
const OUTPUT_FIELDS = [
  "max_completion_tokens", // Groq; OpenRouter, in `top_provider`
  "max_output_tokens",
  "max_tokens", // Anthropic
];

const LEAST_TOKENS = 256;
const MAX_MODELS = 1000;
const MAX_ID_CHARS = 200;
/** Above this a "price" is something else. */
const MAX_USD = 10_000;
const TOKENS_PER_PRICE = 1_000_000;

export function readModelList(list: unknown): ListedModel[] {
  return listEntries(list)
    .flatMap((entry) => (isObject(entry) ? (readModel(entry) ?? []) : []))
    .slice(0, MAX_MODELS);
}

function listEntries(list: unknown): readonly unknown[] {
  if (Array.isArray(list)) return list;
  if (!isObject(list)) return [];
  return [list["data"], list["models"]].find(Array.isArray) ?? [];
}

function readModel(entry: JsonObject): ListedModel | undefined {
  // Codex calls it "slug", and marks those that its users cannot select.
  const id = (asText(entry["id"]) ?? asText(entry["slug"]))?.replace(/^models\//, "");
  if (id === undefined || id === "" || id.length > MAX_ID_CHARS || /\s/.test(id)) return undefined;
  const isHidden = ["hide", "none"].includes(String(entry["visibility"])) || entry["lifecycle"] === "retired";
  if (isHidden) return undefined;
  const places = [entry, entry["meta"], entry["top_provider"]].filter(isObject);
  return {
    id,
    ...defined({
      contextTokens: readCount(places, CONTEXT_FIELDS),
      outputTokens: readCount(places, OUTPUT_FIELDS),
      price: readPrice(asObject(entry["pricing"])),
      ...readCapabilities(entry),
    }),
  };
}

function readCount(places: readonly JsonObject[], fields: readonly string[]): number | undefined {
  return fields.flatMap((field) => places.map((place) => place[field])).find(isCount);
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= LEAST_TOKENS;
}

/** OpenRouter: text, in USD per token. Together: numbers, in USD per million. */
function readPrice(pricing: JsonObject): Price | undefined {
  const perToken = typeof pricing["prompt"] === "string";
  const read = (field: string) => {
    const value = perToken ? Number(asText(pricing[field]) ?? Number.NaN) * TOKENS_PER_PRICE : pricing[field];
    const isPrice = typeof value === "number" && value >= 0 && value <= MAX_USD;
    // Without the noise of the multiplication.
    return isPrice ? Number(value.toPrecision(10)) : undefined;
  };
  const [input, output] = perToken ? [read("prompt"), read("completion")] : [read("input"), read("output")];
  // Together says 0 where it does not know.
  if (input === undefined || output === undefined || (!perToken && input + output === 0)) return undefined;
  const cached = perToken ? read("input_cache_read") : read("cached_input");
  return { input, output, ...defined({ cacheRead: cached, cacheWrite: read("input_cache_write") }) };
}

function readCapabilities(entry: JsonObject): Pick<ListedModel, "tools" | "images" | "reasoning"> {
  const { capabilities, supported_parameters: parameters, supported_reasoning_levels: levels } = entry;
  const modalities = asObject(entry["architecture"])["input_modalities"] ?? entry["input_modalities"];
  const said = asObject(capabilities);
  const has = (list: unknown, word: string) => (Array.isArray(list) ? list.includes(word) : undefined);
  return defined({
    tools: has(parameters, "tools") ?? asFlag(said["function_calling"]) ?? has(capabilities, "tool_use"),
    images: has(modalities, "image") ?? asFlag(said["image_input"]) ?? asFlag(said["vision"]),
    reasoning:
      has(parameters, "reasoning") ??
      asFlag(said["thinking"]) ??
      asFlag(said["reasoning"]) ??
      (Array.isArray(levels) ? levels.length > 0 : undefined),
  });
}

/** Mistral: `true`. Anthropic: `{ "supported": true }`. */
function asFlag(value: unknown): boolean | undefined {
  const flag = isObject(value) ? value["supported"] : value;
  return typeof flag === "boolean" ? flag : undefined;
}
