// Commands and pickers that change what a session's agent is set to: model, permission mode, effort.
import { CodedError } from "../../base/coded-error.ts";
import { sanitizeLine } from "../../base/sanitize.ts";
import type { Setting } from "../../client/http/types.ts";
import type { DriverCommand, Picker, PickerOption } from "../types.ts";
import type { CommandContext } from "./commands.ts";

const SETTINGS = [
  { command: "/model", field: "model", title: "model" },
  { command: "/mode", field: "permission_mode", title: "permission mode" },
  { command: "/effort", field: "effort", title: "effort" },
] as const;

export function createSettingCommands({ http, session_id, say }: CommandContext): DriverCommand[] {
  return SETTINGS.map(({ command, field, title }) => ({
    name: command,
    summary: `NAME: change the ${title}; without NAME, choose one`,
    isAlways: true,
    async run(rest) {
      const value = rest.trim();
      // Without a name the screen opens the picker.
      if (value === "") throw new CodedError("usage", `usage: ${command} NAME`);
      await http.adjust(session_id, { [field]: value });
      say(`${title}: ${sanitizeLine(value)}`);
    },
  }));
}

/** Opened by the commands. */
export function createSettingPickers({ http, session_id }: Omit<CommandContext, "say">): Picker[] {
  return SETTINGS.map(({ command, field, title }) => ({
    key: command,
    title,
    takesText: true,
    async load() {
      const setting = (await http.settings(session_id))[field];
      if (setting !== undefined) return toOptions(setting);
      throw new CodedError("setting_refused", `the ${title} of this agent cannot be changed now`);
    },
    async choose(value) {
      await http.adjust(session_id, { [field]: value });
    },
  }));
}

function toOptions({ values, current }: Setting): PickerOption[] {
  return values.map(({ value, name, description }) => {
    const detail = [name === value ? undefined : name, description].filter(Boolean).join(": ");
    return {
      ...{ value, label: value, isCurrent: value === current },
      ...(detail === "" ? {} : { detail }),
    };
  });
}
