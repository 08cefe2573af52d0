// Resolves a provider key to a provider, or to an error that says what is missing.

import { CodedError, toMessage } from "../../base/coded-error.ts";
import { pickNearest } from "../../base/nearest.ts";
import { defined } from "../../base/values.ts";
import type { DemianConfig, ProviderConfig } from "../config/schema.ts";
import type { ProviderChoice } from "../session-types.ts";
import type { Env } from "../state-dir.ts";
import type { Effort } from "./effort.ts";
import { type ModelFacts, mergeFacts } from "./models/facts.ts";
import { createProvider } from "./registry.ts";
import type { ProviderContext } from "./registry-types.ts";
import type { ResolvedProvider } from "./types.ts";

export interface ResolveOptions extends Partial<Omit<ProviderContext, "key">> {
  env: Env;
  /** Overrides the configured model. */
  model?: string;
  /** Overrides the configured effort. */
  effort?: Effort;
}

/** Throws `CodedError` with what is missing and how to set it. Makes no requests. */
export function resolveProvider(
  key: string,
  providers: DemianConfig["providers"],
  options: ResolveOptions,
): ResolvedProvider {
  const config = findConfig(key, providers);
  const model = options.model ?? config.model;
  const made = createProvider(config, { ...options, key, model: model ?? "" });
  if (model === undefined) throw modelMissing(key);
  const effort = options.effort ?? config.effort;
  const named = { key, type: config.type, model, ...defined({ effort }) };
  if ("external" in made) return { ...named, ...made };
  return {
    ...named,
    ...made,
    facts: mergeFacts(readModelConfig(config, model), defined({ contextTokens: config.contextTokens })),
    ...defined({ maxTokens: config.maxTokens, temperature: config.temperature }),
  };
}

/** Lists the configured providers, each with what is missing before it can be used. */
export function listProviderChoices(providers: DemianConfig["providers"], env: Env): ProviderChoice[] {
  return Object.entries(providers).map(([key, config]) => {
    const choice = { key, type: config.type, model: config.model ?? "" };
    try {
      resolveProvider(key, providers, { env });
      return { ...choice, isReady: true };
    } catch (error) {
      const needsModel = error instanceof CodedError && error.code === "missing_model";
      return {
        ...choice,
        isReady: false,
        problem: toMessage(error),
        ...(needsModel ? { needsModel: true as const } : {}),
      };
    }
  });
}

function findConfig(key: string, providers: DemianConfig["providers"]): ProviderConfig {
  const config = Object.hasOwn(providers, key) ? providers[key] : undefined;
  if (config !== undefined) return config;
  const names = Object.keys(providers);
  const guess = pickNearest(key, names);
  const hint = guess === undefined ? `known: ${names.join(", ")}` : `did you mean ${guess}?`;
  throw new CodedError("unknown_provider", `no provider "${key}"; ${hint}`);
}

function readModelConfig({ models = {} }: ProviderConfig, model: string): ModelFacts | undefined {
  return Object.hasOwn(models, model) ? models[model] : undefined;
}

function modelMissing(key: string): CodedError {
  return new CodedError(
    "missing_model",
    `the provider ${key} has no model: set providers.${key}.model, or use --model`,
  );
}
