// What the agent asks → an `Ask` for a person, an answer of our own, or a refusal; and the person's answer → what the
// agent is told. `allow_always` is never chosen where `allow_once` is offered: agents write it to disk.
import type { JsonObject } from "../../base/json.ts";
import type { RpcId } from "../../base/jsonrpc.ts";
import type { Answer } from "../../protocol/requests.ts";
import { fillForm, formOf } from "../forms.ts";
import { titleOf } from "../request-title.ts";
import { objectOf, optional, textOf } from "../values.ts";
import { describePermission, optionOf } from "./permissions.ts";
import {
  type AcpState,
  demianMeta,
  isDemian,
  nativeIdOf,
  notice,
  type PendingAsk,
  type Report,
  type Tool,
  toReports,
} from "./state.ts";
import { pathOf } from "./sub-agents.ts";
import { closeText } from "./texts.ts";
import { askAbout, nameOf } from "./tools.ts";

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

export function toReportsOfRequest(state: AcpState, request: AgentRequest): Report[] {
  // What a person sees under this id is the first: the answer must not be taken for another.
  if (state.asks.has(nativeIdOf(request.id))) return askedTwice(state, request);
  if (request.method === PERMISSION) return permission(state, request);
  if (request.method === ELICITATION) return elicitation(state, request);
  const message = `blemeesd offers no ${request.method}`;
  return [
    notice(state, "request_unsupported", { level: "warn", text: message, data: { method: request.method } }),
    { kind: "refuse", id: request.id, error: { code: METHOD_NOT_FOUND, message } },
  ];
}

/** Undefined: nobody waits for it any more. */
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

/** `$/cancel_request`: the agent waits for it no more. */
export function withdraw(state: AcpState, id: unknown): Report[] {
  if (typeof id !== "string" && typeof id !== "number") return [];
  const native_id = nativeIdOf(id);
  if (!state.asks.delete(native_id)) return [];
  return [{ kind: "withdrawn", native_id, reason: "the agent waits for it no more" }];
}

/** Nobody is asked any more. `isHeard`: the agent still wants an answer, which is "cancelled". */
export function withdrawAll(state: AcpState, reason: string, isHeard: boolean): Report[] {
  const open = [...state.asks.values()];
  state.asks.clear();
  return open.flatMap(({ id, native_id, method }): Report[] => {
    const withdrawn: Report = { kind: "withdrawn", native_id, reason };
    return isHeard ? [{ kind: "reply", id, result: refusalOf(method) }, withdrawn] : [withdrawn];
  });
}

/** It gets no answer of its own, which would be one to the first. */
function askedTwice(state: AcpState, { id, method }: AgentRequest): Report[] {
  const text = `the agent asked again under the id ${nativeIdOf(id)} of a request that is open: not heard`;
  return [notice(state, "request_unsupported", { level: "warn", text, data: { method } })];
}

/** Nobody waits for a turn that is over, and a session that asks takes no message. */
function outOfTurn(state: AcpState, { id, method }: AgentRequest): Report[] {
  const text = `the agent asked while no turn runs: refused (${method})`;
  return [
    notice(state, "permission_denied", { level: "warn", text }),
    { kind: "reply", id, result: refusalOf(method) },
  ];
}

function permission(state: AcpState, request: AgentRequest): Report[] {
  const { id, method, params } = request;
  if (state.turn === undefined) return outOfTurn(state, request);
  if (state.turn.isCancelled) return [{ kind: "reply", id, result: CANCELLED }];
  const { tool, reports: told } = askAbout(state, objectOf(params["toolCall"]));
  if (tool === undefined) {
    const error = { code: INVALID_PARAMS, message: "toolCall/toolCallId is missing" };
    return [{ kind: "refuse", id, error }];
  }
  const before: Report[] = [...toReports(closeText(state, tool.parent)), ...told];
  const { agentPath, widens } = demianMeta(state, objectOf(params["toolCall"]));
  const path = pathOf(agentPath);
  const { request_type, payload, ...described } = describePermission(tool, params, {
    cwd: state.cwd,
    hearsReasons: isDemian(state),
    path,
  });
  // A yes to the same within the agent's rules was none to this.
  const rule = widens === true && described.rule !== undefined ? `beyond ${described.rule}` : described.rule;
  const isFree = state.options.approvals === false;
  if (isFree && widens === true) return [...before, ...refuseUnasked(state, request, tool)];
  if (isFree || (rule !== undefined && state.rules.has(rule))) {
    const why = isFree ? "approvals are off" : "it was allowed for this session";
    return [...before, ...allowUnasked(state, request, `${nameOf(tool)}: ${why}`, tool)];
  }
  const native_id = nativeIdOf(id);
  state.asks.set(native_id, { id, native_id, method, params, rule });
  const thread_id = state.sessionId;
  const ask = { native_id, request_type, payload, thread_id, item_id: tool.id };
  return [...before, { kind: "ask", ask: path.length === 0 ? ask : { ...ask, path } }];
}

function allowUnasked(state: AcpState, request: AgentRequest, why: string, tool: Tool): Report[] {
  const about = { data: { tool_use_id: tool.id }, parent: tool.parent };
  const optionId = optionOf(request.params, "allow_once");
  const { id } = request;
  if (optionId === undefined) {
    const text = `${why}, but the agent offers no way to allow it once: refused`;
    return [
      notice(state, "permission_denied", { level: "warn", text, ...about }),
      { kind: "reply", id, result: CANCELLED },
    ];
  }
  return [
    notice(state, "permission_granted", { text: why, ...about }),
    { kind: "reply", id, result: selected(optionId) },
  ];
}

/** The agent's own rules deny it: only a person can go beyond them. */
function refuseUnasked(state: AcpState, { id, params }: AgentRequest, tool: Tool): Report[] {
  const reason =
    "approvals are off, so there is no person who could allow what the agent's own rules deny; go on without it";
  const optionId = optionOf(params, "reject_once");
  const outcome = optionId === undefined ? CANCELLED : selected(optionId);
  const about = { data: { tool_use_id: tool.id }, parent: tool.parent };
  return [
    notice(state, "permission_denied", { level: "warn", text: `${nameOf(tool)}: ${reason}`, ...about }),
    { kind: "reply", id, result: { ...outcome, _meta: { blemees: { reason } } } },
  ];
}

function permissionResult(state: AcpState, pending: PendingAsk, answer: Answer): unknown {
  const decision = "decision" in answer ? answer.decision : "decline";
  const once = optionOf(pending.params, "allow_once");
  if (decision === "acceptForSession" && once !== undefined && pending.rule !== undefined) {
    state.rules.add(pending.rule);
  }
  if (decision === "decline" || decision === "cancel") {
    const optionId = optionOf(pending.params, "reject_once");
    const reason = "message" in answer && isDemian(state) ? textOf(answer.message) : undefined;
    const meta = reason === undefined ? {} : { _meta: { blemees: { reason } } };
    return { ...(optionId === undefined ? CANCELLED : selected(optionId)), ...meta };
  }
  // Only where it was the one thing that a person could say yes with.
  const always = decision === "acceptAlways" ? optionOf(pending.params, "allow_always") : undefined;
  const optionId = once ?? always;
  return optionId === undefined ? CANCELLED : selected(optionId);
}

function selected(optionId: string): JsonObject {
  return { outcome: { outcome: "selected", optionId } };
}

function elicitation(state: AcpState, request: AgentRequest): Report[] {
  const { id, method, params } = request;
  const form = formOf(params);
  if (params["mode"] !== "form" || form === undefined) {
    const message = "blemeesd answers forms of flat fields only";
    return [
      notice(state, "request_unsupported", { level: "warn", text: message, data: { method } }),
      { kind: "refuse", id, error: { code: INVALID_PARAMS, message } },
    ];
  }
  if (state.turn === undefined) return outOfTurn(state, request);
  if (state.turn.isCancelled) return [{ kind: "reply", id, result: refusalOf(method) }];
  const item_id = textOf(params["toolCallId"]);
  const message = textOf(params["message"]) ?? "a question without words";
  if (state.options.approvals === false) {
    const text = `approvals are off, so nobody was asked: ${message}`;
    return [
      notice(state, "permission_denied", { level: "warn", text }),
      { kind: "reply", id, result: { action: "decline" } },
    ];
  }
  const native_id = nativeIdOf(id);
  state.asks.set(native_id, { id, native_id, method, params, rule: undefined });
  const payload = {
    title: titleOf(message),
    reason: message,
    questions: form.questions,
    choices: [
      { decision: "accept" as const },
      { decision: "decline" as const },
      { decision: "cancel" as const },
    ],
  };
  // Whoever may stand behind it (an MCP server): in ACP it is the agent that asks.
  const request_type = "user_input" as const;
  const thread_id = state.sessionId;
  return [
    { kind: "ask", ask: { native_id, request_type, payload, thread_id, ...optional("item_id", item_id) } },
  ];
}

function elicitationResult(pending: PendingAsk, answer: Answer): unknown {
  if ("answers" in answer) return { action: "accept", content: fillForm(pending.params, answer.answers) };
  if (answer.decision === "decline" || answer.decision === "cancel") return { action: answer.decision };
  return { action: "accept", content: {} };
}

function refusalOf(method: string): unknown {
  return method === ELICITATION ? { action: "cancel" } : CANCELLED;
}
