// Agent, provider and model of a session, and where each was set: config, saved, flag, or interactively.
import { CodedError } from "../../base/coded-error.ts";
import { sanitizeLine } from "../../base/sanitize.ts";
import { defined } from "../../base/values.ts";
import { findMainAgent } from "../../runtime/agents/from-config.ts";
import type { Preferences } from "../../runtime/preferences.ts";
import { EFFORTS, type Effort } from "../../runtime/providers/effort.ts";
import type { DemianSession, ProviderChoice, Runtime, SettingSource } from "../../runtime/session-types.ts";
import { truncate } from "../bar.ts";
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
  /** Empty: the vendor's default. */
  effort: Setting;
}

type Known = Pick<Runtime, "config" | "agents" | "providers">;

/** Of a conversation that continues. */
export type Before = Readonly<Record<"agent" | "provider" | "model", string>>;

/** A saved model is used only with the saved provider. What a conversation was continued with comes before what is saved. */
export function resolveSettings(
  runtime: Known,
  order: Order,
  preferences: Preferences,
  before?: Before,
): Settings {
  const saved = before === undefined || before.provider === "" ? preferences : before;
  const agent = resolveAgent(runtime, order, before);
  const isContinued = saved !== preferences && order.agent === undefined;
  const provider = resolveProvider(runtime, order, saved, agent.value, isContinued);
  const effort: Setting =
    order.effort === undefined
      ? readConfiguredEffort(runtime, provider.value)
      : { value: order.effort, source: "flag" };
  return { agent, provider, model: resolveModel(runtime, order, saved, provider.value), effort };
}

function readConfiguredEffort({ config }: Known, provider: string): Setting {
  return { value: config.providers[provider]?.effort ?? "", source: "config" };
}

/** One that was chosen stays; a configured one belongs to its provider. */
function moveEffort(runtime: Known, effort: Setting, provider: string): Setting {
  return effort.source === "config" ? readConfiguredEffort(runtime, provider) : effort;
}

function resolveAgent({ agents, config }: Known, order: Order, before: Before | undefined): Setting {
  if (order.agent !== undefined) return { value: order.agent, source: "flag" };
  const isKnown = agents.listPrimary().some(({ name }) => name === before?.agent);
  if (before !== undefined && isKnown) return { value: before.agent, source: "saved" };
  return { value: config.defaultAgent, source: "config" };
}

/** Parts of a conversation's choice that no longer exist. */
export function listLostSettings({ agents, providers }: Known, before: Before): string[] {
  const hasAgent = agents.listPrimary().some(({ name }) => name === before.agent);
  const hasProvider = providers.some(({ key }) => key === before.provider);
  return [
    ...(hasAgent || before.agent === "" ? [] : [`agent ${before.agent}`]),
    ...(hasProvider || before.provider === "" ? [] : [`provider ${before.provider}`]),
  ];
}

function resolveProvider(
  runtime: Known,
  order: Order,
  saved: Preferences,
  agent: string,
  isContinued: boolean,
): Setting {
  if (order.provider !== undefined) return { value: order.provider, source: "flag" };
  if (isContinued && saved.provider !== undefined && findProvider(runtime, saved.provider) !== undefined)
    return { value: saved.provider, source: "saved" };
  const profile = runtime.agents.list().find((row) => row.agent.name === agent)?.agent.provider?.profile;
  if (profile !== undefined) return { value: profile, source: "config" };
  if (saved.provider !== undefined && findProvider(runtime, saved.provider) !== undefined) {
    return { value: saved.provider, source: "saved" };
  }
  return { value: runtime.config.defaultProvider, source: "config" };
}

function resolveModel(runtime: Known, order: Order, saved: Preferences, provider: string): Setting {
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

export function listProviderKeys({ providers }: Pick<Runtime, "providers">): string[] {
  return providers.map(({ key }) => key);
}

/** Ready, or ready once a model is named. */
export function isUsable({ isReady, needsModel }: ProviderChoice): boolean {
  return isReady || needsModel === true;
}

export function explainProblem({ problem = "its key is missing" }: ProviderChoice): string {
  return problem;
}

export function explainUnknownProvider(keys: readonly string[], key: string): string {
  const hint = didYouMean(key, keys) || `; there are: ${keys.join(", ")}`;
  return `no provider ${JSON.stringify(sanitizeLine(key))}${hint}`;
}

/** Selects a provider and its default model. */
export function withProvider(settings: Settings, runtime: Known, key: string): Settings {
  const choice = findProvider(runtime, key);
  if (choice === undefined)
    throw new CodedError("unknown_provider", explainUnknownProvider(listProviderKeys(runtime), key));
  return {
    ...settings,
    provider: { value: key, source: "interactive" },
    model: { value: choice.model, source: "config" },
    effort: moveEffort(runtime, settings.effort, key),
  };
}

/** Throws `bad_effort`. */
export function withEffort(settings: Settings, level: string): Settings {
  if (!EFFORTS.some((effort) => effort === level)) {
    const hint = didYouMean(level, EFFORTS) || `; there are: ${EFFORTS.join(", ")}`;
    throw new CodedError("bad_effort", `no effort ${JSON.stringify(sanitizeLine(level))}${hint}`);
  }
  return { ...settings, effort: { value: level, source: "interactive" } };
}

export function withModel(settings: Settings, name: string): Settings {
  // Probably a message typed by mistake; it would be saved as the model.
  if (name === "" || /\s/.test(name)) {
    throw new CodedError("bad_model", "a model name has no spaces");
  }
  return { ...settings, model: { value: name, source: "interactive" } };
}

/** Selects an agent and its configured provider. Throws `unknown_agent`. */
export function withAgent(settings: Settings, runtime: Known, name: string): Settings {
  const key = findMainAgent(runtime.agents, name).provider?.profile;
  const agent: Setting = { value: name, source: "interactive" };
  if (key === undefined || key === settings.provider.value) return { ...settings, agent };
  const model = findProvider(runtime, key)?.model ?? "";
  return {
    agent,
    provider: { value: key, source: "config" },
    model: { value: model, source: "config" },
    effort: moveEffort(runtime, settings.effort, key),
  };
}

/** Takes over agent, provider and model after the session switched agents. */
export function syncAgent(
  { provider, model, effort }: Settings,
  session: Pick<DemianSession, "agent" | "provider" | "model" | "effort">,
): Settings {
  return {
    agent: { value: session.agent, source: "interactive" },
    provider: session.provider === provider.value ? provider : { value: session.provider, source: "config" },
    model: session.model === model.value ? model : { value: session.model, source: "config" },
    effort: effort.source === "config" ? { value: session.effort ?? "", source: "config" } : effort,
  };
}

/** `provider openai (config)`, `model gpt (saved)`, `agent build (config)` */
export function formatSettings({ provider, model, agent, effort }: Settings): string[] {
  const shown = { provider, model, agent, ...(effort.value === "" ? {} : { effort }) };
  return Object.entries(shown).map(
    ([name, { value, source }]) => `${name} ${sanitizeLine(value) || "?"} (${source})`,
  );
}

/** `cwd /home/you/project`, `sandbox off (flag)` */
export function formatPlace({ cwd, config }: Pick<Runtime, "cwd" | "config">, { flags }: Order): string[] {
  const source: SettingSource = flags["sandbox"] === undefined ? "config" : "flag";
  return [`cwd ${sanitizeLine(cwd)}`, `sandbox ${config.sandbox.mode} (${source})`];
}

export function formatProviders(
  { providers }: Pick<Runtime, "providers">,
  current: string,
  columns: number,
): string[] {
  const width = Math.max(...providers.map(({ key }) => key.length));
  return providers.map((choice) => {
    const { key, model, isReady, problem, needsModel } = choice;
    const state = needsModel ? "needs a model name" : isReady ? model : (problem ?? "not ready");
    const line = `${key === current ? "*" : " "} ${formatReadiness(choice)} ${key.padEnd(width)}  ${sanitizeLine(state)}`;
    return truncate(line, columns - 1);
  });
}

export function formatReadiness({ isReady, needsModel }: ProviderChoice): string {
  if (needsModel) return "•";
  return isReady ? "✓" : "✗";
}

/** Omits an empty model, so that the runtime reports it. */
export function toSessionChoice({ agent, provider, model, effort: { value, source } }: Settings): {
  agent: string;
  provider: string;
  model?: string;
  effort?: Effort;
} {
  const effort = source === "config" ? undefined : EFFORTS.find((level) => level === value);
  const chosen = { agent: agent.value, provider: provider.value, ...defined({ effort }) };
  return model.value === "" ? chosen : { ...chosen, model: model.value };
}

/** Only interactive choices are saved. Flags apply to one run, and so does a model chosen for a provider flag. */
export function toPreferences({ provider, model }: Settings): Preferences | undefined {
  const isChosen = [provider, model].some(({ source }) => source === "interactive");
  return isChosen && provider.source !== "flag"
    ? { provider: provider.value, model: model.value }
    : undefined;
}
