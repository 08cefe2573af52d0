// Approvals of old Codex: the MCP request `elicitation/create` with its own fields → the question that the app-server's
// first version asked, and the decision → the answer. Each is answered exactly once: by the user, or by us when its turn
// is over.

import type { JsonObject } from "../../../base/json.ts";
import type { RpcErrorBody, RpcId } from "../../../base/jsonrpc.ts";
import { asObject, asString, defined, omitNulls } from "../../../base/values.ts";
import type { Answer, Decision } from "../../../protocol/requests.ts";
import type { Ask } from "../../types.ts";
import { isObjectEntry } from "../../values.ts";
import { askLegacyCommand } from "../app-server/request-commands.ts";
import { askLegacyFileChange } from "../app-server/request-files.ts";
import { DECLINE } from "../app-server/request-texts.ts";
import type { Asked } from "../app-server/requests.ts";
import { isOfTurn, type McpState } from "./state.ts";

/** For requests that can no longer be decided. Not `abort`: it would stop whatever turn is running when it arrives. */
export const REFUSAL = { decision: "denied" } as const;

const METHOD_NOT_FOUND = -32601;
/** Codex reads only `decision`. */
const DECISIONS: Readonly<Partial<Record<Decision, string>>> = {
  accept: "approved",
  acceptForSession: "approved_for_session",
  decline: "denied",
  cancel: "abort",
};

/** Undefined if it is not one of Codex's own approvals. */
function describe(params: JsonObject): Asked | undefined {
  const { codex_elicitation: kind, codex_reason: reason, codex_command: command, codex_cwd: cwd } = params;
  if (kind === "exec-approval") return askLegacyCommand({ command, cwd, reason }, DECLINE);
  const fileChanges = flattenChanges(asObject(params["codex_changes"]));
  const patch = { fileChanges, reason, grantRoot: params["codex_grant_root"] };
  return kind === "patch-approval" ? askLegacyFileChange(patch, DECLINE) : undefined;
}

/** A request of Codex: the question to ask, or how to answer at once. */
export function toAsk(
  state: McpState,
  id: RpcId,
  method: string,
  params: JsonObject,
): Ask | { refuse: RpcErrorBody } | { reply: unknown } {
  const asked = method === "elicitation/create" ? describe(params) : undefined;
  if (asked === undefined)
    return { refuse: { code: METHOD_NOT_FOUND, message: `blemeesd does not support ${method}` } };
  if (!isWanted(state, params["codex_mcp_tool_call_id"])) return { reply: REFUSAL };
  // A number and a string that look alike are different ids.
  const native_id = JSON.stringify(id);
  state.asks.set(native_id, id);
  const details = omitNulls({
    message: params["message"],
    command: params["codex_command"],
    parsed_cmd: params["codex_parsed_cmd"],
    changes: params["codex_changes"],
  });
  return {
    native_id,
    request_type: asked.request_type,
    payload: { ...asked.payload, details },
    ...defined({
      thread_id: asString(params["threadId"]) ?? state.threadId,
      native_turn_id: state.held.native_turn_id,
      item_id: asString(params["codex_call_id"]),
    }),
  };
}

/** Undefined if the answer is not a decision Codex knows. */
export function toReply(answer: Answer): { decision: string } | undefined {
  const decision = "decision" in answer ? DECISIONS[answer.decision] : undefined;
  return decision === undefined ? undefined : { decision };
}

/** It may arrive late, from a call we abandoned. */
function isWanted(state: McpState, call: unknown): boolean {
  if (state.requestId === undefined || state.isCancelled) return false;
  return call === undefined || isOfTurn(state, call);
}

/** Older versions write `{add: {content}}` for `{type: "add", content}`. */
function flattenChanges(changes: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(changes).map(([path, change]) => {
      const [only] = Object.entries(asObject(change)).filter(isObjectEntry);
      return [path, only === undefined ? change : { type: only[0], ...only[1] }];
    }),
  );
}
