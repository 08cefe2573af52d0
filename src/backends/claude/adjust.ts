// Model and permission mode of a Claude session: the options that keep them, and the control requests that set them in a
// running claude (2.1.197).
import type { ControlAnswer } from "../../base/claude-wire/control.ts";
import { CodedError } from "../../base/coded-error.ts";
import type { JsonObject } from "../../base/json.ts";
import { asObject, asObjects, asString, asText, defined } from "../../base/values.ts";
import type { Offers, SettingsChange } from "../../protocol/settings.ts";
import type { BackendSettings } from "../types.ts";
import { type ClaudeOptions, checkClaudeOptions, PERMISSION_MODES } from "./options.ts";

const DESCRIPTIONS: Readonly<Record<(typeof PERMISSION_MODES)[number], string>> = {
  acceptEdits: "changes files without asking",
  auto: "a model decides what to ask",
  bypassPermissions: "asks nothing; only in a session that was started so",
  default: "asks before it acts",
  dontAsk: "refuses what no rule allows, without asking",
  plan: "reads and plans, changes nothing",
};
const MAX_DESCRIPTION_CHARS = 200;

export const CLAUDE_SETTINGS: BackendSettings = {
  change(options, { model, permission_mode, effort }, isRunning) {
    if (effort !== undefined && isRunning)
      throw new CodedError(
        "setting_refused",
        "Claude Code takes another effort only when it starts; stop the session, then set it",
      );
    const modes: readonly string[] = PERMISSION_MODES;
    if (permission_mode !== undefined && !modes.includes(permission_mode))
      throw new CodedError(
        "invalid_message",
        `/permission_mode: no mode "${permission_mode}"; the agent offers ${modes.join(", ")}`,
      );
    return checkClaudeOptions({ ...options, ...defined({ model, permission_mode, effort }) });
  },
  list: (options) => ({
    model: { values: [], ...defined({ current: asText(options["model"]) }) },
    permission_mode: {
      values: PERMISSION_MODES.map((value) => ({ value, description: DESCRIPTIONS[value] })),
      current: asText((options as ClaudeOptions).permission_mode) ?? "default",
    },
  }),
};

/** The mode first: only that may be refused, and then nothing is changed. */
export async function adjustClaude(
  control: (request: JsonObject) => Promise<ControlAnswer>,
  { model, permission_mode: mode }: SettingsChange,
): Promise<void> {
  const requests: JsonObject[] = [
    ...(mode === undefined ? [] : [{ subtype: "set_permission_mode", mode }]),
    ...(model === undefined ? [] : [{ subtype: "set_model", model }]),
  ];
  for (const request of requests) {
    const answer = await control(request);
    if (!answer.ok) throw new CodedError("setting_refused", `claude refused it: ${answer.error}`);
  }
}

/** What claude says in its answer to `initialize`, as kept for later daemons. */
export function readClaudeIntro(answer: JsonObject): JsonObject {
  return {
    models: asObjects(answer["models"]).flatMap(({ value, displayName, description }) => {
      const named = asText(value);
      return named === undefined
        ? []
        : [{ value: named, ...defined({ name: asText(displayName), description: shorten(description) }) }];
    }),
    commands: asObjects(answer["commands"]).flatMap(({ name, description, argumentHint }) => {
      const named = asText(name);
      return named === undefined
        ? []
        : [{ name: named, ...defined({ description: shorten(description), hint: asText(argumentHint) }) }];
    }),
  };
}

export function toClaudeOffers(intro: JsonObject): Offers {
  const { models, commands } = asObject(intro);
  const list = (value: unknown) => asObjects(value) as never[];
  return {
    ...(models === undefined ? {} : { model: { values: list(models) } }),
    ...(commands === undefined ? {} : { commands: list(commands) }),
  };
}

function shorten(text: unknown): string | undefined {
  const line = asString(text)?.split("\n")[0] ?? "";
  if (line === "") return undefined;
  return line.length <= MAX_DESCRIPTION_CHARS ? line : `${line.slice(0, MAX_DESCRIPTION_CHARS - 1)}…`;
}
