// What Claude Code prints while it works on one message → our events, and what came of it in the end. Keeps the state of
// that one message; does no I/O. It is lenient: what it does not know it skips.
import type { EventBody } from "../../events.ts";
import type { ExternalReport } from "../types.ts";
import { dateOf, type Fields, fieldsOf, numberOf, wordsOf } from "./fields.ts";
import { type Answer, type Ending, isHopeless, reportOf } from "./translate-result.ts";
import { type Shown, ToolCalls } from "./translate-tools.ts";
import type { ClaudeMessage, ToolRequest } from "./transport.ts";

export interface TranslationOptions {
  /** The provider's key in the configuration. */
  provider: string;
  /** Tools that are told in another way (ExitPlanMode: its plan is the answer). */
  silentTools?: readonly string[];
  now?: () => number;
}

export class Translation {
  readonly #provider: string;
  readonly #calls: ToolCalls;
  readonly #answer: Answer = { texts: [], messageIds: new Set(), streamed: new Map() };
  readonly #agents = new Map<string, string>();

  constructor(options: TranslationOptions) {
    this.#provider = options.provider;
    this.#calls = new ToolCalls(options.silentTools ?? [], options.now ?? Date.now);
  }

  /** Of Claude Code's session; known from its first message on. */
  get sessionId(): string | undefined {
    return this.#answer.sessionId;
  }

  /** The session that should be resumed does not exist. Nothing was done. */
  get isResumeInvalid(): boolean {
    const errors = this.#answer.result?.["errors"];
    return (
      Array.isArray(errors) && errors.some((error) => wordsOf(error).startsWith("No conversation found with"))
    );
  }

  /** There is no point in waiting for the rest. */
  get isHopeless(): boolean {
    return isHopeless(this.#answer);
  }

  /** What a sub-agent of its own is called. */
  agentName(agentId: string): string {
    return this.#agents.get(agentId) ?? agentId;
  }

  take(message: ClaudeMessage): EventBody[] {
    const isInner = typeof message["parent_tool_use_id"] === "string";
    if (typeof message["session_id"] === "string" && !isInner) this.#answer.sessionId = message["session_id"];
    switch (message.type) {
      case "system":
        return this.#system(message);
      case "stream_event":
        return isInner ? [] : this.#stream(fieldsOf(message["event"]));
      case "assistant":
        return this.#assistant(message, isInner);
      case "user":
        return this.#calls.results(fieldsOf(message["message"])["content"]);
      case "rate_limit_event":
        return this.#rateLimit(fieldsOf(message["rate_limit_info"]));
      case "result":
        this.#answer.result = message;
        return [];
      default:
        return [];
    }
  }

  /** It asks whether it may: told before its own message where that is late. */
  requested(request: Pick<ToolRequest, "callId" | "tool" | "input">): EventBody[] {
    return this.#calls.requested(request.callId, request.tool, request.input);
  }

  allowed(callId: string, shown: Shown): EventBody[] {
    return this.#calls.started(callId, shown);
  }

  denied(callId: string): void {
    this.#calls.denied(callId);
  }

  /** Calls that never got an answer. */
  finish(ending: Ending): EventBody[] {
    return this.#calls.unfinished(ending.aborted || ending.stopped ? "aborted" : "failed");
  }

  report(ending: Ending): ExternalReport {
    return reportOf(this.#answer, ending);
  }

  #system(message: Fields): EventBody[] {
    const { subtype } = message;
    if (subtype === "init" && typeof message["model"] === "string") this.#answer.model = message["model"];
    if (subtype === "task_started") {
      const { task_id, subagent_type } = message;
      if (typeof task_id === "string" && typeof subagent_type === "string")
        this.#agents.set(task_id, subagent_type);
    }
    if (subtype === "model_refusal_no_fallback") this.#answer.isRefused = true;
    if (subtype === "api_retry") return [this.#retry(message)];
    if (subtype === "compact_boundary") {
      const before = fieldsOf(message["compact_metadata"])["pre_tokens"];
      const size = typeof before === "number" ? ` of ${before} tokens` : "";
      return [{ type: "warning", message: `Claude Code replaced its own history${size} by a summary` }];
    }
    return [];
  }

  #retry(message: Fields): EventBody {
    const status = message["error_status"];
    if (status === 401) this.#answer.refusedLogins = (this.#answer.refusedLogins ?? 0) + 1;
    return {
      type: "provider.retry",
      provider: this.#provider,
      attempt: numberOf(message["attempt"]) ?? 1,
      maxAttempts: numberOf(message["max_retries"]) ?? 1,
      delayMs: Math.round(numberOf(message["retry_delay_ms"]) ?? 0),
      reason: typeof message["error"] === "string" ? message["error"].replaceAll("_", " ") : "an error",
      ...(typeof status === "number" ? { status } : {}),
    };
  }

  #stream(event: Fields): EventBody[] {
    const { streamed } = this.#answer;
    if (event["type"] === "message_start") {
      const message = fieldsOf(event["message"]);
      this.#answer.streaming = wordsOf(message["id"]);
      streamed.set(this.#answer.streaming, fieldsOf(message["usage"]));
    }
    if (event["type"] === "message_delta" && this.#answer.streaming !== undefined) {
      const before = streamed.get(this.#answer.streaming);
      streamed.set(this.#answer.streaming, { ...before, ...fieldsOf(event["usage"]) });
    }
    if (event["type"] !== "content_block_delta") return [];
    const delta = fieldsOf(event["delta"]);
    if (delta["type"] === "text_delta") return deltaOf("model.text.delta", delta["text"]);
    if (delta["type"] === "thinking_delta") return deltaOf("model.reasoning.delta", delta["thinking"]);
    return [];
  }

  #assistant(message: Fields, isInner: boolean): EventBody[] {
    const { id, content, model } = fieldsOf(message["message"]);
    const blocks = Array.isArray(content) ? content.map(fieldsOf) : [];
    if (!isInner && typeof message["error"] === "string") this.#answer.error = message["error"];
    // What Claude Code says in the model's place ("API Error: …") is no answer of the model.
    const isOwn = model === "<synthetic>";
    if (!isInner && !isOwn && typeof id === "string") this.#answer.messageIds.add(id);
    return blocks.flatMap((block): EventBody[] => {
      const { type, text, id: callId, name, input } = block;
      if (type === "tool_use" && typeof callId === "string" && typeof name === "string") {
        return [...this.#textBefore(isInner), ...this.#calls.requested(callId, name, fieldsOf(input))];
      }
      if (type === "text" && typeof text === "string" && text !== "" && !isInner && !isOwn) {
        this.#answer.texts.push(text);
      }
      return [];
    });
  }

  /** What it said before a tool is not the answer; the rest is told with the end of the turn. */
  #textBefore(isInner: boolean): EventBody[] {
    if (isInner) return [];
    const text = this.#answer.texts.join("\n\n");
    this.#answer.texts = [];
    return text === "" ? [] : [{ type: "model.text", text, final: false }];
  }

  #rateLimit(info: Fields): EventBody[] {
    const { status } = info;
    const resetsAt = dateOf(info["resetsAt"]);
    if (status === "rejected" && resetsAt !== undefined) this.#answer.resetsAtMs = resetsAt.getTime();
    if (status !== "allowed_warning") return [];
    const used = numberOf(info["utilization"]);
    const much = used === undefined ? "most" : `${Math.round(used * 100)} %`;
    const until = resetsAt === undefined ? "" : ` until ${resetsAt.toISOString()}`;
    return [
      { type: "warning", message: `${much} of what the plan of Claude Code allows${until} is used up` },
    ];
  }
}

function deltaOf(type: "model.text.delta" | "model.reasoning.delta", text: unknown): EventBody[] {
  return typeof text === "string" && text !== "" ? [{ type, text }] : [];
}
