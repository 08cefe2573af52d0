// A provider that answers from a script, for the demo agent and tests. It streams word by word, like a real model.

import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { defined } from "../../../base/values.ts";
import type { ToolCall } from "../../messages.ts";
import type {
  ChatRequest,
  ChatResponse,
  ChatStreamEvent,
  Provider,
  ProviderFailure,
  StopReason,
} from "../types.ts";

export interface ScriptedReply {
  reasoning?: string;
  text?: string;
  toolCalls?: readonly { name: string; input: unknown }[];
  /** Reported after the text. */
  failure?: ProviderFailure;
  /** Delay between words. */
  paceMs?: number;
}

export interface ScriptedOptions {
  reply(request: ChatRequest): ScriptedReply;
}

export function createScriptedProvider(options: ScriptedOptions): Provider {
  return {
    id: "scripted",
    chat: (request) => {
      const reply = options.reply(request);
      return Promise.resolve(buildResponse(request, reply, reply.text ?? "", reply.failure));
    },
    stream: (request) => streamReply(request, options.reply(request)),
  };
}

async function* streamReply(request: ChatRequest, reply: ScriptedReply): AsyncIterable<ChatStreamEvent> {
  const { signal } = request;
  const { paceMs = 0 } = reply;
  for await (const text of splitWords(reply.reasoning, paceMs, signal))
    yield { type: "reasoning_delta", text };
  let said = "";
  for await (const text of splitWords(reply.text, paceMs, signal)) {
    said += text;
    yield { type: "text_delta", text };
  }
  const failure: ProviderFailure | undefined = signal.aborted
    ? { kind: "aborted", message: "the request was aborted" }
    : reply.failure;
  yield { type: "done", response: buildResponse(request, reply, said, failure) };
}

async function* splitWords(
  text: string | undefined,
  paceMs: number,
  signal: AbortSignal,
): AsyncIterable<string> {
  for (const word of text?.match(/\s*\S+\s*/g) ?? []) {
    if (paceMs > 0) await sleep(paceMs, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    yield word;
  }
}

function buildResponse(
  request: ChatRequest,
  reply: ScriptedReply,
  text: string,
  failure: ProviderFailure | undefined,
): ChatResponse {
  const wanted = failure === undefined ? (reply.toolCalls ?? []) : [];
  const toolCalls = wanted.map(({ name, input }): ToolCall => ({ id: `call_${randomUUID()}`, name, input }));
  return {
    message: { role: "assistant", content: text, ...(toolCalls.length === 0 ? {} : { toolCalls }) },
    toolCalls,
    stopReason: chooseStopReason(failure, toolCalls.length),
    usage: { inputTokens: countWords(request), outputTokens: text.match(/\S+/g)?.length ?? 0 },
    model: request.model,
    ...defined({ error: failure }),
    raw: reply,
  };
}

function chooseStopReason(failure: ProviderFailure | undefined, calls: number): StopReason {
  if (failure !== undefined) return failure.kind === "content_filter" ? "content_filter" : "error";
  return calls > 0 ? "tool_use" : "end_turn";
}

/** Counts words as tokens, so that usage is not empty. */
function countWords({ messages }: ChatRequest): number {
  const texts = messages.map(({ content }) => (typeof content === "string" ? content : ""));
  return texts.reduce((sum, text) => sum + (text.match(/\S+/g)?.length ?? 0), 0);
}
