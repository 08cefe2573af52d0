// One question to the model: what it is shown, its answer as it comes, and what became of it. It never throws for what
// a provider does; only a bug does.
import { messageOf } from "../base/coded-error.ts";
import { type ContextView, compileContext } from "./context/compact.ts";
import { estimateText } from "./context/estimate.ts";
import type { Message } from "./messages.ts";
import {
  type ChatRequest,
  type ChatResponse,
  ProviderError,
  type ProviderFailure,
  type ToolSpec,
} from "./providers/types.ts";
import type { NativeServices, Services } from "./services.ts";

export interface ModelMemory {
  /** What the last request showed: the next one begins with it. */
  view?: ContextView;
}

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
  const messages = compile(services, tools, memory);
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

function compile(services: Services, tools: readonly ToolSpec[], memory: ModelMemory): readonly Message[] {
  const { limits, history, systemPrompt, emit } = services;
  const policy = limits.context;
  const compiled = compileContext({
    system: systemPrompt,
    history: history.messages,
    policy,
    overheadTokens: estimateText(JSON.stringify(tools)),
    view: memory.view,
  });
  memory.view = compiled.view;
  const { compacted } = compiled;
  if (compacted !== undefined && compacted.dropped > 0)
    emit({ type: "context.compacted", ...compacted, manual: false });
  emit({
    type: "context.compiled",
    estimatedTokens: compiled.estimatedTokens,
    messages: compiled.messages.length,
    limitTokens: policy.maxContextTokens,
  });
  return compiled.messages;
}

async function streamed({ provider, emit }: NativeServices, request: ChatRequest): Promise<ChatResponse> {
  const events = provider.provider.stream?.(request) ?? [];
  for await (const event of events) {
    if (event.type === "done") return event.response;
    if (event.type === "text_delta") emit({ type: "model.text.delta", text: event.text });
    else if (event.type === "reasoning_delta") emit({ type: "model.reasoning.delta", text: event.text });
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
