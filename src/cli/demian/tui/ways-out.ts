// What is wrong with a provider, and what somebody can do then; more of it where none works, which is how newcomers begin.
import type { ProviderChoice, Runtime } from "../../../runtime/session-types.ts";
import { canBeUsed, findProvider, problemOf, providerKeys, unknownProvider } from "../settings.ts";

/** Undefined: it can be used, as far as can be seen from here. */
export function troubleOf(runtime: Pick<Runtime, "providers">, key: string): string | undefined {
  const choice = findProvider(runtime, key);
  if (choice === undefined) return unknownProvider(providerKeys(runtime), key);
  return canBeUsed(choice) ? undefined : problemOf(choice);
}

export function waysOut(providers: readonly ProviderChoice[]): string[] {
  if (providers.some(({ isReady }) => isReady)) return ["p chooses another provider, m another model"];
  const local = providers.flatMap(({ key, needsModel }) => (needsModel ? [key] : []));
  return [
    "No provider is ready yet. One of these helps:",
    "- leave with /exit, set the key, and start again; p shows what each provider needs",
    ...(local.length === 0
      ? []
      : [`- a server on this machine (${local.join(", ")}): p chooses it, m names the model`]),
    "- `demian --demo` shows this screen without a model, `demian doctor` checks the configuration",
  ];
}
