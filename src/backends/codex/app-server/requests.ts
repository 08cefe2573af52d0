// What Codex asks → an `Ask` for a person, or a refusal at once. Each answer is made by answers.ts.
import type { JsonObject } from "../../../base/json.ts";
import type { RequestPayload, RequestType } from "../../../protocol/requests.ts";
import type { Ask } from "../../types.ts";
import { objectOf, optional, textOf } from "../../values.ts";
import { askCommand, askLegacyCommand } from "./request-commands.ts";
import { askElicitation } from "./request-elicitations.ts";
import { askFileChange, askLegacyFileChange } from "./request-files.ts";
import { askPermissions, askUserInput } from "./request-others.ts";
import { type CodexState, nativeIdOf, type PendingAsk, type Report } from "./state.ts";
import { pathOf } from "./subagents.ts";

export interface ServerRequest {
  id: string | number;
  method: string;
  params?: unknown;
}

/** What a person sees of a request, and which item it is about when the request itself does not say. */
export interface Asked {
  request_type: RequestType;
  payload: RequestPayload;
  item_id?: string | undefined;
}

const ASKS: ReadonlyMap<string, (state: CodexState, params: JsonObject) => Asked> = new Map<
  string,
  (state: CodexState, params: JsonObject) => Asked
>([
  ["item/commandExecution/requestApproval", askCommand],
  ["item/fileChange/requestApproval", askFileChange],
  ["item/permissions/requestApproval", askPermissions],
  ["item/tool/requestUserInput", askUserInput],
  ["mcpServer/elicitation/request", askElicitation],
  ["applyPatchApproval", askLegacyFileChange],
  ["execCommandApproval", askLegacyCommand],
]);

/** Nobody has to be asked: we have none of it. */
const REFUSED: ReadonlyMap<string, string> = new Map([
  ["item/tool/call", "blemeesd registers no dynamic tools"],
  ["account/chatgptAuthTokens/refresh", "blemeesd keeps no ChatGPT tokens; run `codex login`"],
  ["attestation/generate", "blemeesd cannot attest"],
  ["currentTime/read", "blemeesd serves no clock"],
]);

const METHOD_NOT_FOUND = -32601;

/** The answer to a refusal is a JSON-RPC error, which Codex takes as "no". */
export function toAsk(
  state: CodexState,
  request: ServerRequest,
): Ask | { refuse: { code: number; message: string } } | { reply: unknown } {
  const { id, method } = request;
  const asker = ASKS.get(method);
  if (asker === undefined) {
    const why = REFUSED.get(method) ?? `unknown request ${method}`;
    return { refuse: { code: METHOD_NOT_FOUND, message: why } };
  }
  const params = objectOf(request.params);
  const native_id = nativeIdOf(id);
  const { request_type, payload, item_id } = asker(state, params);
  state.asks.set(native_id, { id, native_id, method, params });
  const thread_id = textOf(params["threadId"]) ?? textOf(params["conversationId"]);
  const path = thread_id === undefined ? [] : pathOf(state, thread_id);
  return {
    native_id,
    request_type,
    payload,
    ...optional("thread_id", thread_id),
    ...optional("native_turn_id", textOf(params["turnId"])),
    ...optional("item_id", textOf(params["itemId"]) ?? textOf(params["callId"]) ?? item_id),
    ...(path.length > 0 ? { path } : {}),
  };
}

/** What is kept of a request that waits; undefined when it was answered or is over. */
export function pendingAsk(state: CodexState, native_id: string): PendingAsk | undefined {
  return state.asks.get(native_id);
}

/** The answer goes out: what Codex says about this request from now on is no news. */
export function noteAnswered(state: CodexState, native_id: string): void {
  state.asks.delete(native_id);
}

/** What a turn has asked and nobody has answered. */
export function asksOfTurn(state: CodexState, turnId: string): PendingAsk[] {
  return [...state.asks.values()].filter(({ params }) => params["turnId"] === turnId);
}

/** The turn is over, so nobody waits for what it asked, whether Codex says so or not. */
export function withdrawTurn(state: CodexState, turnId: string): Report[] {
  return asksOfTurn(state, turnId).map(({ native_id }) => {
    state.asks.delete(native_id);
    return { kind: "withdrawn", native_id, reason: "the turn has ended" };
  });
}

/** `serverRequest/resolved`, which Codex sends also for what we answered. */
export function withdraw(state: CodexState, id: unknown): Report[] {
  if (typeof id !== "string" && typeof id !== "number") return [];
  const native_id = nativeIdOf(id);
  if (!state.asks.delete(native_id)) return [];
  return [{ kind: "withdrawn", native_id, reason: "Codex waits for it no more" }];
}
