// `session/request_permission` → what the user sees and can decide. Pure.

import type { JsonObject } from "../../base/json.ts";
import { asObject, asObjects, asStrings, asText, defined } from "../../base/values.ts";
import { formatChanges } from "../../protocol/change-labels.ts";
import type { Choice, RequestPayload, RequestType } from "../../protocol/requests.ts";
import { cutTitle } from "../request-title.ts";
import type { Change } from "./diffs.ts";
import { findDirectory, makeRule } from "./rules.ts";
import type { Tool } from "./state.ts";
import { findName, hasInput, readChanges } from "./tools.ts";

export interface Permission {
  request_type: RequestType;
  payload: RequestPayload;
  /** "For this session" is stored under this key; undefined: not enough is known. */
  rule: string | undefined;
}

const REMEMBERED: Partial<Record<RequestType, string>> = {
  command: "this exact command",
  file_change: "exactly this change",
};
const FILE_KINDS: ReadonlySet<unknown> = new Set(["edit", "delete", "move"]);

/**
 * `acceptsReasons`: the agent reads why it was refused. `path`: the sub-agent that asks; demian's titles start with it.
 */
export function describePermission(
  tool: Tool,
  params: JsonObject,
  { cwd, acceptsReasons, path = [] }: { cwd: string; acceptsReasons: boolean; path?: readonly string[] },
): Permission {
  const request_type = classifyRequest(tool);
  const command = request_type === "command" ? findCommand(tool) : undefined;
  const changes = request_type === "file_change" ? fileChanges(tool) : [];
  const plan = request_type === "plan" ? asText(asObject(tool.input)["plan"]) : undefined;
  const rule = makeRule(tool, params, { cwd, path });
  const what = command ?? (formatChanges(changes) || tool.title);
  // What cannot be shown cannot be allowed.
  const isShown = what !== undefined || hasInput(tool.input);
  return {
    request_type,
    rule,
    payload: {
      title: cutTitle(makeTitle(findName(tool), what ?? "unknown")),
      ...defined({ reason: findReason(tool, what), command }),
      ...(request_type === "command" ? { cwd: findDirectory(tool, cwd) } : {}),
      ...(changes.length > 0 ? { changes } : {}),
      ...defined({ plan }),
      tool_name: findName(tool),
      ...(hasInput(tool.input) ? { input: tool.input } : {}),
      choices: [...acceptChoices(params, isShown, rule, request_type), ...refusals(acceptsReasons)],
      details: collectDetails(tool, params),
    },
  };
}

/** The id of the option of this kind, if offered. */
export function findOption(params: JsonObject, kind: string): string | undefined {
  return asObjects(params["options"]).flatMap((option) =>
    option["kind"] === kind ? (asText(option["optionId"]) ?? []) : [],
  )[0];
}

/** Some titles already start with the tool's name. */
function makeTitle(name: string, what: string): string {
  return what.startsWith(`${name}: `) ? what : `${name}: ${what}`;
}

function classifyRequest({ kind, input }: Tool): RequestType {
  if (kind === "execute") return "command";
  if (FILE_KINDS.has(kind)) return "file_change";
  return kind === "switch_mode" && asText(asObject(input)["plan"]) !== undefined ? "plan" : "tool";
}

function findCommand(tool: Tool): string | undefined {
  const { command } = asObject(tool.input);
  const words = asStrings(command);
  return asText(command) ?? (words.length > 0 ? words.join(" ") : tool.title);
}

/** Without a diff, only the paths are known. */
function fileChanges(tool: Tool): Change[] {
  const changes = readChanges(tool);
  if (changes.length > 0) return changes;
  const kind = tool.kind === "delete" ? "delete" : "update";
  return tool.locations.map((path) => ({ path, kind }));
}

/** The text next to the command: mostly the reason. Some repeat the command, as in a shell (demian). */
function findReason(tool: Tool, what: string | undefined): string | undefined {
  const texts = asObjects(tool.content).flatMap((entry) => asText(asObject(entry["content"])["text"]) ?? []);
  return asText(texts.filter((text) => text !== what && text !== `$ ${what}`).join("\n"));
}

function refusals(acceptsReasons: boolean): Choice[] {
  const takes = acceptsReasons ? { takes: ["message" as const] } : {};
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
  if (findOption(params, "allow_once") !== undefined) {
    const remembers = [REMEMBERED[type] ?? "this tool with exactly this input"];
    const session: Choice[] = rule === undefined ? [] : [{ decision: "acceptForSession", remembers }];
    return [{ decision: "accept" }, ...session];
  }
  const always = asObjects(params["options"]).find(({ kind }) => kind === "allow_always");
  if (always === undefined) return [];
  const name = asText(always["name"]) ?? "always";
  return [
    {
      decision: "acceptAlways",
      remembers: [`"${name}": the agent's own rule, which it may write to disk`],
    },
  ];
}

function collectDetails(tool: Tool, params: JsonObject): JsonObject {
  return {
    ...defined({ kind: tool.kind, title: tool.title }),
    ...(tool.locations.length > 0 ? { locations: tool.locations } : {}),
    options: asObjects(params["options"]).map(({ kind, name }) => ({
      kind: asText(kind) ?? "unknown",
      name: asText(name) ?? "",
    })),
  };
}
