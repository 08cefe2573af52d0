// What a model provider is. One request, one answer; the history and what is kept of it belong to the loop.
import type { ExternalRuntime } from "../external/types.ts";
import type { AssistantMessage, Message, ToolCall } from "../messages.ts";

export interface Provider {
  /** The type in the configuration: "openai-compatible", "anthropic", … */
  readonly id: string;
  /** Rejects with `ProviderError` only. */
  chat(request: ChatRequest): Promise<ChatResponse>;
  /**
   * May reject with `ProviderError` before its first event. From then on it never throws: a connection that breaks in
   * the middle, or an abort, ends with `done` whose `stopReason` is "error" and which carries the text so far.
   * `done` comes exactly once and last.
   */
  stream?(request: ChatRequest): AsyncIterable<ChatStreamEvent>;
  /** What the vendor's list says that the model takes. Never rejects. */
  contextTokens?(model: string, signal: AbortSignal): Promise<number | undefined>;
}

/** A tool as the model is told of it. */
export interface ToolSpec {
  name: string;
  description: string;
  inputSchema: Record<string, unknown>;
}

export interface ChatRequest {
  messages: readonly Message[];
  tools: readonly ToolSpec[];
  model: string;
  maxTokens?: number;
  temperature?: number;
  signal: AbortSignal;
  /** The session that all of it belongs to, sub-agents as well: what vendors' caches go by. */
  rootSessionId?: string;
  /** Told before each wait; where the retries are is providers/retry.ts. */
  onRetry?(notice: RetryNotice): void;
  /** Told what a person should know though the answer comes: a login that could not be kept. */
  onWarning?(message: string): void;
}

export interface RetryNotice {
  /** 1 for the first retry. */
  attempt: number;
  maxAttempts: number;
  delayMs: number;
  reason: string;
  status?: number;
}

export const STOP_REASONS = ["end_turn", "tool_use", "max_tokens", "content_filter", "error"] as const;
export type StopReason = (typeof STOP_REASONS)[number];

export interface ChatResponse {
  message: AssistantMessage;
  /** `stopReason` is "tool_use" exactly when there are any. */
  toolCalls: ToolCall[];
  stopReason: StopReason;
  usage?: TokenUsage;
  /** The model that answered, where the provider says so. */
  model?: string;
  /** With "error" and "content_filter": what the provider said. */
  error?: ProviderFailure;
  raw: unknown;
}

export interface TokenUsage {
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens?: number;
  cacheWriteTokens?: number;
  reasoningTokens?: number;
  /** What the vendor says it cost. */
  costUsd?: number;
}

export type ChatStreamEvent =
  | { type: "text_delta"; text: string }
  | { type: "reasoning_delta"; text: string }
  | { type: "tool_call_delta"; index: number; id?: string; name?: string; arguments?: string }
  | { type: "done"; response: ChatResponse };

export type ProviderFailureKind =
  | "auth"
  | "rate_limit"
  | "overloaded"
  | "server"
  | "network"
  | "bad_request"
  | "not_found"
  | "context_too_long"
  | "content_filter"
  | "protocol"
  | "aborted";

export interface ProviderFailure {
  kind: ProviderFailureKind;
  /** For people: what happened, where, and what to do. Holds no key. */
  message: string;
  status?: number;
  requestId?: string;
  retryAfterMs?: number;
  /** It lasts for hours: it is not tried again. */
  isLasting?: true;
}

export class ProviderError extends Error {
  readonly failure: ProviderFailure;

  constructor(failure: ProviderFailure, cause?: unknown) {
    super(failure.message, cause === undefined ? undefined : { cause });
    this.name = "ProviderError";
    this.failure = failure;
  }
}

/** A provider that is ready to be asked. */
export type ResolvedProvider = NativeProvider | ExternalProvider;

interface Resolved {
  /** Its key in the configuration. */
  key: string;
  type: string;
  model: string;
}

/** A model: the loop, the tools and the history are ours. */
export interface NativeProvider extends Resolved {
  provider: Provider;
  /** What the model takes, as configured. */
  contextTokens?: number;
  maxTokens?: number;
  temperature?: number;
}

/** An agent of its own, with its own loop and tools (external/types.ts). */
export interface ExternalProvider extends Resolved {
  external: ExternalRuntime;
}

export function isExternal(provider: ResolvedProvider): provider is ExternalProvider {
  return "external" in provider;
}
