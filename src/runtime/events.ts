// The events of the runtime, as the client and the transcript get them, in this order and shape.
import type { Decision } from "./permissions/types.ts";
import type { ProviderFailure, RetryNotice, StopReason, TokenUsage } from "./providers/types.ts";
import type { PlanStep } from "./tools/todo.ts";
import type { ToolResultMetadata } from "./tools/types.ts";
import type { FileChange } from "./workspace/types.ts";

/** The agent that caused an event, in multi-agent mode. The main agent's invocation is `main`. */
export interface InvocationFields {
  rootSessionId?: string;
  agentSessionId?: string;
  invocationId?: string;
  parentInvocationId?: string;
  /** The `delegate_agent` call it belongs to. */
  parentCallId?: string;
  /** Agent names from below the main agent down to this one; absent for the main agent. */
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
  /** The state of an MCP server, or what it offers (`DemianSession.mcp`). Not in transcripts. */
  | { type: "mcp.changed" }
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
  | ({ type: "tool.requested"; callId: string; name: string; input: unknown } & Executed)
  | ({
      type: "tool.started";
      callId: string;
      name: string;
      input: unknown;
      title: string;
      sandbox?: string;
      changes?: readonly FileChange[];
    } & Executed)
  | { type: "tool.output"; callId: string; text: string }
  | ({
      type: "tool.completed";
      callId: string;
      name: string;
      ok: true;
      preview: string;
      content: string;
      durationMs: number;
      metadata?: ToolResultMetadata;
    } & Executed)
  | ({
      type: "tool.failed";
      callId: string;
      name: string;
      ok: false;
      reason: ToolFailure;
      preview: string;
      content: string;
      durationMs: number;
      metadata?: ToolResultMetadata;
    } & Executed)
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
  | ({ type: "agent.invocation.requested"; task: string } & Invocation)
  | ({
      type: "agent.invocation.started";
      provider: string;
      model: string;
      depth: number;
      handoffTokens: number;
    } & Invocation)
  /** What the sub-agent can see of what it could have. */
  | ({ type: "agent.invocation.tool_policy.applied"; tools: string[] } & Invocation)
  | ({
      type: "agent.session.context_compacted";
      beforeTokens: number;
      afterTokens: number;
      dropped: number;
      kept: number;
    } & Invocation)
  | ({ type: "agent.session.memory_updated"; invocations: number; tokens: number } & Invocation)
  | ({
      type: "agent.invocation.completed";
      preview: string;
      turns: number;
      usage: TokenUsage;
      durationMs: number;
      resultTokens: number;
    } & Invocation)
  | ({
      type: "agent.invocation.failed";
      reason: string;
      turns: number;
      usage: TokenUsage;
      durationMs: number;
    } & Invocation)
  | ({
      type: "agent.invocation.cancelled";
      reason: string;
      turns: number;
      usage: TokenUsage;
      durationMs: number;
    } & Invocation)
  /** An agent of its own (Claude Code) starts a new session, because the old one no longer fits. */
  | { type: "session.context.split"; executor: string; reason: string; message: string }
  /** A background command has ended. */
  | { type: "job.ended"; job: number; command: string; end: string }
  /** The agent's list of steps; it replaces the last one. */
  | { type: "plan.updated"; steps: readonly PlanStep[] }
  | { type: "warning"; message: string };

/** The `delegate_agent` call the event is about. */
interface Invocation {
  callId: string;
  targetAgent: string;
}

/** The external runtime whose tool ran; absent for our own tools. */
interface Executed {
  executor?: string;
  /** "claudecode.Bash" */
  qualifiedName?: string;
}

/** Why a tool call failed. */
export type ToolFailure = "unknown_tool" | "invalid_input" | "blocked" | "denied" | "aborted" | "failed";

/** How a user message ended. */
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
