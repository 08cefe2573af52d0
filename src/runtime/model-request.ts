// One model request: what it contains, the streamed answer and how it ended. Provider failures are results; only a bug
// throws.

import { toMessage } from "../base/coded-error.ts";
import { defined } from "../base/values.ts";
import { deriveContextPolicy } from "./context/budget.ts";
import { type CompiledContext, type ContextView, compileContext } from "./context/compact.ts";
import { estimateText } from "./context/estimate.ts";
import { writeSummary } from "./context/write-summary.ts";
import { SecretStream } from "./hooks/builtin/secret-stream.ts";
import { findFactsByName, findListed } from "./providers/models/available.ts";
import { computeCost, type ModelFacts, mergeFacts } from "./providers/models/facts.ts";
import {
  type ChatRequest,
  type ChatResponse,
  type NativeProvider,
  ProviderError,
  type ProviderFailure,
  type TokenUsage,
  type ToolSpec,
} from "./providers/types.ts";
import type { NativeServices } from "./services.ts";

export interface ModelMemory {
  /** The previous request; the next one starts with it. */
  view?: ContextView;
  /** Known limits of the current model. */
  room?: KnownRoom;
  /** Of a summary that the model wrote; not yet in the turn's total. */
  foldUsage?: TokenUsage;
}

interface KnownRoom {
  /** Provider and model. */
  of: string;
  /** From the vendor's list. */
  listed?: ModelFacts | undefined;
  list: "unread" | "cached" | "requested";
  learnedTokens?: number;
}

/** Shorter requests fit every model, so the vendor's model list is not fetched for them. */
const ASK_LIST_FROM_TOKENS = 6000;
const LIST_LIMIT_MS = 3000;
const SUMMARY_LIMIT_MS = 120_000;
/** Size limit after the provider rejected a request as too long. */
const AFTER_OVERFLOW = 0.7;

export async function askModel(
  services: NativeServices,
  turn: number,
  memory: ModelMemory,
  signal: AbortSignal,
): Promise<ChatResponse> {
  const { provider, config, emit } = services;
  const stream = config.streaming.enabled && provider.provider.stream !== undefined;
  const tools = toToolSpecs(services);
  const first = await compile(services, tools, memory, signal);
  const facts = findFacts(provider, memory.room);
  if (facts.tools === false && turn === 1 && tools.length > 0)
    emit({ type: "warning", message: `${provider.model} cannot call tools, so it can only answer` });
  const ask = (compiled: CompiledContext) => send(services, { turn, stream, tools, facts, compiled }, signal);
  const response = await ask(first);
  if (response.error?.kind !== "context_too_long" || (response.message.content ?? "") !== "") return response;
  const learnedTokens = Math.floor(first.estimatedTokens * AFTER_OVERFLOW);
  memory.room = { ...findRoom(services, memory), learnedTokens };
  delete memory.view;
  const second = await compile(services, tools, memory, signal);
  if (signal.aborted || second.estimatedTokens >= first.estimatedTokens) return response;
  emit({
    type: "warning",
    message: `${provider.key} rejected the conversation as too long for ${provider.model}; it was compacted and resent`,
  });
  return ask(second);
}

interface Sending {
  turn: number;
  stream: boolean;
  tools: readonly ToolSpec[];
  facts: ModelFacts;
  compiled: CompiledContext;
}

async function send(
  services: NativeServices,
  { turn, stream, tools, facts, compiled: { messages } }: Sending,
  signal: AbortSignal,
): Promise<ChatResponse> {
  const { provider, emit } = services;
  const offered = facts.tools === false ? [] : tools;
  emit({
    type: "model.request",
    turn,
    provider: provider.key,
    model: provider.model,
    messages: messages.length,
    tools: offered.length,
    stream,
  });
  const request = buildRequest(services, { messages, tools: offered, facts }, signal);
  try {
    const response = stream ? await streamAnswer(services, request) : await provider.provider.chat(request);
    return withCost(response, facts);
  } catch (error) {
    return toFailedResponse(toFailure(error, signal));
  }
}

function buildRequest(
  { provider, sessionId, emit }: NativeServices,
  { messages, tools, facts }: Pick<ChatRequest, "messages" | "tools"> & { facts: ModelFacts },
  signal: AbortSignal,
): ChatRequest {
  const { maxTokens, temperature, effort } = provider;
  return {
    messages,
    tools,
    model: provider.model,
    ...defined({ maxTokens, temperature, effort }),
    facts,
    signal,
    rootSessionId: sessionId,
    onWarning: (message) => emit({ type: "warning", message }),
    onRetry: (notice) => emit({ type: "provider.retry", provider: provider.key, ...notice }),
  };
}

/** The vendor's own figure takes precedence. */
function withCost(response: ChatResponse, { price }: ModelFacts): ChatResponse {
  const { usage } = response;
  if (usage === undefined || usage.costUsd !== undefined || price === undefined) return response;
  return { ...response, usage: { ...usage, costUsd: computeCost(usage, price) } };
}

async function compile(
  services: NativeServices,
  tools: readonly ToolSpec[],
  memory: ModelMemory,
  signal: AbortSignal,
): Promise<CompiledContext> {
  const { limits, provider, emit } = services;
  memory.room = await readCachedList(provider, findRoom(services, memory), signal);
  let compiled = previewContext(services, tools, memory);
  const isOpen = limits.context.maxContextTokens === undefined && provider.facts?.contextTokens === undefined;
  const sizeTokens = compiled.compacted?.beforeTokens ?? compiled.estimatedTokens;
  if (isOpen && memory.room.list !== "requested" && sizeTokens >= ASK_LIST_FROM_TOKENS) {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(LIST_LIMIT_MS)]);
    const models = await provider.provider.listModels?.({ signal: limit });
    memory.room = { ...memory.room, list: "requested", listed: findListed(models, provider.model) };
    compiled = previewContext(services, tools, memory);
  }
  if (compiled.compacted !== undefined && compiled.compacted.dropped > 0)
    compiled = { ...compiled, ...(await summarize(services, tools, memory, compiled, signal)) };
  memory.view = compiled.view;
  const { compacted, limitTokens, messages, estimatedTokens } = compiled;
  if (compacted !== undefined && compacted.dropped > 0)
    emit({ type: "context.compacted", ...compacted, manual: false });
  emit({ type: "context.compiled", estimatedTokens, messages: messages.length, limitTokens });
  return compiled;
}

/** The fold with the model's own summary; with the mechanical one if there is none. */
async function summarize(
  services: NativeServices,
  tools: readonly ToolSpec[],
  memory: ModelMemory,
  compiled: CompiledContext,
  signal: AbortSignal,
): Promise<CompiledContext> {
  const { limits, history, systemPrompt: system, provider, emit } = services;
  const { view } = memory;
  // Without a previous request there is none to continue.
  if (view === undefined || limits.context.compression !== "model") return compiled;
  const facts = findFacts(provider, memory.room);
  const limit = AbortSignal.any([signal, AbortSignal.timeout(SUMMARY_LIMIT_MS)]);
  const written = await writeSummary({
    ...{ system, history: history.messages, view, compiled },
    maxTokens: limits.context.summaryTargetTokens,
    ask: async (messages) =>
      withCost(
        await provider.provider.chat(buildRequest(services, { messages, tools, facts }, limit)),
        facts,
      ),
  });
  const { usage, model } = written.response ?? {};
  if (usage !== undefined) {
    emit({ type: "model.usage", ...usage, ...defined({ model }) });
    memory.foldUsage = usage;
  }
  if ("compiled" in written) return written.compiled;
  if (!signal.aborted) {
    const message = `${provider.model} did not summarize the conversation (${written.problem}); a summary by rule is used`;
    emit({ type: "warning", message });
  }
  return compiled;
}

/** The next request, as far as is known now. Changes nothing. */
export function previewContext(
  services: NativeServices,
  tools: readonly ToolSpec[],
  memory: ModelMemory,
): CompiledContext & { limitTokens: number } {
  const { limits, history, systemPrompt: system, provider } = services;
  const room = findRoom(services, memory);
  const { contextTokens: windowTokens, outputTokens } = findFacts(provider, room);
  const { maxTokens } = provider;
  const { learnedTokens } = room;
  const policy = deriveContextPolicy(limits.context, {
    windowTokens,
    maxTokens,
    outputTokens,
    learnedTokens,
  });
  const overheadTokens = estimateText(JSON.stringify(tools));
  const order = { system, history: history.messages, policy, overheadTokens, view: memory.view };
  return { ...compileContext(order), limitTokens: policy.maxContextTokens };
}

export function toToolSpecs({ tools }: Pick<NativeServices, "tools">): ToolSpec[] {
  return tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
}

/** Limits differ by model. */
function findRoom({ provider }: NativeServices, { room }: ModelMemory): KnownRoom {
  const of = JSON.stringify([provider.key, provider.model]);
  return room?.of === of ? room : { of, list: "unread" };
}

/** Costs no request, so even the first message of a conversation has limits and prices. */
async function readCachedList(
  { provider, model }: NativeProvider,
  room: KnownRoom,
  signal: AbortSignal,
): Promise<KnownRoom> {
  if (room.list !== "unread") return room;
  const models = await provider.listModels?.({ signal, isCachedOnly: true });
  return { ...room, list: "cached", listed: findListed(models, model) };
}

/** The configuration, the vendor's list, then what is known by name. */
function findFacts({ facts, type, model }: NativeProvider, room: KnownRoom | undefined): ModelFacts {
  return mergeFacts(facts, room?.listed, findFactsByName(type, model));
}

async function streamAnswer({ provider, emit }: NativeServices, request: ChatRequest): Promise<ChatResponse> {
  const events = provider.provider.stream?.(request) ?? [];
  const said = new SecretStream();
  const thought = new SecretStream();
  const tell = (type: "model.text.delta" | "model.reasoning.delta", text: string) => {
    if (text !== "") emit({ type, text });
  };
  try {
    for await (const event of events) {
      if (event.type === "reasoning_delta") tell("model.reasoning.delta", thought.push(event.text));
      else tell("model.reasoning.delta", thought.end());
      if (event.type === "text_delta") tell("model.text.delta", said.push(event.text));
      if (event.type === "done") return event.response;
    }
  } finally {
    // Also after a broken stream: buffered text may be the end of the answer.
    tell("model.reasoning.delta", thought.end());
    tell("model.text.delta", said.end());
  }
  return toFailedResponse({
    kind: "protocol",
    message: `${provider.key} ended its answer without a stop reason; try again`,
  });
}

function toFailure(error: unknown, signal: AbortSignal): ProviderFailure {
  if (signal.aborted) return { kind: "aborted", message: "the request was aborted" };
  if (error instanceof ProviderError) return error.failure;
  return { kind: "protocol", message: toMessage(error) };
}

function toFailedResponse(error: ProviderFailure): ChatResponse {
  return {
    message: { role: "assistant", content: null },
    toolCalls: [],
    stopReason: "error",
    error,
    raw: undefined,
  };
}
