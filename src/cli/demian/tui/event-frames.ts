// Runtime events as the agent.* frames that every screen knows (docs/agent-events.md): as blemeesd would tell them of
// demian. One translator a session, because calls and messages need names that do not come again.
import { sanitizeLine } from "../../../base/sanitize.ts";
import type { WireFrame } from "../../../client/frames.ts";
import { failureCode } from "../../../protocol/failures.ts";
import {
  type NoticeCategory,
  type NoticeData,
  type NoticeParts,
  toNotice,
  type UnknownCategory,
} from "../../../protocol/notices.ts";
import type { RequestRow } from "../../../protocol/requests.ts";
import type { Usage } from "../../../protocol/usage.ts";
import type { RuntimeEvent } from "../../../runtime/events.ts";
import type { TokenUsage } from "../../../runtime/providers/types.ts";
import type { TurnReport } from "../../../runtime/session-types.ts";
import { eventWords, type Words } from "../event-words.ts";
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
      ...notice(`request_${row.status}`, { data }),
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
          notice("tool_output", { data: { tool_use_id: this.#calls.nameOf(event), text: event.text } }),
        ];
      case "tool.completed":
      case "tool.failed":
        return [this.#toolResult(event)];
      case "agent.invocation.started":
        return [invocationStarted(event, this.#calls.parentOf(event))];
      case "agent.invocation.completed":
      case "agent.invocation.failed":
      case "agent.invocation.cancelled":
        return [invocationEnded(event, this.#calls.parentOf(event))];
      case "agent.session.context_compacted":
        return [compacted(event, `${event.targetAgent} was compacted`)];
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
    return [toldAs(event, said)];
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
    return [...before, notice("tool_input", { data })];
  }

  #toolResult(event: Of<"tool.completed"> | Of<"tool.failed">): WireFrame {
    const tool_use_id = this.#calls.end(event);
    return { type: "agent.tool_result", tool_use_id, output: event.content, is_error: !event.ok };
  }
}

/** A turn begins. */
export function turnStarted(turn_id: string, started_at_ms: number): WireFrame {
  return { ...notice("task_started", { data: { turn_id, started_at_ms } }), backend: BACKEND };
}

/** A turn is over: why, where that is not plain, and what it took. */
export function turnEnded(report: TurnReport, turn_id: string, duration_ms: number): WireFrame[] {
  const { outcome, turns, usage, message } = report;
  const { costUsd } = usage;
  const cut =
    outcome === "max_tokens" || outcome === "content_filter"
      ? [notice("stop_reason", { level: "warn", text: message ?? outcome, data: { stop_reason: outcome } })]
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
      ...(isFailed ? { error: errorOf(report) } : {}),
    },
  ];
}

function errorOf({ outcome, failure, message = outcome }: TurnReport): object {
  const { kind, status, retryAfterMs } = failure ?? {};
  return {
    code: failureCode({ names: [kind], status, words: message }),
    native_code: kind ?? outcome,
    message,
    ...(retryAfterMs === undefined ? {} : { retry_after_ms: retryAfterMs }),
  };
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
  return notice("context_usage", { data });
}

function invocationStarted(event: Of<"agent.invocation.started">, call: string | undefined): WireFrame {
  const { targetAgent: agent, provider, model, depth, handoffTokens, agentPath } = event;
  const path = agentPath ?? [agent];
  const started = { path, agent, provider, model, depth, handoff_tokens: handoffTokens };
  const data = call === undefined ? started : { tool_use_id: call, ...started };
  return notice("subagent_started", { text: `${path.join(" › ")}: ${provider}/${model}`, data });
}

function invocationEnded(event: InvocationEnd, call: string | undefined): WireFrame {
  const { targetAgent: agent, agentPath, turns, durationMs, usage } = event;
  const subtype = ENDS[event.type];
  const path = agentPath ?? [agent];
  const reason = "reason" in event ? event.reason : undefined;
  const data = {
    ...(call === undefined ? {} : { tool_use_id: call }),
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
  return notice("subagent_finished", { level: subtype === "error" ? "error" : "info", text, data });
}

/** What other agents report too has the same word; the rest goes by the runtime's own name. */
function toldAs(event: RuntimeEvent, { level, text }: Words): WireFrame {
  switch (event.type) {
    case "provider.retry":
      return notice("model_retry", { level, text, data: retryOf(event) });
    case "context.compacted":
      return compacted(event, text);
    case "permission.denied": {
      const { targetName: tool_name, by, reason } = event;
      const data = { tool_name, by, ...(reason === undefined ? {} : { reason }) };
      return notice("permission_denied", { level, text, data });
    }
    case "warning":
      return notice("agent_notice", { level, text });
    default:
      return notice(`demian_${event.type.replaceAll(".", "_")}`, { level, text });
  }
}

function retryOf(event: Of<"provider.retry">): NoticeData<"model_retry"> {
  const { provider, reason, status, attempt, maxAttempts, delayMs } = event;
  return {
    code: failureCode({ status, words: reason }),
    ...(status === undefined ? {} : { http_status: status }),
    attempt,
    max_attempts: maxAttempts,
    retry_after_ms: delayMs,
    details: sanitizeLine(reason),
    native: { provider },
  };
}

function compacted(
  event: Of<"context.compacted"> | Of<"agent.session.context_compacted">,
  text: string,
): WireFrame {
  const { beforeTokens: before_tokens, afterTokens: after_tokens } = event;
  return notice("compacted", { text, data: { before_tokens, after_tokens } });
}

/** The screen knows which agent this is: `translate` adds it. */
function notice<C extends NoticeCategory | UnknownCategory>(category: C, parts: NoticeParts<C>): WireFrame {
  const { backend: _backend, ...frame } = toNotice(BACKEND, category, parts);
  return frame;
}

function objectOf(value: unknown): object {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : { input: value };
}
