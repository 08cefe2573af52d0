// The providers that demian knows by name. A configured entry of the same key is laid over its row; a vendor that is not
// here needs an entry in the configuration and no code.
import type { ProviderInput } from "../config/schema.ts";

/** What the endpoint of the azure row holds until somebody says whose it is. */
export const AZURE_PLACEHOLDER_HOST = "your-resource-name.openai.azure.com";

/** No row of a vendor names a model: they change faster than this table. A login comes with one that it may use. */
export const PRESETS: Readonly<Record<string, ProviderInput>> = {
  openai: {
    type: "openai-compatible",
    baseURL: "https://api.openai.com/v1",
    apiKeyEnv: "OPENAI_API_KEY",
    // Its reasoning models refuse `max_tokens`.
    quirks: { maxCompletionTokens: true },
  },
  gemini: {
    type: "openai-compatible",
    baseURL: "https://generativelanguage.googleapis.com/v1beta/openai/",
    apiKeyEnv: "GOOGLE_API_KEY",
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
    quirks: { maxCompletionTokens: true },
  },
  anthropic: { type: "anthropic", apiKeyEnv: "ANTHROPIC_API_KEY" },
  // Of those that Codex 0.166.0 offers, the newest that it asks by the public form of the Responses API.
  codex: { type: "codex", model: "gpt-5.5" },
  claudecode: { type: "claudecode", model: "sonnet" },
  "claudecode-plan": { type: "claudecode", model: "sonnet", permissionMode: "plan" },
};
