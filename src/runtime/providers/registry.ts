// Provider types and their factories. To add one: a folder, and a line here.
import { CodedError } from "../../base/coded-error.ts";
import type { ProviderConfig } from "../config/schema.ts";
import { createClaudeCode } from "../external/claude-code/index.ts";
import type { ExternalRuntime } from "../external/types.ts";
import { createAnthropicProvider } from "./anthropic/index.ts";
import { createCodexProvider } from "./codex/index.ts";
import { createOpenAIProvider } from "./openai/index.ts";
import type { ConfigOf, ProviderContext } from "./registry-types.ts";
import type { Provider } from "./types.ts";

/** A model, or an agent with its own loop. */
export type CreatedProvider = { provider: Provider } | { external: ExternalRuntime };

type Factories = {
  readonly [T in ProviderConfig["type"]]: (config: ConfigOf<T>, context: ProviderContext) => CreatedProvider;
};

const FACTORIES: Factories = {
  "openai-compatible": (config, context) => ({ provider: createOpenAIProvider(config, context) }),
  anthropic: (config, context) => ({ provider: createAnthropicProvider(config, context) }),
  codex: (config, context) => ({ provider: createCodexProvider(config, context) }),
  claudecode: (config, context) => ({ external: createClaudeCode(config, context) }),
  "claudecode-api-legacy": (_, { key }) => {
    throw new CodedError(
      "provider_refused",
      `providers.${key} has the type claudecode-api-legacy, which imitates another product's login and is not supported; use the type claudecode, which runs Claude Code itself`,
    );
  },
};

/** Throws `CodedError` if the configuration is incomplete or the type is not supported. */
export function createProvider(config: ProviderConfig, context: ProviderContext): CreatedProvider {
  const factory = FACTORIES[config.type] as (
    config: ProviderConfig,
    context: ProviderContext,
  ) => CreatedProvider;
  return factory(config, context);
}
