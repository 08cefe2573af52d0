// Requests of MCP servers through Codex: a form, a page to visit; and Codex's own question whether a tool may run,
// which is a form without fields. None of them can stop the turn, so there is no `cancel`.

import type { JsonObject } from "../../../base/json.ts";
import { asObject, asString, asStrings, asText, defined, omitNulls } from "../../../base/values.ts";
import type { Choice } from "../../../protocol/requests.ts";
import { readForm } from "../../forms.ts";
import { cutTitle } from "../../request-title.ts";
import { DECLINE, openItems, toHomePath } from "./request-texts.ts";
import type { Asked } from "./requests.ts";
import type { CodexState } from "./state.ts";

export function askElicitation(state: CodexState, params: JsonObject): Asked {
  const meta = asObject(params["_meta"]);
  const form = readForm(params);
  if (asText(meta["codex_approval_kind"]) !== undefined && form?.questions.length === 0) {
    return askTool(state, params, meta);
  }
  const server = asString(params["serverName"]) ?? "an MCP server";
  const message = asText(params["message"]) ?? asText(params["description"]) ?? asText(params["title"]);
  const isUrl = params["mode"] === "url" && asText(params["url"]) !== undefined;
  const isAnswerable = isUrl || form !== undefined;
  return {
    request_type: "elicitation",
    payload: {
      title: cutTitle(`${server}: ${message ?? "no text"}`),
      ...defined({ reason: message, questions: form?.questions }),
      ...(isUrl ? { input: { url: params["url"] } } : {}),
      // Other modes need a UI of their own.
      choices: [...(isAnswerable ? [{ decision: "accept" as const }] : []), DECLINE],
      details: collectDetails(params),
    },
  };
}

function askTool(state: CodexState, params: JsonObject, meta: JsonObject): Asked {
  const server = asString(params["serverName"]) ?? "unknown";
  const call = findCall(state, params, server, meta["tool_params"]);
  const tool = asText(call["tool"]);
  return {
    request_type: "tool",
    payload: {
      title: cutTitle(asText(params["message"]) ?? `${server}: ${tool ?? "a tool"}`),
      ...defined({ reason: asText(meta["tool_description"]) }),
      tool_name: `mcp__${server}__${tool ?? asText(meta["tool_title"]) ?? "unknown"}`,
      input: meta["tool_params"] ?? call["arguments"] ?? {},
      choices: [{ decision: "accept" }, ...persistChoices(state, meta, server, tool), DECLINE],
      details: collectDetails(params),
    },
    item_id: asText(call["id"]),
  };
}

/** Codex does not name the call: it is the running one with the same input. */
function findCall(state: CodexState, params: JsonObject, server: string, input: unknown): JsonObject {
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
  const offered = typeof meta["persist"] === "string" ? [meta["persist"]] : asStrings(meta["persist"]);
  const choices: Choice[] = [];
  if (offered.includes("session")) choices.push({ decision: "acceptForSession", remembers: ["this tool"] });
  // Without the tool's name we could not show what is written.
  if (offered.includes("always") && tool !== undefined) {
    const content = `[mcp_servers.${tomlKey(server)}.tools.${tomlKey(tool)}]\napproval_mode = "approve"\n`;
    const writes = [{ path: toHomePath(state, "config.toml"), content }];
    choices.push({ decision: "acceptAlways", remembers: [`the tool ${tool} of ${server}`], writes });
  }
  return choices;
}

function tomlKey(name: string): string {
  return /^[\w-]+$/.test(name) ? name : JSON.stringify(name);
}

function collectDetails(params: JsonObject): JsonObject {
  const { threadId: _thread, turnId: _turn, message: _message, _meta, ...rest } = params;
  return { ...omitNulls(rest), ...omitNulls({ _meta }) };
}
