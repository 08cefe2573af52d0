// Model and mode of a session: the options that keep them, and the requests that set them in a running agent.
import { CodedError, toMessage } from "../../base/coded-error.ts";
import { RpcError } from "../../base/jsonrpc.ts";
import { asObject, asText, defined } from "../../base/values.ts";
import type { AgentCommand, Offers, Setting, SettingsChange } from "../../protocol/settings.ts";
import type { BackendSettings } from "../types.ts";
import { introduce } from "./intro.ts";
import type { AcpRunParts } from "./keep.ts";
import { applySettings } from "./open.ts";
import { checkAcpOptions } from "./options.ts";
import { readCurrentMode, readCurrentModel, type Settings } from "./settings.ts";
import type { AcpSpec } from "./spec.ts";
import type { AcpReport, AcpState } from "./state.ts";

export function createAcpSettings(spec: AcpSpec): BackendSettings {
  const { name } = spec;
  return {
    change(options, { model, permission_mode: mode, effort }, isRunning) {
      if (effort !== undefined)
        throw new CodedError("setting_refused", `${name} has no effort of that kind; see its own options`);
      // Only the agent knows what it offers; with a wrong value it would not start again.
      if (!isRunning)
        throw new CodedError(
          "setting_refused",
          `${name} takes settings only while it runs; send it a message first`,
        );
      return checkAcpOptions(spec, { ...options, ...defined({ model, mode }) });
    },
    list: () => ({}),
  };
}

/** Returns what to report. `isClosedThere`: it is set when the session is opened again. */
export async function adjustAcp(
  { lane, limits, name, state, kept }: AcpRunParts,
  { model, permission_mode: mode }: SettingsChange,
  isClosedThere: boolean,
): Promise<AcpReport[]> {
  const wishes = defined({ model, mode });
  const { modes, models, options } = state.settings;
  const has = (category: string) => options.some((option) => option.category === category);
  if (mode !== undefined && modes === undefined && !has("mode")) throw notOfferedError(name, "mode");
  if (model !== undefined && models === undefined && !has("model")) throw notOfferedError(name, "model");
  if (!isClosedThere) {
    const place = { lane, settingMs: limits.settingMs, sessionId: state.sessionId };
    const apply = () => applySettings(place, state.settings, wishes, "");
    state.settings = await apply().catch((cause: unknown) => {
      if (cause instanceof CodedError) throw cause;
      const why = cause instanceof RpcError ? "refused it" : "did not take it";
      throw new CodedError("setting_refused", `${name} ${why}: ${toMessage(cause)}`, { cause });
    });
  }
  // In place: opening it again and the snapshot use it too.
  Object.assign(kept.opening.wishes, wishes);
  return introduce(state);
}

export function toAcpOffers({ settings, commands = [] }: Pick<AcpState, "settings" | "commands">): Offers {
  const { modes, models } = settings;
  return {
    ...defined({
      model: toSetting(settings, "model", models?.values, readCurrentModel(settings)),
      permission_mode: toSetting(settings, "mode", modes?.values, readCurrentMode(settings)),
    }),
    commands: commands.flatMap((command): AgentCommand[] => {
      const name = asText(command["name"]);
      const hint = asText(asObject(command["input"])["hint"]);
      const description = asText(command["description"]);
      return name === undefined ? [] : [{ name, ...defined({ description, hint }) }];
    }),
  };
}

function toSetting(
  { options }: Settings,
  category: string,
  listed: readonly string[] | undefined,
  current: string | undefined,
): Setting | undefined {
  const option = options.find((one) => one.category === category);
  if (option === undefined && listed === undefined) return undefined;
  const values = [...new Set([...(option?.values ?? []), ...(listed ?? [])])];
  return { values: values.map((value) => ({ value })), ...defined({ current }) };
}

function notOfferedError(name: string, what: string): CodedError {
  return new CodedError("setting_refused", `${name} does not let clients choose a ${what}`);
}
