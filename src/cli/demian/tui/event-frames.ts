// Runtime events as the agent.* frames that every screen knows (docs/agent-events.md): as blemeesd would tell them of
// demian. One translator a session, because calls and messages need names that do not come again.
import type { WireFrame } from "../../../client/frames.ts";
import type { RequestRow } from "../../../protocol/requests.ts";
import type { Usage } from "../../../protocol/usage.ts";
import type { RuntimeEvent } from "../../../runtime/events.ts";
import type { TokenUsage } from "../../../runtime/providers/types.ts";
import type { TurnReport } from "../../../runtime/session-types.ts";
import { eventWords } from "../event-words.ts";
import { spentText } from "../spent.ts";
import { CallNames } from "./call-names.ts";
import { changesOf } from "./changes.ts";
import { Speeches } from "./speeches.ts";

export const BACKEND = "demian";

type Of<T extends RuntimeEvent["type"]> = Extract<RuntimeEvent, { type: T }>;
type InvocationEnd = Of<
  "agent.invocation.completed" | "agent.invocation.failed" | "agent.invocation.cancelled"
>;

const ENDS = {
  "agent.invocation.completed": "success",
  "agent.invocation.failed": "error",
  "agent.invocation.cancelled": "interrupted",
} as const;

export class EventFrames {
  readonly #calls = new CallNames();
  readonly #speeches = new Speeches();

  /** The name that the newest call with this id of the model has on the screen. */
  nameOf(callId: string): string {
    return this.#calls.newest(callId);
  }

  /** A request as it stands now. What was asked is told once. */
  request(row: RequestRow): WireFrame {
    const { payload: _payload, ...settled } = row;
    const data = { request: row.status === "pending" ? row : settled };
    const parent = row.item_id === undefined ? undefined : this.#calls.above(row.item_id);
    return {
      ...notice("info", `request_${row.status}`, { data }),
      backend: BACKEND,
      ...(parent === undefined ? {} : { parent_tool_use_id: parent }),
    };
  }

  translate(event: RuntimeEvent): WireFrame[] {
    const parent = this.#calls.parentOf(event);
    return this.#frames(event).map((frame) => ({
      ...frame,
      backend: BACKEND,
      ...(parent === undefined ? {} : { parent_tool_use_id: parent }),
    }));
  }

  #frames(event: RuntimeEvent): WireFrame[] {
    switch (event.type) {
      case "session.started":
        return [introduction(event)];
      case "user.message":
        // The task of a sub-agent stands in the call that started it.
        return this.#calls.parentOf(event) === undefined ? [echo(event)] : [];
      case "model.request":
        this.#speeches.restart(event);
        return [];
      case "model.text.delta":
        return [{ type: "agent.delta", kind: "text", ...this.#speeches.say(event) }];
      case "model.reasoning.delta":
        return [{ type: "agent.delta", kind: "thinking", ...this.#speeches.think(event) }];
      case "model.text":
        return this.#message(event);
      case "context.compiled":
        return this.#calls.parentOf(event) === undefined ? [contextUsage(event)] : [];
      case "tool.requested":
        return [this.#toolUse(event)];
      case "tool.started":
        return this.#toolStarted(event);
      case "tool.output":
        return [
          notice("info", "acp_output_delta", {
            data: { tool_use_id: this.#calls.nameOf(event), text: event.text },
          }),
        ];
      case "tool.completed":
      case "tool.failed":
        return [this.#toolResult(event)];
      case "agent.invocation.started":
        return [invocationStarted(event)];
      case "agent.invocation.completed":
      case "agent.invocation.failed":
      case "agent.invocation.cancelled":
        return [invocationEnded(event)];
      case "agent.session.context_compacted":
        return [notice("info", "demian_context_compacted", { text: `${event.targetAgent} was compacted` })];
      default:
        return this.#words(event);
    }
  }

  /** What is neither talk nor a tool; with a retry the answer begins again. */
  #words(event: RuntimeEvent): WireFrame[] {
    if (event.type === "provider.retry") this.#speeches.restart(event);
    // Who said no here knows it, and so does the end of a turn that was stopped.
    if (event.type === "permission.denied" && (event.by === "user" || event.by === "abort")) return [];
    const said = eventWords(event);
    if (said === undefined) return [];
    return [notice(said.level, `demian_${event.type.replaceAll(".", "_")}`, { text: said.text })];
  }

  #message(event: Of<"model.text">): WireFrame[] {
    const message_id = this.#speeches.end(event);
    if (message_id === undefined) return [];
    return [
      {
        type: "agent.message",
        role: "assistant",
        content: [{ type: "text", text: event.text }],
        message_id,
        ...(event.final ? { phase: "final_answer" } : {}),
      },
    ];
  }

  #toolUse(event: Of<"tool.requested"> | Of<"tool.started">): WireFrame {
    const { name, input } = event;
    return { type: "agent.tool_use", tool_use_id: this.#calls.begin(event), name, input };
  }

  /** By now it is known what it will change. */
  #toolStarted(event: Of<"tool.started">): WireFrame[] {
    const before = this.#calls.isOpen(event) ? [] : [this.#toolUse(event)];
    const changes = changesOf(event.changes ?? []);
    if (changes.length === 0) return before;
    const { name, input } = event;
    const data = { tool_use_id: this.#calls.nameOf(event), name, input: { ...objectOf(input), changes } };
    return [...before, notice("info", "acp_tool_input", { data })];
  }

  #toolResult(event: Of<"tool.completed"> | Of<"tool.failed">): WireFrame {
    const tool_use_id = this.#calls.end(event);
    return { type: "agent.tool_result", tool_use_id, output: event.content, is_error: !event.ok };
  }
}

/** A turn begins. */
export function turnStarted(turn_id: string, started_at_ms: number): WireFrame {
  return { ...notice("info", "task_started", { data: { turn_id, started_at_ms } }), backend: BACKEND };
}

/** A turn is over: why, where that is not plain, and what it took. */
export function turnEnded(report: TurnReport, turn_id: string, duration_ms: number): WireFrame[] {
  const { outcome, turns, usage, message } = report;
  const { costUsd } = usage;
  const cut =
    outcome === "max_tokens" || outcome === "content_filter"
      ? [notice("warn", "demian_stop_reason", { text: message ?? outcome })]
      : [];
  const isFailed = outcome === "failed" || outcome === "blocked" || outcome === "denied";
  return [
    ...cut.map((frame) => ({ ...frame, backend: BACKEND })),
    {
      type: "agent.result",
      backend: BACKEND,
      subtype: subtypeOf(outcome),
      turn_id,
      duration_ms,
      num_turns: turns,
      usage: usageOf(usage),
      ...(costUsd === undefined ? {} : { cost_usd: costUsd }),
      ...(isFailed ? { error: { code: outcome, message: message ?? outcome } } : {}),
    },
  ];
}

export function usageOf(usage: TokenUsage): Usage {
  const { cacheReadTokens, cacheWriteTokens, reasoningTokens } = usage;
  return {
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    ...(cacheReadTokens === undefined ? {} : { cache_read_input_tokens: cacheReadTokens }),
    ...(cacheWriteTokens === undefined ? {} : { cache_creation_input_tokens: cacheWriteTokens }),
    ...(reasoningTokens === undefined ? {} : { reasoning_output_tokens: reasoningTokens }),
  };
}

function subtypeOf(outcome: TurnReport["outcome"]): string {
  if (outcome === "aborted") return "interrupted";
  if (outcome === "max_turns") return "max_turns";
  return outcome === "failed" || outcome === "blocked" || outcome === "denied" ? "error" : "success";
}

function introduction({ agent, provider, model, cwd, mode, sandbox }: Of<"session.started">): WireFrame {
  return { type: "agent.system_init", model, cwd, capabilities: { agent, provider, mode, sandbox } };
}

function echo({ text, images = 0 }: Of<"user.message">): WireFrame {
  const pictures = Array.from({ length: images }, () => ({ type: "image" }));
  const content = images === 0 ? text : [{ type: "text", text }, ...pictures];
  return { type: "agent.user_echo", message: { role: "user", content } };
}

function contextUsage({ estimatedTokens, limitTokens }: Of<"context.compiled">): WireFrame {
  const data = { used_tokens: estimatedTokens, context_window: limitTokens };
  return notice("info", "context_usage", { data });
}

function invocationStarted(event: Of<"agent.invocation.started">): WireFrame {
  const { targetAgent: agent, provider, model, depth, handoffTokens, agentPath } = event;
  const path = agentPath ?? [agent];
  const data = { path, agent, provider, model, depth, handoff_tokens: handoffTokens };
  return notice("info", "subagent_started", { text: `${path.join(" › ")}: ${provider}/${model}`, data });
}

function invocationEnded(event: InvocationEnd): WireFrame {
  const { targetAgent: agent, agentPath, turns, durationMs, usage } = event;
  const subtype = ENDS[event.type];
  const path = agentPath ?? [agent];
  const reason = "reason" in event ? event.reason : undefined;
  const data = {
    path,
    agent,
    subtype,
    num_turns: turns,
    duration_ms: durationMs,
    usage: usageOf(usage),
    ...(reason === undefined ? {} : { reason }),
    ...(usage.costUsd === undefined ? {} : { cost_usd: usage.costUsd }),
  };
  const how = [`${path.join(" › ")}: ${subtype}`, ...(reason === undefined ? [] : [reason])].join(": ");
  const text = `${how} (${spentText(event)})`;
  return notice(subtype === "error" ? "error" : "info", "subagent_finished", { text, data });
}

function notice(
  level: "info" | "warn" | "error",
  category: string,
  rest: { text?: string; data?: Readonly<Record<string, unknown>> },
): WireFrame {
  return { type: "agent.notice", level, category, ...rest };
}

function objectOf(value: unknown): object {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : { input: value };
}
