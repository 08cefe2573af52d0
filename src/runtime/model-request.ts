// One question to the model: what it is shown, its answer as it comes, and what became of it. It never throws for what
// a provider does; only a bug does.
import { messageOf } from "../base/coded-error.ts";
import { contextPolicy } from "./context/budget.ts";
import { type CompiledContext, type ContextView, compileContext } from "./context/compact.ts";
import { estimateText } from "./context/estimate.ts";
import { SecretStream } from "./hooks/builtin/secret-stream.ts";
import { windowByName } from "./providers/context-window.ts";
import {
  type ChatRequest,
  type ChatResponse,
  ProviderError,
  type ProviderFailure,
  type ToolSpec,
} from "./providers/types.ts";
import type { NativeServices } from "./services.ts";

export interface ModelMemory {
  /** What the last request showed: the next one begins with it. */
  view?: ContextView;
  /** What is known of the model that is asked. */
  room?: KnownRoom;
}

interface KnownRoom {
  /** Provider and model. */
  of: string;
  listedTokens?: number | undefined;
  isListAsked: boolean;
  learnedTokens?: number;
}

/** Shorter requests fit every model: its vendor's list is not asked for them. */
const ASK_LIST_FROM_TOKENS = 6000;
const LIST_LIMIT_MS = 3000;
/** What a request may have, of one that the provider found too long. */
const AFTER_OVERFLOW = 0.7;

export async function askModel(
  services: NativeServices,
  turn: number,
  memory: ModelMemory,
  signal: AbortSignal,
): Promise<ChatResponse> {
  const { provider, config, emit } = services;
  const stream = config.streaming.enabled && provider.provider.stream !== undefined;
  const tools = services.tools.map(({ name, description, inputSchema }) => ({
    name,
    description,
    inputSchema,
  }));
  const first = await compile(services, tools, memory, signal);
  const ask = (compiled: CompiledContext) => send(services, { turn, stream, tools, compiled }, signal);
  const response = await ask(first);
  if (response.error?.kind !== "context_too_long" || (response.message.content ?? "") !== "") return response;
  const learnedTokens = Math.floor(first.estimatedTokens * AFTER_OVERFLOW);
  memory.room = { ...roomOf(services, memory), learnedTokens };
  delete memory.view;
  const second = await compile(services, tools, memory, signal);
  if (signal.aborted || second.estimatedTokens >= first.estimatedTokens) return response;
  emit({
    type: "warning",
    message: `${provider.key} rejected the conversation as too long for ${provider.model}; it was compacted and sent again`,
  });
  return ask(second);
}

interface Sending {
  turn: number;
  stream: boolean;
  tools: readonly ToolSpec[];
  compiled: CompiledContext;
}

async function send(
  services: NativeServices,
  { turn, stream, tools, compiled: { messages } }: Sending,
  signal: AbortSignal,
): Promise<ChatResponse> {
  const { provider, emit } = services;
  emit({
    type: "model.request",
    turn,
    provider: provider.key,
    model: provider.model,
    messages: messages.length,
    tools: tools.length,
    stream,
  });
  const request: ChatRequest = {
    messages,
    tools,
    model: provider.model,
    ...(provider.maxTokens === undefined ? {} : { maxTokens: provider.maxTokens }),
    ...(provider.temperature === undefined ? {} : { temperature: provider.temperature }),
    signal,
    rootSessionId: services.sessionId,
    onWarning: (message) => emit({ type: "warning", message }),
    onRetry: (notice) => emit({ type: "provider.retry", provider: provider.key, ...notice }),
  };
  try {
    return stream ? await streamed(services, request) : await provider.provider.chat(request);
  } catch (error) {
    return failed(failureOf(error, signal));
  }
}

async function compile(
  services: NativeServices,
  tools: readonly ToolSpec[],
  memory: ModelMemory,
  signal: AbortSignal,
): Promise<CompiledContext> {
  const { limits, history, systemPrompt, provider, emit } = services;
  const overheadTokens = estimateText(JSON.stringify(tools));
  memory.room = roomOf(services, memory);
  const compileWith = (room: KnownRoom): CompiledContext & { limitTokens: number } => {
    const windowTokens = provider.contextTokens ?? room.listedTokens ?? windowByName(provider.model);
    const { maxTokens } = provider;
    const policy = contextPolicy(limits.context, {
      windowTokens,
      maxTokens,
      learnedTokens: room.learnedTokens,
    });
    const order = { system: systemPrompt, history: history.messages, policy, overheadTokens };
    return { ...compileContext({ ...order, view: memory.view }), limitTokens: policy.maxContextTokens };
  };
  let compiled = compileWith(memory.room);
  const isOpen = limits.context.maxContextTokens === undefined && provider.contextTokens === undefined;
  const sizeTokens = compiled.compacted?.beforeTokens ?? compiled.estimatedTokens;
  if (isOpen && !memory.room.isListAsked && sizeTokens >= ASK_LIST_FROM_TOKENS) {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(LIST_LIMIT_MS)]);
    const listedTokens = await provider.provider.contextTokens?.(provider.model, limit);
    memory.room = { ...memory.room, isListAsked: true, listedTokens };
    compiled = compileWith(memory.room);
  }
  memory.view = compiled.view;
  const { compacted, limitTokens, messages, estimatedTokens } = compiled;
  if (compacted !== undefined && compacted.dropped > 0)
    emit({ type: "context.compacted", ...compacted, manual: false });
  emit({ type: "context.compiled", estimatedTokens, messages: messages.length, limitTokens });
  return compiled;
}

/** Another model is another room. */
function roomOf({ provider }: NativeServices, { room }: ModelMemory): KnownRoom {
  const of = JSON.stringify([provider.key, provider.model]);
  return room?.of === of ? room : { of, isListAsked: false };
}

async function streamed({ provider, emit }: NativeServices, request: ChatRequest): Promise<ChatResponse> {
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
    // Also of an answer that broke off: what is held back may be its last words.
    tell("model.reasoning.delta", thought.end());
    tell("model.text.delta", said.end());
  }
  return failed({
    kind: "protocol",
    message: `${provider.key} ended its answer without saying so; try again`,
  });
}

function failureOf(error: unknown, signal: AbortSignal): ProviderFailure {
  if (signal.aborted) return { kind: "aborted", message: "the request was aborted" };
  if (error instanceof ProviderError) return error.failure;
  return { kind: "protocol", message: messageOf(error) };
}

function failed(error: ProviderFailure): ChatResponse {
  return {
    message: { role: "assistant", content: null },
    toolCalls: [],
    stopReason: "error",
    error,
    raw: undefined,
  };
}
