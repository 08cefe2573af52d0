// `session/request_permission` → what a person sees and may decide. Pure.

import type { JsonObject } from "../../base/json.ts";
import { changesText } from "../../protocol/change-words.ts";
import type { Choice, RequestPayload, RequestType } from "../../protocol/requests.ts";
import { titleOf } from "../request-title.ts";
import { objectOf, objectsOf, optional, stringsOf, textOf } from "../values.ts";
import type { Change } from "./diffs.ts";
import { directoryOf, ruleOf } from "./rules.ts";
import type { Tool } from "./state.ts";
import { changesOf, hasInput, nameOf } from "./tools.ts";

export interface Permission {
  request_type: RequestType;
  payload: RequestPayload;
  /** "For this session" is kept under this key; undefined: too little is known of it. */
  rule: string | undefined;
}

const REMEMBERED: Partial<Record<RequestType, string>> = {
  command: "this exact command",
  file_change: "exactly this change",
};
const FILE_KINDS: ReadonlySet<unknown> = new Set(["edit", "delete", "move"]);

/** `hearsReasons`: the agent reads why it was refused. `path`: the sub-agent that asks; demian's titles begin with it. */
export function describePermission(
  tool: Tool,
  params: JsonObject,
  { cwd, hearsReasons, path = [] }: { cwd: string; hearsReasons: boolean; path?: readonly string[] },
): Permission {
  const request_type = typeOf(tool);
  const command = request_type === "command" ? commandOf(tool) : undefined;
  const changes = request_type === "file_change" ? fileChanges(tool) : [];
  const plan = request_type === "plan" ? textOf(objectOf(tool.input)["plan"]) : undefined;
  const rule = ruleOf(tool, params, { cwd, path });
  const what = command ?? (changesText(changes) || tool.title);
  // What nobody can see, nobody can allow.
  const isShown = what !== undefined || hasInput(tool.input);
  return {
    request_type,
    rule,
    payload: {
      title: titleOf(titled(nameOf(tool), what ?? "not told")),
      ...optional("reason", reasonOf(tool, what)),
      ...optional("command", command),
      ...(request_type === "command" ? { cwd: directoryOf(tool, cwd) } : {}),
      ...(changes.length > 0 ? { changes } : {}),
      ...optional("plan", plan),
      tool_name: nameOf(tool),
      ...(hasInput(tool.input) ? { input: tool.input } : {}),
      choices: [...acceptChoices(params, isShown, rule, request_type), ...refusals(hearsReasons)],
      details: detailsOf(tool, params),
    },
  };
}

/** The id of the option of this kind that the agent offers. */
export function optionOf(params: JsonObject, kind: string): string | undefined {
  return objectsOf(params["options"]).flatMap((option) =>
    option["kind"] === kind ? (textOf(option["optionId"]) ?? []) : [],
  )[0];
}

/** Some titles begin with the tool's name themselves. */
function titled(name: string, what: string): string {
  return what.startsWith(`${name}: `) ? what : `${name}: ${what}`;
}

function typeOf({ kind, input }: Tool): RequestType {
  if (kind === "execute") return "command";
  if (FILE_KINDS.has(kind)) return "file_change";
  return kind === "switch_mode" && textOf(objectOf(input)["plan"]) !== undefined ? "plan" : "tool";
}

function commandOf(tool: Tool): string | undefined {
  const { command } = objectOf(tool.input);
  const words = stringsOf(command);
  return textOf(command) ?? (words.length > 0 ? words.join(" ") : tool.title);
}

/** Without a diff the paths are all there is. */
function fileChanges(tool: Tool): Change[] {
  const changes = changesOf(tool);
  if (changes.length > 0) return changes;
  const kind = tool.kind === "delete" ? "delete" : "update";
  return tool.locations.map((path) => ({ path, kind }));
}

/** The words beside the command: mostly why. Some say the command once more, as in a shell (demian). */
function reasonOf(tool: Tool, what: string | undefined): string | undefined {
  const texts = objectsOf(tool.content).flatMap((entry) => textOf(objectOf(entry["content"])["text"]) ?? []);
  return textOf(texts.filter((text) => text !== what && text !== `$ ${what}`).join("\n"));
}

function refusals(hearsReasons: boolean): Choice[] {
  const takes = hearsReasons ? { takes: ["message" as const] } : {};
  return [
    { decision: "decline", ...takes },
    { decision: "cancel", ...takes },
  ];
}

function acceptChoices(
  params: JsonObject,
  isShown: boolean,
  rule: string | undefined,
  type: RequestType,
): Choice[] {
  if (!isShown) return [];
  if (optionOf(params, "allow_once") !== undefined) {
    const remembers = [REMEMBERED[type] ?? "this tool with exactly this input"];
    const session: Choice[] = rule === undefined ? [] : [{ decision: "acceptForSession", remembers }];
    return [{ decision: "accept" }, ...session];
  }
  const always = objectsOf(params["options"]).find(({ kind }) => kind === "allow_always");
  if (always === undefined) return [];
  const name = textOf(always["name"]) ?? "always";
  return [
    {
      decision: "acceptAlways",
      remembers: [`"${name}": the agent's own rule, which it may write to disk`],
    },
  ];
}

function detailsOf(tool: Tool, params: JsonObject): JsonObject {
  return {
    ...optional("kind", tool.kind),
    ...optional("title", tool.title),
    ...(tool.locations.length > 0 ? { locations: tool.locations } : {}),
    options: objectsOf(params["options"]).map(({ kind, name }) => ({
      kind: textOf(kind) ?? "unknown",
      name: textOf(name) ?? "",
    })),
  };
}
