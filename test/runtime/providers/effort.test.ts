// The reasoning effort as each vendor expects it.
import { describe, expect, test } from "vitest";
import { Codex } from "../../../src/runtime/config/login-providers.ts";
import {
  buildRequest as buildAnthropic,
  type Thoughts,
} from "../../../src/runtime/providers/anthropic/convert.ts";
import { buildRequest as buildCodex, type CodexEcho } from "../../../src/runtime/providers/codex/request.ts";
import { EchoMemory } from "../../../src/runtime/providers/echo-memory.ts";
import type { Effort } from "../../../src/runtime/providers/effort.ts";
import {
  buildRequest as buildOpenAI,
  type OpenAIEcho,
  type Quirks,
} from "../../../src/runtime/providers/openai/request.ts";
import { PRESETS } from "../../../src/runtime/providers/presets.ts";
import type { ChatRequest } from "../../../src/runtime/providers/types.ts";
import { askOf } from "./ask.ts";

const anthropic = (change: Partial<ChatRequest>) =>
  buildAnthropic(askOf({ model: "claude-opus-5", ...change }), new EchoMemory<Thoughts>(), true);
const openai = (change: Partial<ChatRequest>, quirks: Quirks = {}) =>
  buildOpenAI(askOf(change), {
    providerKey: "v",
    quirks,
    stream: true,
    echoes: new EchoMemory<OpenAIEcho>(),
  });

describe("Anthropic", () => {
  test("thinks adaptively with the nearest effort, and shows what it thinks", () => {
    const sent = (effort: Effort) => anthropic({ effort });
    expect(sent("xhigh")).toMatchObject({
      thinking: { type: "adaptive", display: "summarized" },
      output_config: { effort: "xhigh" },
    });
    expect(sent("minimal").output_config).toEqual({ effort: "low" });
    expect(sent("none")).toMatchObject({ thinking: { type: "disabled" } });
  });

  test.each([
    "claude-haiku-4-5-20251001",
    "claude-sonnet-4-20250514",
    "claude-opus-4-1",
    "claude-3-7-sonnet-latest",
  ])("%s gets a budget instead, below the answer's limit", (model) => {
    expect(anthropic({ model, effort: "high" })).toMatchObject({
      thinking: { type: "enabled", budget_tokens: 16_000 },
    });
    expect(anthropic({ model, effort: "max", maxTokens: 8000 }).thinking).toMatchObject({
      budget_tokens: 4000,
    });
    expect(anthropic({ model, effort: "high", maxTokens: 1500 })).not.toHaveProperty("thinking");
    expect(anthropic({ model, effort: "high" })).not.toHaveProperty("output_config");
  });

  test("gets nothing without an effort, or for a model that cannot reason", () => {
    for (const change of [{}, { effort: "high" as const, facts: { reasoning: false } }]) {
      expect(anthropic(change)).not.toHaveProperty("thinking");
    }
  });

  test("is asked for no longer answers than the model can give", () => {
    expect(anthropic({ facts: { outputTokens: 4096 } }).max_tokens).toBe(4096);
    expect(anthropic({ facts: { outputTokens: 128_000 } }).max_tokens).toBe(32_000);
  });
});

describe("Chat Completions", () => {
  test("has reasoning_effort, as the nearest level that the vendor accepts", () => {
    const gemini = PRESETS["gemini"] as { quirks: Quirks };
    expect(openai({ effort: "max" })).toMatchObject({ reasoning_effort: "max" });
    expect(openai({ effort: "max" }, gemini.quirks)).toMatchObject({ reasoning_effort: "high" });
    expect(openai({ effort: "minimal" }, gemini.quirks)).toMatchObject({ reasoning_effort: "low" });
    expect(openai({})).not.toHaveProperty("reasoning_effort");
    expect(openai({ effort: "low", facts: { reasoning: false } })).not.toHaveProperty("reasoning_effort");
  });

  test("names the session for the prompt cache only where the vendor knows the field", () => {
    const quirks = (PRESETS["openai"] as { quirks: Quirks }).quirks;
    expect(openai({ rootSessionId: "ses_1" }, quirks)).toMatchObject({ prompt_cache_key: "ses_1" });
    expect(openai({ rootSessionId: "ses_1" })).not.toHaveProperty("prompt_cache_key");
  });
});

test("the Responses API gets the session's effort, else the configured one", () => {
  const config = Codex.parse({ type: "codex", responses: { reasoning: { effort: "low" } } });
  const effortOf = (change: Partial<ChatRequest>) =>
    buildCodex(askOf(change), { config, echoes: new EchoMemory<CodexEcho>() })["reasoning"];
  expect(effortOf({})).toEqual({ effort: "low", summary: "auto" });
  expect(effortOf({ effort: "xhigh" })).toEqual({ effort: "xhigh", summary: "auto" });
});
