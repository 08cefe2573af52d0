// Input of the provider factories. All I/O can be replaced.
import type { ProviderConfig } from "../config/schema.ts";
import type { Env } from "../state-dir.ts";
import type { Keyring } from "./codex/keyring.ts";
import type { Fetch } from "./guarded-fetch.ts";
import type { RetryOptions } from "./retry.ts";

export type ConfigOf<T extends ProviderConfig["type"]> = Extract<ProviderConfig, { type: T }>;
export type OpenAIConfig = ConfigOf<"openai-compatible">;
export type AnthropicConfig = ConfigOf<"anthropic">;
export type CodexConfig = ConfigOf<"codex">;
export type ClaudeCodeConfig = ConfigOf<"claudecode">;

export interface ProviderContext {
  /** The provider's key in the configuration. */
  key: string;
  model: string;
  env: Env;
  fetch?: Fetch | undefined;
  /** Replaces the system's keyring. */
  keyring?: Keyring | undefined;
  retry?: Pick<RetryOptions, "sleep" | "random"> | undefined;
  idleTimeoutMs?: number | undefined;
}
