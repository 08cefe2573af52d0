// What the runtime tells while it works: to its face, and to the transcript, in this order and this shape.

import type { Decision } from "./permissions/types.ts";
import type { ProviderFailure, RetryNotice, StopReason, TokenUsage } from "./providers/types.ts";
import type { ToolResultMetadata } from "./tools/types.ts";
import type { FileChange } from "./workspace/types.ts";

/** Who did it, where agents delegate. */
export interface InvocationFields {
  rootSessionId?: string;
  agentSessionId?: string;
  invocationId?: string;
  parentInvocationId?: string;
  agentPath?: string[];
}

export type EventBody =
  | {
      type: "session.started";
      agent: string;
      provider: string;
      model: string;
      cwd: string;
      mode: string;
      sandbox: string;
      resumed?: boolean;
    }
  | { type: "session.ended"; reason: "completed" | "aborted" | "failed" | "closed" }
  | { type: "user.message"; text: string; images?: number }
  | {
      type: "model.request";
      turn: number;
      provider: string;
      model: string;
      messages: number;
      tools: number;
      stream: boolean;
    }
  | { type: "model.text.delta"; text: string }
  | { type: "model.reasoning.delta"; text: string }
  | { type: "model.text"; text: string; final: boolean }
  | ({ type: "model.usage"; model?: string } & TokenUsage)
  | { type: "model.content_filter"; message: string }
  | { type: "model.failed"; failure: ProviderFailure }
  | { type: "context.compiled"; estimatedTokens: number; messages: number; limitTokens: number }
  | {
      type: "context.compacted";
      beforeTokens: number;
      afterTokens: number;
      dropped: number;
      kept: number;
      summaryTokens: number;
      manual: boolean;
    }
  | ({ type: "provider.retry"; provider: string } & RetryNotice)
  | { type: "tool.requested"; callId: string; name: string; input: unknown }
  | {
      type: "tool.started";
      callId: string;
      name: string;
      input: unknown;
      title: string;
      sandbox?: string;
      changes?: readonly FileChange[];
    }
  | { type: "tool.output"; callId: string; text: string }
  | {
      type: "tool.completed";
      callId: string;
      name: string;
      ok: true;
      preview: string;
      content: string;
      durationMs: number;
      metadata?: ToolResultMetadata;
    }
  | {
      type: "tool.failed";
      callId: string;
      name: string;
      ok: false;
      reason: ToolFailure;
      preview: string;
      content: string;
      durationMs: number;
      metadata?: ToolResultMetadata;
    }
  | { type: "hook.fired"; hook: string; event: string; decision: string; message?: string; callId?: string }
  | { type: "hook.failed"; hook: string; event: string; message: string; blocked: boolean; callId?: string }
  | {
      type: "permission.requested";
      callId: string;
      targetType: "tool" | "agent";
      targetName: string;
      title: string;
      decision: Decision;
      always?: string;
    }
  | {
      type: "permission.granted";
      callId: string;
      targetType: "tool" | "agent";
      targetName: string;
      by: string;
      always: boolean;
    }
  | {
      type: "permission.denied";
      callId: string;
      targetType: "tool" | "agent";
      targetName: string;
      by: string;
      reason?: string;
    }
  | {
      type: "turn.ended";
      outcome: TurnEnd;
      turns: number;
      stopReason?: StopReason;
      usage?: TokenUsage;
      failure?: ProviderFailure;
    }
  | { type: "warning"; message: string };

/** Why a tool call did not succeed. */
export type ToolFailure = "unknown_tool" | "invalid_input" | "blocked" | "denied" | "aborted" | "failed";

/** How a user message was dealt with. */
export type TurnEnd =
  | "completed"
  | "max_turns"
  | "max_tokens"
  | "content_filter"
  | "aborted"
  | "failed"
  | "blocked"
  | "denied";

export type RuntimeEvent = EventBody & InvocationFields & { sessionId: string; agent: string; ts: number };
