// Checks whether the providers are ready, without network requests.
import type { DemianConfig } from "../../../runtime/config/schema.ts";
import { listProviderChoices } from "../../../runtime/providers/resolve.ts";
import type { Env } from "../../../runtime/state-dir.ts";
import type { Check } from "../../checks.ts";
import { didYouMean } from "../../command.ts";

export function checkProviders({ providers, defaultProvider }: DemianConfig, env: Env): Check[] {
  const choices = listProviderChoices(providers, env);
  const ready = choices.filter(({ isReady }) => isReady).map(({ key }) => key);
  const others: Check = {
    name: "providers",
    status: ready.length === 0 ? "fail" : "ok",
    text: ready.length === 0 ? "none is ready" : `ready: ${ready.join(", ")}`,
    ...(ready.length === 0 ? { todo: "run `demian list-providers` to see what each one needs" } : {}),
  };
  const chosen = choices.find(({ key }) => key === defaultProvider);
  if (chosen === undefined) {
    const hint = didYouMean(
      defaultProvider,
      choices.map(({ key }) => key),
    );
    return [
      {
        name: "provider",
        status: "fail",
        text: `defaultProvider ${JSON.stringify(defaultProvider)} does not exist${hint}`,
      },
      others,
    ];
  }
  const { key, model, isReady, problem } = chosen;
  const own: Check = isReady
    ? { name: "provider", status: "ok", text: `${key} (default) with ${model}` }
    : // Another one may be chosen with --provider.
      {
        name: "provider",
        status: "warn",
        text: `${key} (default) is not ready: ${problem ?? "its key is missing"}`,
      };
  return [own, others];
}
