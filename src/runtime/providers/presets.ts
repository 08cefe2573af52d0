// Built-in providers. A configured entry with the same key overrides a preset; other vendors need only configuration.
import type { ProviderInput } from "../config/schema.ts";

/** Host of the azure preset until the user sets the endpoint of their resource. */
export const AZURE_PLACEHOLDER_HOST = "your-resource-name.openai.azure.com";

const OPENAI_EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh"] as const;

/** API-key presets have no model, because models change faster than this table. Login presets have one that works. */
export const PRESETS: Readonly<Record<string, ProviderInput>> = {
  openai: {
    type: "openai-compatible",
    baseURL: "https://api.openai.com/v1",
    apiKeyEnv: "OPENAI_API_KEY",
    // OpenAI's reasoning models reject `max_tokens`.
    quirks: { maxCompletionTokens: true, efforts: [...OPENAI_EFFORTS], promptCacheKey: true },
  },
  gemini: {
    type: "openai-compatible",
    baseURL: "https://generativelanguage.googleapis.com/v1beta/openai/",
    apiKeyEnv: "GOOGLE_API_KEY",
    quirks: { efforts: ["low", "medium", "high"] },
  },
  ollama: {
    type: "openai-compatible",
    baseURL: "http://localhost:11434/v1",
    quirks: { omitTemperature: true },
  },
  lmstudio: { type: "openai-compatible", baseURL: "http://localhost:1234/v1" },
  vllm: { type: "openai-compatible", baseURL: "http://localhost:8000/v1" },
  llamacpp: { type: "openai-compatible", baseURL: "http://localhost:8080/v1" },
  openrouter: {
    type: "openai-compatible",
    baseURL: "https://openrouter.ai/api/v1",
    apiKeyEnv: "OPENROUTER_API_KEY",
  },
  together: {
    type: "openai-compatible",
    baseURL: "https://api.together.xyz/v1",
    apiKeyEnv: "TOGETHER_API_KEY",
  },
  groq: {
    type: "openai-compatible",
    baseURL: "https://api.groq.com/openai/v1",
    apiKeyEnv: "GROQ_API_KEY",
  },
  azure: {
    type: "openai-compatible",
    baseURL: `https://${AZURE_PLACEHOLDER_HOST}/openai/v1`,
    apiKeyEnv: "AZURE_OPENAI_API_KEY",
    quirks: { maxCompletionTokens: true, efforts: [...OPENAI_EFFORTS] },
  },
  anthropic: { type: "anthropic", apiKeyEnv: "ANTHROPIC_API_KEY" },
  // The newest model that Codex 0.166.0 requests through the public Responses API.
  codex: { type: "codex", model: "gpt-5.5" },
  claudecode: { type: "claudecode", model: "sonnet" },
  "claudecode-plan": { type: "claudecode", model: "sonnet", permissionMode: "plan" },
};
