// Which agent, provider and model a session gets, and who said so: config, saved, flag, or the person just now (§13).
import { CodedError } from "../../base/coded-error.ts";
import { sanitizeLine } from "../../base/sanitize.ts";
import { mainAgent } from "../../runtime/agents/from-config.ts";
import type { Preferences } from "../../runtime/preferences.ts";
import type { DemianSession, ProviderChoice, Runtime, SettingSource } from "../../runtime/session-types.ts";
import { cutTo } from "../bar.ts";
import { didYouMean } from "../command.ts";
import type { Order } from "./order.ts";

export interface Setting {
  value: string;
  source: SettingSource;
}

export interface Settings {
  agent: Setting;
  provider: Setting;
  model: Setting;
}

type Known = Pick<Runtime, "config" | "agents" | "providers">;

/** Provider and model go together: a saved model is the one of the saved provider. */
export function resolveSettings(runtime: Known, order: Order, saved: Preferences): Settings {
  const agent: Setting =
    order.agent === undefined
      ? { value: runtime.config.defaultAgent, source: "config" }
      : { value: order.agent, source: "flag" };
  const provider = providerOf(runtime, order, saved, agent.value);
  return { agent, provider, model: modelOf(runtime, order, saved, provider.value) };
}

function providerOf(runtime: Known, order: Order, saved: Preferences, agent: string): Setting {
  if (order.provider !== undefined) return { value: order.provider, source: "flag" };
  const profile = runtime.agents.list().find((row) => row.agent.name === agent)?.agent.provider?.profile;
  if (profile !== undefined) return { value: profile, source: "config" };
  if (saved.provider !== undefined && findProvider(runtime, saved.provider) !== undefined) {
    return { value: saved.provider, source: "saved" };
  }
  return { value: runtime.config.defaultProvider, source: "config" };
}

function modelOf(runtime: Known, order: Order, saved: Preferences, provider: string): Setting {
  if (order.model !== undefined) return { value: order.model, source: "flag" };
  if (saved.model !== undefined && saved.provider === provider)
    return { value: saved.model, source: "saved" };
  return { value: findProvider(runtime, provider)?.model ?? "", source: "config" };
}

export function findProvider(
  { providers }: Pick<Runtime, "providers">,
  key: string,
): ProviderChoice | undefined {
  return providers.find((choice) => choice.key === key);
}

export function providerKeys({ providers }: Pick<Runtime, "providers">): string[] {
  return providers.map(({ key }) => key);
}

/** At once, or as soon as a model is named. */
export function canBeUsed({ isReady, needsModel }: ProviderChoice): boolean {
  return isReady || needsModel === true;
}

export function problemOf({ problem = "its key is missing" }: ProviderChoice): string {
  return problem;
}

export function unknownProvider(keys: readonly string[], key: string): string {
  const hint = didYouMean(key, keys) || `; there are: ${keys.join(", ")}`;
  return `no provider ${JSON.stringify(sanitizeLine(key))}${hint}`;
}

/** Another provider, with the model that is usual there. */
export function withProvider(settings: Settings, runtime: Pick<Runtime, "providers">, key: string): Settings {
  const choice = findProvider(runtime, key);
  if (choice === undefined)
    throw new CodedError("unknown_provider", unknownProvider(providerKeys(runtime), key));
  return {
    ...settings,
    provider: { value: key, source: "interactive" },
    model: { value: choice.model, source: "config" },
  };
}

export function withModel(settings: Settings, name: string): Settings {
  // A message that was typed for a model would be asked for as one, and remembered.
  if (name === "" || /\s/.test(name)) {
    throw new CodedError("bad_model", "the name of a model is one word without blanks");
  }
  return { ...settings, model: { value: name, source: "interactive" } };
}

/** Another agent, with the provider that it brings along. Throws `unknown_agent`. */
export function withAgent(settings: Settings, runtime: Known, name: string): Settings {
  const key = mainAgent(runtime.agents, name).provider?.profile;
  const agent: Setting = { value: name, source: "interactive" };
  if (key === undefined || key === settings.provider.value) return { ...settings, agent };
  const model = findProvider(runtime, key)?.model ?? "";
  return { agent, provider: { value: key, source: "config" }, model: { value: model, source: "config" } };
}

/** The session has taken another agent, who may have brought a provider along. */
export function withAgentOf(
  { provider, model }: Settings,
  session: Pick<DemianSession, "agent" | "provider" | "model">,
): Settings {
  return {
    agent: { value: session.agent, source: "interactive" },
    provider: session.provider === provider.value ? provider : { value: session.provider, source: "config" },
    model: session.model === model.value ? model : { value: session.model, source: "config" },
  };
}

/** `provider openai (config)`, `model gpt (saved)`, `agent build (config)` */
export function settingsWords({ provider, model, agent }: Settings): string[] {
  return Object.entries({ provider, model, agent }).map(
    ([name, { value, source }]) => `${name} ${sanitizeLine(value) || "?"} (${source})`,
  );
}

/** `cwd /home/you/project`, `sandbox off (flag)`: where it works, and what holds its commands. */
export function placeWords({ cwd, config }: Pick<Runtime, "cwd" | "config">, { flags }: Order): string[] {
  const source: SettingSource = flags["sandbox"] === undefined ? "config" : "flag";
  return [`cwd ${sanitizeLine(cwd)}`, `sandbox ${config.sandbox.mode} (${source})`];
}

export function providerLines(
  { providers }: Pick<Runtime, "providers">,
  current: string,
  columns: number,
): string[] {
  const width = Math.max(...providers.map(({ key }) => key.length));
  return providers.map((choice) => {
    const { key, model, isReady, problem, needsModel } = choice;
    const state = needsModel ? "ready when you name a model" : isReady ? model : (problem ?? "not ready");
    const line = `${key === current ? "*" : " "} ${markOf(choice)} ${key.padEnd(width)}  ${sanitizeLine(state)}`;
    return cutTo(line, columns - 1);
  });
}

export function markOf({ isReady, needsModel }: ProviderChoice): string {
  if (needsModel) return "•";
  return isReady ? "✓" : "✗";
}

/** What a session is opened with. A model that nobody named is for the runtime to miss. */
export function chosenOf({ agent, provider, model }: Settings): {
  agent: string;
  provider: string;
  model?: string;
} {
  const chosen = { agent: agent.value, provider: provider.value };
  return model.value === "" ? chosen : { ...chosen, model: model.value };
}

/** What is remembered: a choice that somebody made just now. Flags hold for one run, and so does a model chosen for one. */
export function choiceToSave({ provider, model }: Settings): Preferences | undefined {
  const isChosen = [provider, model].some(({ source }) => source === "interactive");
  return isChosen && provider.source !== "flag"
    ? { provider: provider.value, model: model.value }
    : undefined;
}
