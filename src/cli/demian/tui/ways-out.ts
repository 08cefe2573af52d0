// What somebody can do whose first provider does not work; more of it where none does, which is how newcomers begin.
import type { ProviderChoice } from "../../../runtime/session-types.ts";

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
