// Requests of Codex → an `Ask`, or an immediate refusal. answers.ts makes the answers.

import type { JsonObject } from "../../../base/json.ts";
import type { RpcErrorBody, RpcId } from "../../../base/jsonrpc.ts";
import { asObject, asText, defined } from "../../../base/values.ts";
import type { Choice, RequestPayload, RequestType } from "../../../protocol/requests.ts";
import type { Ask, BackendSink, ToolCall } from "../../types.ts";
import { askCommand, askLegacyCommand } from "./request-commands.ts";
import { askElicitation } from "./request-elicitations.ts";
import { askFileChange, askLegacyFileChange } from "./request-files.ts";
import { askPermissions, askUserInput } from "./request-others.ts";
import { DECLINE } from "./request-texts.ts";
import { type CodexPendingAsk, type CodexReport, type CodexState, toNativeId } from "./state.ts";
import { findPath } from "./subagents.ts";

export interface ServerRequest {
  id: string | number;
  method: string;
  params?: unknown;
}

/** What the user sees of a request, and its item if the request does not name it. */
export interface Asked {
  request_type: RequestType;
  payload: RequestPayload;
  item_id?: string | undefined;
}

const DECLINE_WITH_REASON: Choice = { ...DECLINE, takes: ["message"] };

const ASKS: ReadonlyMap<string, (state: CodexState, params: JsonObject) => Asked> = new Map<
  string,
  (state: CodexState, params: JsonObject) => Asked
>([
  ["item/commandExecution/requestApproval", askCommand],
  ["item/fileChange/requestApproval", askFileChange],
  ["item/permissions/requestApproval", askPermissions],
  ["item/tool/requestUserInput", askUserInput],
  ["mcpServer/elicitation/request", askElicitation],
  ["applyPatchApproval", (_state, params) => askLegacyFileChange(params, DECLINE_WITH_REASON)],
  ["execCommandApproval", (_state, params) => askLegacyCommand(params, DECLINE_WITH_REASON)],
]);

/** Refused without asking: we have none of it. */
const REFUSED: ReadonlyMap<string, string> = new Map([
  ["account/chatgptAuthTokens/refresh", "blemeesd keeps no ChatGPT tokens; run `codex login`"],
  ["attestation/generate", "blemeesd cannot attest"],
  ["currentTime/read", "blemeesd serves no clock"],
]);

const METHOD_NOT_FOUND = -32601;

export const TOOL_CALL = "item/tool/call";

/** The run that takes a request. */
interface Taker {
  state: CodexState;
  sink: Pick<BackendSink, "ask" | "toolCalled">;
  lease: {
    server: {
      respond(id: RpcId, result: unknown): Promise<void>;
      respondError(id: RpcId, error: RpcErrorBody): void;
    };
  };
}

/** `late`: the error for a request of a turn that has ended. */
export function takeRequest(
  { state, sink, lease: { server } }: Taker,
  request: ServerRequest,
  late: RpcErrorBody | undefined,
): void {
  const ask = late === undefined ? toAsk(state, request) : { refuse: late };
  if ("refuse" in ask) server.respondError(request.id, ask.refuse);
  else if ("call" in ask) sink.toolCalled?.(ask.call);
  else if ("reply" in ask) void server.respond(request.id, ask.reply);
  else sink.ask(ask);
}

/** A refusal is a JSON-RPC error, which Codex treats as "no". */
export function toAsk(
  state: CodexState,
  request: ServerRequest,
): Ask | { call: ToolCall } | { refuse: { code: number; message: string } } | { reply: unknown } {
  const { id, method } = request;
  if (method === TOOL_CALL) return { call: noteToolCall(state, id, asObject(request.params)) };
  const asker = ASKS.get(method);
  if (asker === undefined) {
    const why = REFUSED.get(method) ?? `unknown request ${method}`;
    return { refuse: { code: METHOD_NOT_FOUND, message: why } };
  }
  const params = asObject(request.params);
  const native_id = toNativeId(id);
  const { request_type, payload, item_id } = asker(state, params);
  state.asks.set(native_id, { id, native_id, method, params });
  const thread_id = asText(params["threadId"]) ?? asText(params["conversationId"]);
  const path = thread_id === undefined ? [] : findPath(state, thread_id);
  return {
    native_id,
    request_type,
    payload,
    ...defined({
      thread_id,
      native_turn_id: asText(params["turnId"]),
      item_id: asText(params["itemId"]) ?? asText(params["callId"]) ?? item_id,
    }),
    ...(path.length > 0 ? { path } : {}),
  };
}

/** One of the daemon's tools. Its result is an answer like others, so it is kept with the requests. */
function noteToolCall(state: CodexState, id: RpcId, params: JsonObject): ToolCall {
  // The ids of requests start at 0 in every process.
  const native_id = asText(params["callId"]) ?? toNativeId(id);
  state.asks.set(native_id, { id, native_id, method: TOOL_CALL, params });
  return { native_id, name: asText(params["tool"]) ?? "", input: params["arguments"] ?? {} };
}

/** State of a pending request; undefined once it is answered or over. */
export function findPendingAsk(state: CodexState, native_id: string): CodexPendingAsk | undefined {
  return state.asks.get(native_id);
}

/** The answer was sent: further messages about this request are expected. */
export function noteAnswered(state: CodexState, native_id: string): void {
  state.asks.delete(native_id);
}

/** Unanswered requests of a turn. */
export function listAsksOfTurn(state: CodexState, turnId: string): CodexPendingAsk[] {
  return [...state.asks.values()].filter(({ params }) => params["turnId"] === turnId);
}

/** The turn is over, so its requests are too, whether Codex says so or not. */
export function withdrawTurn(state: CodexState, turnId: string): CodexReport[] {
  return listAsksOfTurn(state, turnId).map(({ native_id }) => {
    state.asks.delete(native_id);
    return { kind: "withdrawn", native_id, reason: "the turn has ended" };
  });
}

/** Refuses them too, with this error. */
export function refuseAsks(
  {
    state,
    lease,
  }: { state: CodexState; lease: { server: { respondError(id: RpcId, error: RpcErrorBody): void } } },
  turnId: string,
  error: RpcErrorBody,
): CodexReport[] {
  for (const { id } of listAsksOfTurn(state, turnId)) lease.server.respondError(id, error);
  return withdrawTurn(state, turnId);
}

/** `serverRequest/resolved`, also sent for requests we answered. */
export function withdraw(state: CodexState, id: unknown): CodexReport[] {
  if (typeof id !== "string" && typeof id !== "number") return [];
  const found = [...state.asks.values()].find((ask) => ask.id === id);
  if (found === undefined) return [];
  const { native_id } = found;
  state.asks.delete(native_id);
  return [{ kind: "withdrawn", native_id, reason: "Codex no longer waits for it" }];
}
