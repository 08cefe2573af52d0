// What is wrong with a provider and what to do about it; with more detail if no provider is ready, as on a first start.
import type { ProviderChoice, Runtime } from "../../../runtime/session-types.ts";
import {
  explainProblem,
  explainUnknownProvider,
  findProvider,
  isUsable,
  listProviderKeys,
} from "../settings.ts";

/** Undefined if the provider looks usable. */
export function findProblem(runtime: Pick<Runtime, "providers">, key: string): string | undefined {
  const choice = findProvider(runtime, key);
  if (choice === undefined) return explainUnknownProvider(listProviderKeys(runtime), key);
  return isUsable(choice) ? undefined : explainProblem(choice);
}

export function suggestProviders(providers: readonly ProviderChoice[]): string[] {
  if (providers.some(({ isReady }) => isReady))
    return ["press p to select another provider, m another model"];
  const local = providers.flatMap(({ key, needsModel }) => (needsModel ? [key] : []));
  return [
    "No provider is ready yet. You can:",
    "- press p to see what each provider needs, then /exit, set the key, and start again",
    ...(local.length === 0
      ? []
      : [`- use a server on this machine (${local.join(", ")}): select it with p, and a model with m`]),
    "- run `demian --demo` to try this screen without a model, or `demian doctor` to check the configuration",
  ];
}
