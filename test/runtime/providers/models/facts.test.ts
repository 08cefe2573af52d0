// What is known about a model: by name, in a vendor's list, in the configuration; and what its tokens cost.
import { describe, expect, test } from "vitest";
import { listModels } from "../../../../src/runtime/providers/models/available.ts";
import { computeCost, mergeFacts } from "../../../../src/runtime/providers/models/facts.ts";
import { findKnownFacts } from "../../../../src/runtime/providers/models/known.ts";
import { readModelList } from "../../../../src/runtime/providers/models/vendor-list.ts";
import { resolveProvider } from "../../../../src/runtime/providers/resolve.ts";
import { native } from "../ask.ts";

describe("by name", () => {
  test.each([
    ["claude-sonnet-5", 1_000_000],
    ["claude-haiku-4-5-20251001", 200_000],
    ["anthropic/claude-opus-4", 200_000],
    ["gpt-5.5", 272_000],
    ["gemini-3-pro", 1_000_000],
    ["qwen3-coder", undefined],
    ["gpt-oss-20b", undefined],
    ["my-claude-clone", undefined],
  ])("the window of %s is %s", (model, tokens) => {
    expect(findKnownFacts(model)?.contextTokens).toBe(tokens);
  });

  test("a price is of exactly that model", () => {
    expect(findKnownFacts("claude-opus-5-5")?.price).toEqual({
      input: 4,
      output: 20,
      cacheRead: 0.2,
      cacheWrite: 5,
    });
    expect(findKnownFacts("claude-opus-5")?.price?.input).toBe(5);
    expect(findKnownFacts("gpt-5.5-pro")?.price).toBeUndefined();
  });
});

describe("a vendor's list", () => {
  test.each([
    ["vLLM", { data: [{ id: "other" }, { id: "m", max_model_len: 32_768 }] }, { contextTokens: 32_768 }],
    [
      "OpenRouter",
      {
        data: [
          {
            id: "m",
            context_length: 131_072,
            top_provider: { max_completion_tokens: 8192 },
            pricing: { prompt: "0.000003", completion: "0.000015", input_cache_read: "0.0000003" },
            architecture: { input_modalities: ["text", "image"] },
            supported_parameters: ["tools", "temperature"],
          },
        ],
      },
      {
        contextTokens: 131_072,
        outputTokens: 8192,
        price: { input: 3, output: 15, cacheRead: 0.3 },
        tools: true,
        images: true,
        reasoning: false,
      },
    ],
    [
      "Together",
      [{ id: "m", context_length: 131_072, pricing: { input: 0.18, output: 0.59 } }],
      { contextTokens: 131_072, price: { input: 0.18, output: 0.59 } },
    ],
    [
      "Groq",
      { data: [{ id: "m", context_window: 8192, max_completion_tokens: 4096 }] },
      { contextTokens: 8192, outputTokens: 4096 },
    ],
    [
      "LM Studio",
      {
        data: [
          { id: "m", max_context_length: 65_536, loaded_context_length: 4096, capabilities: ["tool_use"] },
        ],
      },
      { contextTokens: 4096, tools: true },
    ],
    [
      "llama.cpp",
      { data: [{ id: "m", meta: { n_ctx: 8192, n_ctx_train: 131_072 } }] },
      { contextTokens: 8192 },
    ],
    [
      "Anthropic",
      {
        data: [
          {
            id: "m",
            max_input_tokens: 200_000,
            max_tokens: 64_000,
            capabilities: { image_input: { supported: true }, thinking: { supported: false } },
          },
          { id: "gone", lifecycle: "retired" },
        ],
      },
      { contextTokens: 200_000, outputTokens: 64_000, images: true, reasoning: false },
    ],
    [
      "Mistral",
      { data: [{ id: "m", capabilities: { function_calling: false, vision: true } }] },
      { tools: false, images: true },
    ],
    [
      "Codex",
      {
        models: [
          {
            slug: "m",
            context_window: 272_000,
            supported_reasoning_levels: [{ effort: "low" }],
            visibility: "list",
          },
          { slug: "secret", visibility: "hide" },
        ],
      },
      { contextTokens: 272_000, reasoning: true },
    ],
    ["Gemini", { data: [{ id: "models/m", object: "model" }] }, {}],
    [
      "nonsense",
      {
        data: [
          {
            id: "m",
            context_length: -1,
            context_window: "8192",
            max_model_len: 1e99,
            pricing: { prompt: "x" },
          },
          { id: "a b" },
          { id: "x".repeat(300) },
          7,
        ],
      },
      {},
    ],
  ])("of %s", (_, list, facts) => {
    const models = readModelList(list);
    expect(models.find(({ id }) => id === "m")).toEqual({ id: "m", ...facts });
    expect(models.map(({ id }) => id).filter((id) => id !== "other")).toEqual(["m"]);
  });

  test("is bounded, and nothing is not a list", () => {
    expect(readModelList(Array.from({ length: 5000 }, (_, n) => ({ id: `m${n}` })))).toHaveLength(1000);
    expect(readModelList(null)).toEqual([]);
    expect(readModelList({ data: "m" })).toEqual([]);
  });
});

test("of several sources, the first that knows a fact wins", () => {
  expect(mergeFacts({ images: false }, undefined, { images: true, contextTokens: 9 })).toEqual({
    images: false,
    contextTokens: 9,
  });
});

test("cached tokens have their own price, or that of input", () => {
  const usage = {
    inputTokens: 1_000_000,
    outputTokens: 100_000,
    cacheReadTokens: 500_000,
    cacheWriteTokens: 100_000,
  };
  expect(computeCost(usage, { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 })).toBeCloseTo(3.225);
  expect(computeCost(usage, { input: 3, output: 15 })).toBeCloseTo(4.5);
});

describe("the configuration", () => {
  const signal = new AbortController().signal;
  const config = {
    type: "openai-compatible" as const,
    baseURL: "http://127.0.0.1:9/v1",
    contextTokens: 50_000,
    model: "claude-opus-5",
    models: {
      "claude-opus-5": { price: { input: 1, output: 2 } },
      mine: { contextTokens: 10_000, tools: false },
    },
  };

  test("wins over the list and the name, and its models are listed when there is no list", async () => {
    const models = await listModels({
      key: "v",
      given: undefined,
      providers: { v: config },
      env: {},
      signal,
    });
    expect(models.map(({ id, contextTokens, price }) => [id, contextTokens, price?.input])).toEqual([
      ["claude-opus-5", 50_000, 1],
      ["mine", 10_000, undefined],
    ]);
    const { facts } = native(resolveProvider("v", { v: config }, { env: {}, model: "mine" }));
    expect(facts).toEqual({ contextTokens: 10_000, tools: false });
  });

  test("of a login has no price: the plan pays", async () => {
    const codex = { type: "codex", model: "gpt-5.5" } as never;
    const models = await listModels({
      key: "codex",
      given: undefined,
      providers: { codex },
      env: {},
      signal,
    });
    expect(models).toEqual([expect.not.objectContaining({ price: expect.anything() })]);
  });
});
