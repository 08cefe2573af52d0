// `sm set`: model, permission mode and effort of a session; without any, what can be chosen.
import { defined } from "../../base/values.ts";
import type { Setting, SettingsReply } from "../../client/index.ts";
import { defineFlag, readTextFlag } from "../command.ts";
import { formatTable, show } from "../output.ts";
import type { BlemeesCommand } from "./command.ts";
import { findSession } from "./find.ts";

export const SET: BlemeesCommand = {
  name: "set",
  usage: "set ID",
  summary:
    "change the model, the permission mode or the effort of a session; without flags show what can be chosen",
  words: [1, 1],
  completes: "session",
  flags: [
    defineFlag("-m, --model NAME", "the model"),
    defineFlag("--mode NAME", "the permission mode: how much the agent may do without asking"),
    defineFlag("--effort NAME", "how long the model thinks"),
  ],
  examples: ["set fixer", "set fixer --mode plan", "set fixer --model sonnet"],
  notes: [
    "A running agent takes it at once or from its next turn on. It is kept: the agent starts with it from then on.",
  ],
  async run(given, context) {
    const change = defined({
      model: readTextFlag(given, "model"),
      permission_mode: readTextFlag(given, "mode"),
      effort: readTextFlag(given, "effort"),
    });
    const http = await context.connect();
    const { session_id } = await findSession(http, given.words[0] ?? "");
    const isChange = Object.keys(change).length > 0;
    const settings = isChange ? await http.adjust(session_id, change) : await http.settings(session_id);
    return show(context, settings, () =>
      formatSettings(settings, isChange ? undefined : context.output.columns),
    );
  },
};

/** `columns`: also with what can be chosen. */
export function formatSettings(settings: SettingsReply, columns: number | undefined): string[] {
  const { model, permission_mode, effort, commands = [] } = settings;
  const all: [string, Setting | undefined][] = [
    ["model", model],
    ["mode", permission_mode],
    ["effort", effort],
  ];
  const known = all.flatMap(([name, setting]) => (setting === undefined ? [] : [{ name, setting }]));
  if (known.length === 0) return ["This agent has no settings that can be changed now."];
  if (columns === undefined)
    return formatTable(
      known.map(({ name, setting }) => [name, setting.current ?? "-"]),
      200,
    );
  const rows = known.flatMap(({ name, setting }) => [
    [name, setting.current ?? "-", ""],
    ...setting.values.map(({ value, name: title, description }) => [
      "",
      `${value === setting.current ? "✓" : " "} ${value}`,
      description ?? title ?? "",
    ]),
  ]);
  const names = commands.map(({ name }) => `/${name}`).join(" ");
  return [...formatTable(rows, columns), ...(names === "" ? [] : ["", `commands  ${names}`])];
}
