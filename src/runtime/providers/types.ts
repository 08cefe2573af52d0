// The contract of a model provider: one request, one answer. The agent loop owns the history.
import type { ExternalRuntime } from "../external/types.ts";
import type { AssistantMessage, Message, ToolCall } from "../messages.ts";
import type { Effort } from "./effort.ts";
import type { ModelFacts } from "./models/facts.ts";
import type { ListModels } from "./models/list.ts";

export interface Provider {
  /** The type in the configuration: "openai-compatible", "anthropic", … */
  readonly id: string;
  /** Rejects with `ProviderError` only. */
  chat(request: ChatRequest): Promise<ChatResponse>;
  /**
   * May throw `ProviderError` before its first event, never after it: a broken connection or an abort ends the stream with
   * a `done` event that has the stop reason "error" and the text so far. `done` is emitted exactly once, last.
   */
  stream?(request: ChatRequest): AsyncIterable<ChatStreamEvent>;
  /** The models of the account. Absent: the vendor has no list. */
  listModels?: ListModels;
}

/** A tool as described to the model. */
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
  /** Absent: the vendor's default. */
  effort?: Effort;
  /** What is known about the model. */
  facts?: ModelFacts;
  signal: AbortSignal;
  /** The root session, also for sub-agents: the key of vendors' prompt caches. */
  rootSessionId?: string;
  /** Called before each wait (providers/retry.ts). */
  onRetry?(notice: RetryNotice): void;
  /** Called for problems that do not prevent an answer, such as a login that could not be saved. */
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
  /** The model that answered, if the provider reports it. */
  model?: string;
  /** With "error" and "content_filter". */
  error?: ProviderFailure;
  raw: unknown;
}

export interface TokenUsage {
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens?: number;
  cacheWriteTokens?: number;
  reasoningTokens?: number;
  /** As reported by the vendor, else computed from the model's price. */
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
  /** For users: what happened, where, and what to do. Contains no secrets. */
  message: string;
  status?: number;
  requestId?: string;
  retryAfterMs?: number;
  /** Lasts for hours; not retried. */
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

/** A provider that is ready to use. */
export type ResolvedProvider = NativeProvider | ExternalProvider;

interface Resolved {
  /** Its key in the configuration. */
  key: string;
  type: string;
  model: string;
  /** Chosen for the session, else configured. Absent: the vendor's default. */
  effort?: Effort;
}

/** A model, driven by our loop, tools and history. */
export interface NativeProvider extends Resolved {
  provider: Provider;
  /** As configured for this model. */
  facts?: ModelFacts;
  maxTokens?: number;
  temperature?: number;
}

/** An agent with its own loop and tools (external/types.ts). */
export interface ExternalProvider extends Resolved {
  external: ExternalRuntime;
}

export function isExternal(provider: ResolvedProvider): provider is ExternalProvider {
  return "external" in provider;
}
