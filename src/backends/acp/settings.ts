// Model, mode and configuration of a session. Agents expose them in three shapes (`modes`, `models`, `configOptions`),
// some in several, and each is set differently. Pure.

import { CodedError } from "../../base/coded-error.ts";
import type { JsonObject } from "../../base/json.ts";
import { asObject, asObjects, asString, asText } from "../../base/values.ts";

export type SettingValue = string | boolean;

/** One entry of `configOptions`. */
export interface ConfigOption {
  id: string;
  category: string | undefined;
  value: SettingValue | undefined;
  /** Possible values; empty for an on/off option. */
  values: string[];
  isBoolean: boolean;
}

interface Choosable {
  current: string | undefined;
  values: string[];
}

export interface Settings {
  modes: Choosable | undefined;
  models: Choosable | undefined;
  options: ConfigOption[];
}

/** Requested settings. */
export interface Wishes {
  model?: string | undefined;
  mode?: string | undefined;
  config?: Readonly<Record<string, SettingValue>> | undefined;
}

/** One request to the agent that sets something. */
export interface SettingCall {
  method: "session/set_mode" | "session/set_model" | "session/set_config_option";
  params: JsonObject;
  /** For error messages. */
  at: string;
}

const SHOWN = 12;

/** From the response to session/new, load or resume; an agent may omit all of it. */
export function readSettings(result: unknown): Settings {
  const { modes, models, configOptions } = asObject(result);
  return {
    modes: choosable(modes, "currentModeId", "availableModes", "id"),
    models: choosable(models, "currentModelId", "availableModels", "modelId"),
    options: readOptions(configOptions),
  };
}

/** The full new list, as returned by a change and by `config_option_update`. */
export function withOptions(settings: Settings, configOptions: unknown): Settings {
  return Array.isArray(configOptions) ? { ...settings, options: readOptions(configOptions) } : settings;
}

export function withMode(settings: Settings, mode: string): Settings {
  const { modes } = settings;
  return {
    ...settings,
    modes: modes === undefined ? { current: mode, values: [] } : { ...modes, current: mode },
    options: settings.options.map((option) =>
      option.category === "mode" && option.values.includes(mode) ? { ...option, value: mode } : option,
    ),
  };
}

export function withModel(settings: Settings, model: string): Settings {
  const { models } = settings;
  return { ...settings, models: { values: models?.values ?? [], current: model } };
}

export function readCurrentModel({ models, options }: Settings): string | undefined {
  return byCategory(options, "model") ?? models?.current;
}

export function readCurrentMode({ modes, options }: Settings): string | undefined {
  return byCategory(options, "mode") ?? modes?.current;
}

/** Current values of `configOptions`, by id. */
export function readConfig({ options }: Settings): Record<string, SettingValue> {
  return Object.fromEntries(options.flatMap(({ id, value }) => (value === undefined ? [] : [[id, value]])));
}

/**
 * The next setting to apply, or undefined when done. Called again after each change, because options depend on the
 * model. Throws `invalid_message` for settings the agent does not offer. `done`: already set.
 */
export function findNextSetting(
  settings: Settings,
  wishes: Wishes,
  done: ReadonlySet<string>,
  at: string,
): SettingCall | undefined {
  if (wishes.model !== undefined && !done.has(`${at}/model`)) {
    const call = setModel(settings, wishes.model, `${at}/model`);
    if (call !== undefined) return call;
  }
  if (wishes.mode !== undefined && !done.has(`${at}/mode`)) {
    const call = setMode(settings, wishes.mode, `${at}/mode`);
    if (call !== undefined) return call;
  }
  for (const [id, value] of Object.entries(wishes.config ?? {})) {
    const place = `${at}/config/${id}`;
    if (done.has(place)) continue;
    const call = setOption(settings, id, value, place);
    if (call !== undefined) return call;
  }
  return undefined;
}

function setModel(settings: Settings, model: string, at: string): SettingCall | undefined {
  const { models, options } = settings;
  const option = options.find(({ category }) => category === "model");
  if (option?.value === model || (option === undefined && models?.current === model)) return undefined;
  if (option?.values.includes(model) === true) return optionCall(option, model, at);
  if (models !== undefined && (models.values.length === 0 || models.values.includes(model))) {
    return models.current === model
      ? undefined
      : { method: "session/set_model", params: { modelId: model }, at };
  }
  throw notOfferedError(at, "model", model, [...(option?.values ?? []), ...(models?.values ?? [])]);
}

function setMode(settings: Settings, mode: string, at: string): SettingCall | undefined {
  const { modes, options } = settings;
  if (readCurrentMode(settings) === mode) return undefined;
  const option = options.find(({ category }) => category === "mode");
  if (option?.values.includes(mode) === true) return optionCall(option, mode, at);
  if (modes !== undefined && (modes.values.length === 0 || modes.values.includes(mode))) {
    return { method: "session/set_mode", params: { modeId: mode }, at };
  }
  throw notOfferedError(at, "mode", mode, [...(option?.values ?? []), ...(modes?.values ?? [])]);
}

function setOption(settings: Settings, id: string, value: SettingValue, at: string): SettingCall | undefined {
  const option = settings.options.find((each) => each.id === id);
  if (option === undefined) {
    const known = settings.options.map((each) => each.id);
    const words = known.length > 0 ? `it has ${formatNames(known)}` : "it has none";
    throw new CodedError("invalid_message", `${at}: unknown option; ${words}`);
  }
  if (option.value === value) return undefined;
  if (option.isBoolean ? typeof value !== "boolean" : typeof value !== "string") {
    const wanted = option.isBoolean ? "true or false" : `one of ${formatNames(option.values)}`;
    throw new CodedError("invalid_message", `${at}: expected ${wanted}`);
  }
  if (typeof value === "string" && option.values.length > 0 && !option.values.includes(value)) {
    throw notOfferedError(at, "value", value, option.values);
  }
  return optionCall(option, value, at);
}

function optionCall({ id, isBoolean }: ConfigOption, value: SettingValue, at: string): SettingCall {
  const type = isBoolean ? { type: "boolean" } : {};
  return { method: "session/set_config_option", params: { configId: id, value, ...type }, at };
}

function notOfferedError(at: string, what: string, value: string, offered: readonly string[]): CodedError {
  const words =
    offered.length > 0
      ? `the agent offers ${formatNames([...new Set(offered)])}`
      : `the agent does not let clients choose a ${what}`;
  return new CodedError("invalid_message", `${at}: no ${what} "${value}"; ${words}`);
}

function formatNames(names: readonly string[]): string {
  const more = names.length > SHOWN ? ` and ${names.length - SHOWN} more` : "";
  return `${names.slice(0, SHOWN).join(", ")}${more}`;
}

function byCategory(options: readonly ConfigOption[], category: string): string | undefined {
  return asString(options.find((option) => option.category === category)?.value);
}

function choosable(value: unknown, current: string, list: string, id: string): Choosable | undefined {
  const from = asObject(value);
  if (from[current] === undefined && !Array.isArray(from[list])) return undefined;
  const values = asObjects(from[list]).flatMap((entry) => asText(entry[id]) ?? []);
  return { current: asText(from[current]), values };
}

function readOptions(value: unknown): ConfigOption[] {
  return asObjects(value).flatMap((entry) => {
    const id = asText(entry["id"]);
    if (id === undefined) return [];
    const { currentValue } = entry;
    const isBoolean = entry["type"] === "boolean" || typeof currentValue === "boolean";
    return [
      {
        id,
        // An agent that names no category usually uses it as the option's id.
        category: asText(entry["category"]) ?? (id === "model" || id === "mode" ? id : undefined),
        value:
          typeof currentValue === "string" || typeof currentValue === "boolean" ? currentValue : undefined,
        values: asObjects(entry["options"]).flatMap(readValues),
        isBoolean,
      },
    ];
  });
}

/** A value, or a group of them. */
function readValues(entry: JsonObject): string[] {
  const value = asText(entry["value"]);
  return value === undefined ? asObjects(entry["options"]).flatMap(readValues) : [value];
}
