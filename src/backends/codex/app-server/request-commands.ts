// Approval of a shell command, of input to a running one, or of its network access.

import { isObject, type JsonObject } from "../../../base/json.ts";
import { quoteShellWord } from "../../../base/shell-word.ts";
import { asString, asStrings, asText, defined, omitNulls } from "../../../base/values.ts";
import type { Choice } from "../../../protocol/requests.ts";
import { cutTitle } from "../../request-title.ts";
import { CANCEL, DECLINE, findItem, toHomePath } from "./request-texts.ts";
import type { Asked } from "./requests.ts";
import type { CodexState } from "./state.ts";

/** Granted besides running the command. */
const GRANTS = ["networkApprovalContext", "additionalPermissions"] as const;
/** The rest of the request. */
const DETAILS = ["kind", "approvalId", "environmentId", "commandActions"] as const;
const TOOL_NAME = "shell";

export function askCommand(state: CodexState, params: JsonObject): Asked {
  const item = findItem(state, params);
  const command = asText(params["command"]) ?? asText(item["command"]);
  const [input, details] = [GRANTS, DETAILS].map((keys) =>
    omitNulls(Object.fromEntries(keys.flatMap((key) => pair(params, key)))),
  ) as [JsonObject, JsonObject];
  const label = makeLabel(params);
  const isShown = command !== undefined || isObject(params["networkApprovalContext"]);
  return {
    request_type: "command",
    payload: {
      title: cutTitle(`${label}: ${command ?? "unknown"}`),
      ...defined({
        reason: asText(params["reason"]),
        command,
        cwd: asText(params["cwd"]) ?? asText(item["cwd"]),
      }),
      ...(label === TOOL_NAME ? { tool_name: TOOL_NAME } : {}),
      ...(Object.keys(input).length > 0 ? { input } : {}),
      // What cannot be shown cannot be allowed.
      choices: [...(isShown ? acceptChoices(state, params) : []), DECLINE, CANCEL],
      ...(Object.keys(details).length > 0 ? { details } : {}),
    },
  };
}

/** `execCommandApproval`, of clients of the first version. `decline`: how it can be declined. */
export function askLegacyCommand(params: JsonObject, decline: Choice): Asked {
  const command = asStrings(params["command"]).map(quoteShellWord).join(" ");
  return {
    request_type: "command",
    payload: {
      title: cutTitle(`${TOOL_NAME}: ${command}`),
      ...defined({ reason: asText(params["reason"]) }),
      command,
      ...defined({ cwd: asText(params["cwd"]) }),
      tool_name: TOOL_NAME,
      choices: [...(command === "" ? [] : [{ decision: "accept" as const }, FOR_SESSION]), decline, CANCEL],
      ...(Array.isArray(params["parsedCmd"])
        ? { details: omitNulls({ parsedCmd: params["parsedCmd"] }) }
        : {}),
    },
  };
}

/** The rule that Codex adds to its rules (seen with 0.166). */
function execpolicyRule(amendment: readonly string[]): string {
  const pattern = amendment.map((word) => JSON.stringify(word)).join(", ");
  return `prefix_rule(pattern=[${pattern}], decision="allow")\n`;
}

/** The command prefix that may run without asking from now on; absent if Codex proposes none. */
export function readAmendment(params: JsonObject): string[] | undefined {
  const amendment = asStrings(params["proposedExecpolicyAmendment"]);
  return amendment.length > 0 ? amendment : undefined;
}

const FOR_SESSION: Choice = { decision: "acceptForSession", remembers: ["this exact command"] };

function acceptChoices(state: CodexState, params: JsonObject): Choice[] {
  const amendment = readAmendment(params);
  const network = isObject(params["networkApprovalContext"]) ? params["networkApprovalContext"] : undefined;
  const host = network === undefined ? undefined : asString(network["host"]);
  const session = host === undefined ? FOR_SESSION : { ...FOR_SESSION, remembers: [`the host ${host}`] };
  return [{ decision: "accept" }, session, ...(amendment === undefined ? [] : [always(state, amendment)])];
}

function always(state: CodexState, amendment: string[]): Choice {
  return {
    decision: "acceptAlways",
    remembers: [`every command that starts with: ${amendment.join(" ")}`],
    writes: [{ path: toHomePath(state, "rules/default.rules"), content: execpolicyRule(amendment) }],
  };
}

function makeLabel(params: JsonObject): string {
  const network = params["networkApprovalContext"];
  if (isObject(network)) return `network access to ${asString(network["host"]) ?? "a host"}`;
  return params["kind"] === "writeStdin" ? "input to a running command" : TOOL_NAME;
}

function pair(params: JsonObject, key: string): Array<[string, unknown]> {
  return params[key] === undefined ? [] : [[key, params[key]]];
}
