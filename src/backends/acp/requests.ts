// Requests of the agent → an `Ask`, an automatic answer, or a refusal; and answers → replies to the agent.
// `allow_always` is never chosen where `allow_once` is offered, because agents write it to disk.

import type { JsonObject } from "../../base/json.ts";
import type { RpcId } from "../../base/jsonrpc.ts";
import { asObject, asText, defined } from "../../base/values.ts";
import type { Answer } from "../../protocol/requests.ts";
import { fillForm, readForm } from "../forms.ts";
import { cutTitle } from "../request-title.ts";
import { describePermission, findOption } from "./permissions.ts";
import {
  type AcpPendingAsk,
  type AcpReport,
  type AcpState,
  isDemian,
  readDemianMeta,
  reportNotice,
  type Tool,
  toNativeId,
  toReports,
} from "./state.ts";
import { readPath } from "./sub-agents.ts";
import { closeText } from "./texts.ts";
import { askAbout, findName } from "./tools.ts";

export interface AgentRequest {
  id: RpcId;
  method: string;
  params: JsonObject;
}

const PERMISSION = "session/request_permission";
const ELICITATION = "elicitation/create";
const METHOD_NOT_FOUND = -32601;
const INVALID_PARAMS = -32602;
const CANCELLED = { outcome: { outcome: "cancelled" } };

export function toReportsOfRequest(state: AcpState, request: AgentRequest): AcpReport[] {
  // The user sees the first request under this id; the answer must not be applied to another.
  if (state.asks.has(toNativeId(request.id))) return reportReusedId(state, request);
  if (request.method === PERMISSION) return permission(state, request);
  if (request.method === ELICITATION) return elicitation(state, request);
  const message = `blemeesd does not support ${request.method}`;
  return [
    reportNotice(state, "request_unsupported", {
      level: "warn",
      text: message,
      data: { method: request.method },
    }),
    { kind: "refuse", id: request.id, error: { code: METHOD_NOT_FOUND, message } },
  ];
}

/** Undefined: it is no longer pending. */
export function toReply(
  state: AcpState,
  native_id: string,
  answer: Answer,
): { id: RpcId; result: unknown; cancels: boolean } | undefined {
  const pending = state.asks.get(native_id);
  if (pending === undefined) return undefined;
  state.asks.delete(native_id);
  const decision = "decision" in answer ? answer.decision : undefined;
  const isNo = decision === "decline" || decision === "cancel";
  if (isNo && state.turn !== undefined) state.turn.isDeclined = true;
  const result =
    pending.method === ELICITATION
      ? elicitationResult(pending, answer)
      : permissionResult(state, pending, answer);
  return { id: pending.id, result, cancels: decision === "cancel" };
}

/** `$/cancel_request`: the agent no longer waits for it. */
export function withdraw(state: AcpState, id: unknown): AcpReport[] {
  if (typeof id !== "string" && typeof id !== "number") return [];
  const native_id = toNativeId(id);
  if (!state.asks.delete(native_id)) return [];
  return [{ kind: "withdrawn", native_id, reason: "the agent no longer waits for it" }];
}

/** Ends all open requests. `isHeard`: the agent still expects an answer, which is "cancelled". */
export function withdrawAll(state: AcpState, reason: string, isHeard: boolean): AcpReport[] {
  const open = [...state.asks.values()];
  state.asks.clear();
  return open.flatMap(({ id, native_id, method }): AcpReport[] => {
    const withdrawn: AcpReport = { kind: "withdrawn", native_id, reason };
    return isHeard ? [{ kind: "reply", id, result: makeRefusal(method) }, withdrawn] : [withdrawn];
  });
}

/** Gets no answer of its own, which would answer the first. */
function reportReusedId(state: AcpState, { id, method }: AgentRequest): AcpReport[] {
  const text = `the agent reused the id ${toNativeId(id)} of an open request: ignored`;
  return [reportNotice(state, "request_unsupported", { level: "warn", text, data: { method } })];
}

/** A finished turn waits for nothing, and a session with a request accepts no message. */
function outOfTurn(state: AcpState, { id, method }: AgentRequest): AcpReport[] {
  const text = `the agent asked outside a turn: refused (${method})`;
  return [
    reportNotice(state, "permission_denied", { level: "warn", text }),
    { kind: "reply", id, result: makeRefusal(method) },
  ];
}

function permission(state: AcpState, request: AgentRequest): AcpReport[] {
  const { id, method, params } = request;
  if (state.turn === undefined) return outOfTurn(state, request);
  if (state.turn.isCancelled) return [{ kind: "reply", id, result: CANCELLED }];
  const { tool, reports: reported } = askAbout(state, asObject(params["toolCall"]));
  if (tool === undefined) {
    const error = { code: INVALID_PARAMS, message: "toolCall/toolCallId is missing" };
    return [{ kind: "refuse", id, error }];
  }
  const before: AcpReport[] = [...toReports(closeText(state, tool.parent)), ...reported];
  const { agentPath, widens } = readDemianMeta(state, asObject(params["toolCall"]));
  const path = readPath(agentPath);
  const { request_type, payload, ...described } = describePermission(tool, params, {
    cwd: state.cwd,
    acceptsReasons: isDemian(state),
    path,
  });
  // An approval within the agent's rules does not cover this.
  const rule = widens === true && described.rule !== undefined ? `beyond ${described.rule}` : described.rule;
  const isFree = state.options.approvals === false;
  if (isFree && widens === true) return [...before, ...refuseUnasked(state, request, tool)];
  if (isFree || (rule !== undefined && state.rules.has(rule))) {
    const why = isFree ? "approvals are off" : "already allowed for this session";
    return [...before, ...allowUnasked(state, request, `${findName(tool)}: ${why}`, tool)];
  }
  const native_id = toNativeId(id);
  state.asks.set(native_id, { id, native_id, method, params, rule });
  const thread_id = state.sessionId;
  const ask = { native_id, request_type, payload, thread_id, item_id: tool.id };
  return [...before, { kind: "ask", ask: path.length === 0 ? ask : { ...ask, path } }];
}

function allowUnasked(state: AcpState, request: AgentRequest, why: string, tool: Tool): AcpReport[] {
  const about = { data: { tool_use_id: tool.id }, parent: tool.parent };
  const optionId = findOption(request.params, "allow_once");
  const { id } = request;
  if (optionId === undefined) {
    const text = `${why}, but the agent offers no option to allow it once: refused`;
    return [
      reportNotice(state, "permission_denied", { level: "warn", text, ...about }),
      { kind: "reply", id, result: CANCELLED },
    ];
  }
  return [
    reportNotice(state, "permission_granted", { text: why, ...about }),
    { kind: "reply", id, result: toSelection(optionId) },
  ];
}

/** The agent's own rules deny it: only a user can override them. */
function refuseUnasked(state: AcpState, { id, params }: AgentRequest, tool: Tool): AcpReport[] {
  const reason =
    "approvals are off, so no user can allow what the agent's own rules deny; continue without it";
  const optionId = findOption(params, "reject_once");
  const outcome = optionId === undefined ? CANCELLED : toSelection(optionId);
  const about = { data: { tool_use_id: tool.id }, parent: tool.parent };
  return [
    reportNotice(state, "permission_denied", {
      level: "warn",
      text: `${findName(tool)}: ${reason}`,
      ...about,
    }),
    { kind: "reply", id, result: { ...outcome, _meta: { blemees: { reason } } } },
  ];
}

function permissionResult(state: AcpState, pending: AcpPendingAsk, answer: Answer): unknown {
  const decision = "decision" in answer ? answer.decision : "decline";
  const once = findOption(pending.params, "allow_once");
  if (decision === "acceptForSession" && once !== undefined && pending.rule !== undefined) {
    state.rules.add(pending.rule);
  }
  if (decision === "decline" || decision === "cancel") {
    const optionId = findOption(pending.params, "reject_once");
    const reason = "message" in answer && isDemian(state) ? asText(answer.message) : undefined;
    const meta = reason === undefined ? {} : { _meta: { blemees: { reason } } };
    return { ...(optionId === undefined ? CANCELLED : toSelection(optionId)), ...meta };
  }
  // Only if it was the only way to accept.
  const always = decision === "acceptAlways" ? findOption(pending.params, "allow_always") : undefined;
  const optionId = once ?? always;
  return optionId === undefined ? CANCELLED : toSelection(optionId);
}

function toSelection(optionId: string): JsonObject {
  return { outcome: { outcome: "selected", optionId } };
}

function elicitation(state: AcpState, request: AgentRequest): AcpReport[] {
  const { id, method, params } = request;
  const form = readForm(params);
  if (params["mode"] !== "form" || form === undefined) {
    const message = "blemeesd supports only forms with flat fields";
    return [
      reportNotice(state, "request_unsupported", { level: "warn", text: message, data: { method } }),
      { kind: "refuse", id, error: { code: INVALID_PARAMS, message } },
    ];
  }
  if (state.turn === undefined) return outOfTurn(state, request);
  if (state.turn.isCancelled) return [{ kind: "reply", id, result: makeRefusal(method) }];
  const item_id = asText(params["toolCallId"]);
  const message = asText(params["message"]) ?? "a question without text";
  if (state.options.approvals === false) {
    const text = `approvals are off, so it was not asked: ${message}`;
    return [
      reportNotice(state, "permission_denied", { level: "warn", text }),
      { kind: "reply", id, result: { action: "decline" } },
    ];
  }
  const native_id = toNativeId(id);
  state.asks.set(native_id, { id, native_id, method, params, rule: undefined });
  const payload = {
    title: cutTitle(message),
    reason: message,
    questions: form.questions,
    choices: [
      { decision: "accept" as const },
      { decision: "decline" as const },
      { decision: "cancel" as const },
    ],
  };
  // The question may come from an MCP server; in ACP, the agent asks it.
  const request_type = "user_input" as const;
  const thread_id = state.sessionId;
  return [{ kind: "ask", ask: { native_id, request_type, payload, thread_id, ...defined({ item_id }) } }];
}

function elicitationResult(pending: AcpPendingAsk, answer: Answer): unknown {
  if ("answers" in answer) return { action: "accept", content: fillForm(pending.params, answer.answers) };
  if (answer.decision === "decline" || answer.decision === "cancel") return { action: answer.decision };
  return { action: "accept", content: {} };
}

function makeRefusal(method: string): unknown {
  return method === ELICITATION ? { action: "cancel" } : CANCELLED;
}
