// The models to choose from, and the facts about one of them, from all sources.
import type { DemianConfig } from "../../config/schema.ts";
import type { Env } from "../../state-dir.ts";
import { resolveProvider } from "../resolve.ts";
import { isExternal, type ResolvedProvider } from "../types.ts";
import { type ListedModel, type ModelFacts, mergeFacts } from "./facts.ts";
import { findKnownFacts } from "./known.ts";

export interface AvailableOrder {
  key: string;
  /** A provider of the embedding program. */
  given: ResolvedProvider | undefined;
  providers: DemianConfig["providers"];
  env: Env;
  signal: AbortSignal;
}

/** The vendor's list and the configured names. Never rejects: without a list only the configured names remain. */
export async function listModels(order: AvailableOrder): Promise<readonly ListedModel[]> {
  const { key, providers, signal } = order;
  const config = Object.hasOwn(providers, key) ? providers[key] : undefined;
  const configured = config?.models ?? {};
  const resolved = resolve(order);
  const listed =
    resolved === undefined || isExternal(resolved)
      ? []
      : ((await resolved.provider.listModels?.({ signal })) ?? []);
  const names = [config?.model ?? [], Object.keys(configured), listed.map(({ id }) => id)].flat();
  const byId = new Map(listed.map((model) => [model.id, model]));
  return [...new Set(names)].map((id) => ({
    ...mergeFacts(
      Object.hasOwn(configured, id) ? configured[id] : undefined,
      config?.contextTokens === undefined ? undefined : { contextTokens: config.contextTokens },
      byId.get(id),
      findFactsByName(config?.type ?? "", id),
    ),
    id,
  }));
}

export function findListed(
  models: readonly ListedModel[] | undefined,
  model: string,
): ModelFacts | undefined {
  const found = models?.find(({ id }) => id === model);
  if (found === undefined) return undefined;
  const { id: _, ...facts } = found;
  return facts;
}

/** With a login the plan pays, not the token. */
export function findFactsByName(providerType: string, model: string): ModelFacts | undefined {
  const known = findKnownFacts(model);
  if (known === undefined || !LOGIN_TYPES.has(providerType)) return known;
  const { price: _, ...facts } = known;
  return facts;
}

const LOGIN_TYPES: ReadonlySet<string> = new Set(["codex", "claudecode"]);

function resolve({ key, given, providers, env }: AvailableOrder): ResolvedProvider | undefined {
  try {
    return given ?? resolveProvider(key, providers, { env, model: "-" });
  } catch {
    return undefined; // Not ready: choosing a model of it says why.
  }
}
