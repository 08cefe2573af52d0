// Approval of a shell command, of input to one that runs, or of its access to the network.
import { isObject, type JsonObject } from "../../../base/json.ts";
import { shellWord } from "../../../base/shell-word.ts";
import type { Choice } from "../../../protocol/requests.ts";
import { titleOf } from "../../request-title.ts";
import { known, optional, stringOf, stringsOf, textOf, withoutNulls } from "../../values.ts";
import { CANCEL, DECLINE, homePath, itemFor } from "./request-texts.ts";
import type { Asked } from "./requests.ts";
import type { CodexState } from "./state.ts";

/** What is granted besides running the command. */
const GRANTS = ["networkApprovalContext", "additionalPermissions"] as const;
/** The rest of the request. */
const DETAILS = ["kind", "approvalId", "environmentId", "commandActions"] as const;
const TOOL_NAME = "shell";

export function askCommand(state: CodexState, params: JsonObject): Asked {
  const item = itemFor(state, params);
  const command = textOf(params["command"]) ?? textOf(item["command"]);
  const [input, details] = [GRANTS, DETAILS].map((keys) =>
    withoutNulls(Object.fromEntries(keys.flatMap((key) => pair(params, key)))),
  ) as [JsonObject, JsonObject];
  const label = labelOf(params);
  const isShown = command !== undefined || isObject(params["networkApprovalContext"]);
  return {
    request_type: "command",
    payload: {
      title: titleOf(`${label}: ${command ?? "not told"}`),
      ...optional("reason", textOf(params["reason"])),
      ...optional("command", command),
      ...optional("cwd", textOf(params["cwd"]) ?? textOf(item["cwd"])),
      ...(label === TOOL_NAME ? { tool_name: TOOL_NAME } : {}),
      ...(Object.keys(input).length > 0 ? { input } : {}),
      // What nobody can see, nobody can allow.
      choices: [...(isShown ? acceptChoices(state, params) : []), DECLINE, CANCEL],
      ...(Object.keys(details).length > 0 ? { details } : {}),
    },
  };
}

/** `execCommandApproval`, of clients that speak the first version. */
export function askLegacyCommand(_state: CodexState, params: JsonObject): Asked {
  const command = stringsOf(params["command"]).map(shellWord).join(" ");
  return {
    request_type: "command",
    payload: {
      title: titleOf(`${TOOL_NAME}: ${command}`),
      ...optional("reason", textOf(params["reason"])),
      command,
      ...optional("cwd", textOf(params["cwd"])),
      tool_name: TOOL_NAME,
      choices: [
        ...(command === "" ? [] : [{ decision: "accept" as const }, FOR_SESSION]),
        { ...DECLINE, takes: ["message"] },
        CANCEL,
      ],
      ...(Array.isArray(params["parsedCmd"]) ? { details: known("parsedCmd", params["parsedCmd"]) } : {}),
    },
  };
}

/** The rule that Codex adds to its rules (seen with 0.166). */
function execpolicyRule(amendment: readonly string[]): string {
  const pattern = amendment.map((word) => JSON.stringify(word)).join(", ");
  return `prefix_rule(pattern=[${pattern}], decision="allow")\n`;
}

/** The command whose like may run unasked from now on; absent when Codex proposes none. */
export function amendmentOf(params: JsonObject): string[] | undefined {
  const amendment = stringsOf(params["proposedExecpolicyAmendment"]);
  return amendment.length > 0 ? amendment : undefined;
}

const FOR_SESSION: Choice = { decision: "acceptForSession", remembers: ["this exact command"] };

function acceptChoices(state: CodexState, params: JsonObject): Choice[] {
  const amendment = amendmentOf(params);
  const network = isObject(params["networkApprovalContext"]) ? params["networkApprovalContext"] : undefined;
  const host = network === undefined ? undefined : stringOf(network["host"]);
  const session = host === undefined ? FOR_SESSION : { ...FOR_SESSION, remembers: [`the host ${host}`] };
  return [{ decision: "accept" }, session, ...(amendment === undefined ? [] : [always(state, amendment)])];
}

function always(state: CodexState, amendment: string[]): Choice {
  return {
    decision: "acceptAlways",
    remembers: [`every command that begins with: ${amendment.join(" ")}`],
    writes: [{ path: homePath(state, "rules/default.rules"), content: execpolicyRule(amendment) }],
  };
}

function labelOf(params: JsonObject): string {
  const network = params["networkApprovalContext"];
  if (isObject(network)) return `network access to ${stringOf(network["host"]) ?? "a host"}`;
  return params["kind"] === "writeStdin" ? "input to a running command" : TOOL_NAME;
}

function pair(params: JsonObject, key: string): Array<[string, unknown]> {
  return params[key] === undefined ? [] : [[key, params[key]]];
}
