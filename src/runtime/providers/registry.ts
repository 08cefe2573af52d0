// The kinds of providers: a type of the configuration and who makes it. To add one: a folder, and a line here.
import { CodedError } from "../../base/coded-error.ts";
import type { ProviderConfig } from "../config/schema.ts";
import { createAnthropicProvider } from "./anthropic/index.ts";
import { createOpenAIProvider } from "./openai/index.ts";
import type { ConfigOf, ProviderContext } from "./registry-types.ts";
import type { Provider } from "./types.ts";

type Factories = {
  readonly [T in ProviderConfig["type"]]: (config: ConfigOf<T>, context: ProviderContext) => Provider;
};

const FACTORIES: Factories = {
  "openai-compatible": createOpenAIProvider,
  anthropic: createAnthropicProvider,
  codex: (_, context) => notYet(context),
  claudecode: (_, context) => notYet(context),
  "claudecode-api-legacy": (_, { key }) => {
    throw new CodedError(
      "provider_refused",
      `providers.${key} has the type claudecode-api-legacy, which imitates the login of another product and is not supported; use the type claudecode, which runs Claude Code itself`,
    );
  },
};

/** Throws `CodedError` with what to set, or why there is none. */
export function createProvider(config: ProviderConfig, context: ProviderContext): Provider {
  const factory = FACTORIES[config.type] as (config: ProviderConfig, context: ProviderContext) => Provider;
  return factory(config, context);
}

function notYet({ key }: ProviderContext): Provider {
  throw new CodedError(
    "provider_not_available",
    `the provider ${key} is not available yet in this version; choose another one, for example openai, anthropic or ollama`,
  );
}
