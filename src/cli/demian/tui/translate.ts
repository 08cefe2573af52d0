// Translates runtime events into agent events (docs/agent-events.md). One translator per session, because call and
// message ids must be unique.

import { sanitizeLine } from "../../../base/sanitize.ts";
import { defined } from "../../../base/values.ts";
import type { AgentEvent, ResultEvent } from "../../../protocol/events.ts";
import { toFailureCode } from "../../../protocol/failures.ts";
import {
  type NoticeCategory,
  type NoticeData,
  type NoticeParts,
  toNotice,
  type UnknownCategory,
} from "../../../protocol/notices.ts";
import type { Usage } from "../../../protocol/usage.ts";
import type { RuntimeEvent } from "../../../runtime/events.ts";
import type { TokenUsage } from "../../../runtime/providers/types.ts";
import type { TurnReport } from "../../../runtime/session-types.ts";
import { describeEvent, type EventText } from "../event-text.ts";
import type { Settings } from "../settings.ts";
import { formatUsage } from "../usage-text.ts";
import { CallIds } from "./call-ids.ts";
import { toFileChanges } from "./changes.ts";
import { MessageIds } from "./message-ids.ts";

export const BACKEND = "demian";

type EventOf<T extends RuntimeEvent["type"]> = Extract<RuntimeEvent, { type: T }>;
type InvocationEnd = EventOf<
  "agent.invocation.completed" | "agent.invocation.failed" | "agent.invocation.cancelled"
>;

const ENDS = {
  "agent.invocation.completed": "success",
  "agent.invocation.failed": "error",
  "agent.invocation.cancelled": "interrupted",
} as const;

export class EventTranslator {
  readonly #calls = new CallIds();
  readonly #messages = new MessageIds();

  /** The unique id of the newest call to which the model gave this id. */
  findCallId(callId: string): string {
    return this.#calls.findNewest(callId);
  }

  translate(event: RuntimeEvent): AgentEvent[] {
    const parent = this.#calls.findParent(event);
    return this.#toEvents(event).map((translated) => ({
      ...translated,
      ...defined({ parent_tool_use_id: parent }),
    }));
  }

  #toEvents(event: RuntimeEvent): AgentEvent[] {
    switch (event.type) {
      case "session.started":
        return [toSystemInit(event)];
      case "user.message":
        // A sub-agent's task is shown in the call that started it.
        return this.#calls.findParent(event) === undefined ? [toEcho(event)] : [];
      case "model.request":
        this.#messages.restart(event);
        return [];
      case "model.text.delta":
        return [{ type: "agent.delta", backend: BACKEND, kind: "text", ...this.#messages.say(event) }];
      case "model.reasoning.delta":
        return [{ type: "agent.delta", backend: BACKEND, kind: "thinking", ...this.#messages.think(event) }];
      case "model.text":
        return this.#toMessage(event);
      case "context.compiled":
        return this.#calls.findParent(event) === undefined ? [toContextUsage(event)] : [];
      case "context.compacted":
        return [...this.#toUsageAfterCompaction(event), ...this.#toNotices(event)];
      case "plan.updated":
        return this.#calls.findParent(event) === undefined ? [toPlanNotice(event)] : [];
      case "tool.requested":
        return [this.#toToolUse(event)];
      case "tool.started":
        return this.#toToolStart(event);
      case "tool.output":
        return [
          createNotice("tool_output", { data: { tool_use_id: this.#calls.findId(event), text: event.text } }),
        ];
      case "tool.completed":
      case "tool.failed":
        return [this.#toToolResult(event)];
      case "agent.invocation.started":
        return [toSubAgentStarted(event, this.#calls.findParent(event))];
      case "agent.invocation.completed":
      case "agent.invocation.failed":
      case "agent.invocation.cancelled":
        return [toSubAgentFinished(event, this.#calls.findParent(event))];
      case "agent.session.context_compacted":
        return [toCompacted(event, `compacted the context of ${event.targetAgent}`)];
      default:
        return this.#toNotices(event);
    }
  }

  /** Everything but messages and tool calls. After a retry the answer starts again. */
  #toNotices(event: RuntimeEvent): AgentEvent[] {
    if (event.type === "provider.retry") this.#messages.restart(event);
    // The user's own denials and interrupts are not reported.
    if (event.type === "permission.denied" && (event.by === "user" || event.by === "abort")) return [];
    const said = describeEvent(event);
    if (said === undefined) return [];
    return [toNoticeEvent(event, said)];
  }

  #toUsageAfterCompaction(event: EventOf<"context.compacted">): AgentEvent[] {
    if (this.#calls.findParent(event) !== undefined) return [];
    return [createNotice("context_usage", { data: { used_tokens: event.afterTokens } })];
  }

  #toMessage(event: EventOf<"model.text">): AgentEvent[] {
    const message_id = this.#messages.end(event);
    if (message_id === undefined) return [];
    return [
      {
        type: "agent.message",
        backend: BACKEND,
        role: "assistant",
        content: [{ type: "text", text: event.text }],
        message_id,
        ...(event.final ? { phase: "final_answer" } : {}),
      },
    ];
  }

  #toToolUse(event: EventOf<"tool.requested"> | EventOf<"tool.started">): AgentEvent {
    const { name, input } = event;
    return { type: "agent.tool_use", backend: BACKEND, tool_use_id: this.#calls.begin(event), name, input };
  }

  /** Now its file changes are known. */
  #toToolStart(event: EventOf<"tool.started">): AgentEvent[] {
    const before = this.#calls.isOpen(event) ? [] : [this.#toToolUse(event)];
    const changes = toFileChanges(event.changes ?? []);
    if (changes.length === 0) return before;
    const { name, input } = event;
    const data = {
      tool_use_id: this.#calls.findId(event),
      name,
      input: { ...toInputObject(input), changes },
    };
    return [...before, createNotice("tool_input", { data })];
  }

  #toToolResult(event: EventOf<"tool.completed"> | EventOf<"tool.failed">): AgentEvent {
    const tool_use_id = this.#calls.end(event);
    return {
      type: "agent.tool_result",
      backend: BACKEND,
      tool_use_id,
      output: event.content,
      is_error: !event.ok,
    };
  }
}

/** The result of a turn, after a notice if the answer was cut short. */
export function toResultEvents(report: TurnReport, duration_ms: number): AgentEvent[] {
  const { outcome, turns, usage, message } = report;
  const { costUsd } = usage;
  const cut =
    outcome === "max_tokens" || outcome === "content_filter"
      ? [
          createNotice("stop_reason", {
            level: "warn",
            text: message ?? outcome,
            data: { stop_reason: outcome },
          }),
        ]
      : [];
  const isFailed = outcome === "failed" || outcome === "blocked" || outcome === "denied";
  return [
    ...cut,
    {
      type: "agent.result",
      backend: BACKEND,
      subtype: toSubtype(outcome),
      duration_ms,
      num_turns: turns,
      usage: toUsage(usage),
      ...defined({ cost_usd: costUsd }),
      ...(isFailed ? { error: toError(report) } : {}),
    },
  ];
}

function toError({ outcome, failure, message = outcome }: TurnReport): ResultEvent["error"] {
  const { kind, status, retryAfterMs } = failure ?? {};
  return {
    code: toFailureCode({ names: [kind], status, words: message }),
    native_code: kind ?? outcome,
    message,
    ...defined({ retry_after_ms: retryAfterMs }),
  };
}

function toUsage(usage: TokenUsage): Usage {
  const { cacheReadTokens, cacheWriteTokens, reasoningTokens } = usage;
  return {
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    ...defined({
      cache_read_input_tokens: cacheReadTokens,
      cache_creation_input_tokens: cacheWriteTokens,
      reasoning_output_tokens: reasoningTokens,
    }),
  };
}

function toSubtype(outcome: TurnReport["outcome"]): ResultEvent["subtype"] {
  if (outcome === "aborted") return "interrupted";
  if (outcome === "max_turns") return "max_turns";
  return outcome === "failed" || outcome === "blocked" || outcome === "denied" ? "error" : "success";
}

function toSystemInit({
  agent,
  provider,
  model,
  cwd,
  mode,
  sandbox,
}: EventOf<"session.started">): AgentEvent {
  return {
    type: "agent.system_init",
    backend: BACKEND,
    model,
    cwd,
    capabilities: { agent, provider, mode, sandbox },
  };
}

/** The current choices, before or without a runtime session. */
export function toIntroduction({ provider, model, agent }: Settings, cwd: string): AgentEvent {
  return {
    type: "agent.system_init",
    backend: BACKEND,
    cwd,
    ...(model.value === "" ? {} : { model: model.value }),
    capabilities: { agent: agent.value, provider: provider.value },
  };
}

function toEcho({ text, images = 0 }: EventOf<"user.message">): AgentEvent {
  const pictures = Array.from({ length: images }, () => ({ type: "image" }));
  const content = images === 0 ? text : [{ type: "text", text }, ...pictures];
  return { type: "agent.user_echo", backend: BACKEND, message: { role: "user", content } };
}

function toPlanNotice({ steps }: EventOf<"plan.updated">): AgentEvent {
  const plan = steps.map(({ text: step, status }) => ({ step, status }));
  return createNotice("plan", { data: { plan } });
}

function toContextUsage({ estimatedTokens, limitTokens }: EventOf<"context.compiled">): AgentEvent {
  const data = { used_tokens: estimatedTokens, context_window: limitTokens };
  return createNotice("context_usage", { data });
}

function toSubAgentStarted(event: EventOf<"agent.invocation.started">, call: string | undefined): AgentEvent {
  const { targetAgent: agent, provider, model, depth, handoffTokens, agentPath } = event;
  const path = agentPath ?? [agent];
  const started = { path, agent, provider, model, depth, handoff_tokens: handoffTokens };
  const data = call === undefined ? started : { tool_use_id: call, ...started };
  return createNotice("subagent_started", { text: `${path.join(" › ")}: ${provider}/${model}`, data });
}

function toSubAgentFinished(event: InvocationEnd, call: string | undefined): AgentEvent {
  const { targetAgent: agent, agentPath, turns, durationMs, usage } = event;
  const subtype = ENDS[event.type];
  const path = agentPath ?? [agent];
  const reason = "reason" in event ? event.reason : undefined;
  const data = {
    ...defined({ tool_use_id: call }),
    path,
    agent,
    subtype,
    num_turns: turns,
    duration_ms: durationMs,
    usage: toUsage(usage),
    ...defined({ reason, cost_usd: usage.costUsd }),
  };
  const how = [`${path.join(" › ")}: ${subtype}`, ...(reason === undefined ? [] : [reason])].join(": ");
  const text = `${how} (${formatUsage(event)})`;
  return createNotice("subagent_finished", { level: subtype === "error" ? "error" : "info", text, data });
}

/** Uses the shared notice categories where one fits, otherwise the runtime's event name. */
function toNoticeEvent(event: RuntimeEvent, { level, text }: EventText): AgentEvent {
  switch (event.type) {
    case "provider.retry":
      return createNotice("model_retry", { level, text, data: toRetry(event) });
    case "context.compacted":
      return toCompacted(event, text);
    case "permission.denied": {
      const { targetName: tool_name, by, reason } = event;
      const data = { tool_name, by, ...defined({ reason }) };
      return createNotice("permission_denied", { level, text, data });
    }
    case "warning":
      return createNotice("agent_notice", { level, text });
    default:
      return createNotice(`demian_${event.type.replaceAll(".", "_")}`, { level, text });
  }
}

function toRetry(event: EventOf<"provider.retry">): NoticeData<"model_retry"> {
  const { provider, reason, status, attempt, maxAttempts, delayMs } = event;
  return {
    code: toFailureCode({ status, words: reason }),
    ...defined({ http_status: status }),
    attempt,
    max_attempts: maxAttempts,
    retry_after_ms: delayMs,
    details: sanitizeLine(reason),
    native: { provider },
  };
}

function toCompacted(
  event: EventOf<"context.compacted"> | EventOf<"agent.session.context_compacted">,
  text: string,
): AgentEvent {
  const { beforeTokens: before_tokens, afterTokens: after_tokens } = event;
  return createNotice("compacted", { text, data: { before_tokens, after_tokens } });
}

function createNotice<C extends NoticeCategory | UnknownCategory>(
  category: C,
  parts: NoticeParts<C>,
): AgentEvent {
  return toNotice(BACKEND, category, parts);
}

function toInputObject(value: unknown): object {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : { input: value };
}
