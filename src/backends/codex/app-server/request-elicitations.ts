// What an MCP server asks through Codex: a form, a page to visit; and Codex's own question whether a tool of the
// server may run, which comes as a form without fields. None of them can stop the turn, so there is no `cancel`.
import type { JsonObject } from "../../../base/json.ts";
import type { Choice } from "../../../protocol/requests.ts";
import { formOf } from "../../forms.ts";
import { titleOf } from "../../request-title.ts";
import { known, objectOf, optional, stringOf, stringsOf, textOf, withoutNulls } from "../../values.ts";
import { DECLINE, homePath, openItems } from "./request-texts.ts";
import type { Asked } from "./requests.ts";
import type { CodexState } from "./state.ts";

export function askElicitation(state: CodexState, params: JsonObject): Asked {
  const meta = objectOf(params["_meta"]);
  const form = formOf(params);
  if (textOf(meta["codex_approval_kind"]) !== undefined && form?.questions.length === 0) {
    return askTool(state, params, meta);
  }
  const server = stringOf(params["serverName"]) ?? "an MCP server";
  const message = textOf(params["message"]) ?? textOf(params["description"]) ?? textOf(params["title"]);
  const isUrl = params["mode"] === "url" && textOf(params["url"]) !== undefined;
  const isAnswerable = isUrl || form !== undefined;
  return {
    request_type: "elicitation",
    payload: {
      title: titleOf(`${server}: ${message ?? "no words"}`),
      ...optional("reason", message),
      ...optional("questions", form?.questions),
      ...(isUrl ? { input: { url: params["url"] } } : {}),
      // Other modes need a screen of their own.
      choices: [...(isAnswerable ? [{ decision: "accept" as const }] : []), DECLINE],
      details: detailsOf(params),
    },
  };
}

function askTool(state: CodexState, params: JsonObject, meta: JsonObject): Asked {
  const server = stringOf(params["serverName"]) ?? "unknown";
  const call = callOf(state, params, server, meta["tool_params"]);
  const tool = textOf(call["tool"]);
  return {
    request_type: "tool",
    payload: {
      title: titleOf(textOf(params["message"]) ?? `${server}: ${tool ?? "a tool"}`),
      ...optional("reason", textOf(meta["tool_description"])),
      tool_name: `mcp__${server}__${tool ?? textOf(meta["tool_title"]) ?? "unknown"}`,
      input: meta["tool_params"] ?? call["arguments"] ?? {},
      choices: [{ decision: "accept" }, ...persistChoices(state, meta, server, tool), DECLINE],
      details: detailsOf(params),
    },
    item_id: textOf(call["id"]),
  };
}

/** Codex does not say which call it is: it is the one that runs, with the same input. */
function callOf(state: CodexState, params: JsonObject, server: string, input: unknown): JsonObject {
  const calls = openItems(state, params)
    .map(({ item }) => item)
    .filter((item) => item["type"] === "mcpToolCall" && item["server"] === server);
  const same = calls.filter((item) => JSON.stringify(item["arguments"]) === JSON.stringify(input ?? {}));
  return (same.length > 0 ? same : calls).at(-1) ?? {};
}

function persistChoices(
  state: CodexState,
  meta: JsonObject,
  server: string,
  tool: string | undefined,
): Choice[] {
  const offered = typeof meta["persist"] === "string" ? [meta["persist"]] : stringsOf(meta["persist"]);
  const choices: Choice[] = [];
  if (offered.includes("session")) choices.push({ decision: "acceptForSession", remembers: ["this tool"] });
  // Without the tool's name we could not show what is written.
  if (offered.includes("always") && tool !== undefined) {
    const content = `[mcp_servers.${tomlKey(server)}.tools.${tomlKey(tool)}]\napproval_mode = "approve"\n`;
    const writes = [{ path: homePath(state, "config.toml"), content }];
    choices.push({ decision: "acceptAlways", remembers: [`the tool ${tool} of ${server}`], writes });
  }
  return choices;
}

function tomlKey(name: string): string {
  return /^[\w-]+$/.test(name) ? name : JSON.stringify(name);
}

function detailsOf(params: JsonObject): JsonObject {
  const { threadId: _thread, turnId: _turn, message: _message, _meta, ...rest } = params;
  return { ...withoutNulls(rest), ...known("_meta", _meta) };
}
