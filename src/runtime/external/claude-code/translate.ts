// Translates Claude Code's messages into our events and a final report. Holds the state of one turn; does no I/O; skips
// what it does not know.
import type { JsonObject } from "../../../base/json.ts";
import { asNumber, asObject, asObjects } from "../../../base/values.ts";
import type { EventBody } from "../../events.ts";
import type { ExternalReport } from "../types.ts";
import { readDate, toText } from "./fields.ts";
import { buildReport, isHopeless, type TurnEnding, type TurnRecord } from "./translate-result.ts";
import { type ShownPlan, ToolCalls } from "./translate-tools.ts";
import type { ClaudeMessage, ToolRequest } from "./transport.ts";

export interface TranslationOptions {
  /** The provider's key in the configuration. */
  provider: string;
  /** Tools without events of their own (ExitPlanMode: its plan is the answer). */
  silentTools?: readonly string[];
  now?: () => number;
}

export class Translation {
  readonly #provider: string;
  readonly #calls: ToolCalls;
  readonly #answer: TurnRecord = { texts: [], messageIds: new Set(), streamed: new Map() };
  readonly #agents = new Map<string, string>();

  constructor(options: TranslationOptions) {
    this.#provider = options.provider;
    this.#calls = new ToolCalls(options.silentTools ?? [], options.now ?? Date.now);
  }

  /** Claude Code's session id; known from its first message on. */
  get sessionId(): string | undefined {
    return this.#answer.sessionId;
  }

  /** The session to resume does not exist, so nothing was done. */
  get isResumeInvalid(): boolean {
    const errors = this.#answer.result?.["errors"];
    return (
      Array.isArray(errors) && errors.some((error) => toText(error).startsWith("No conversation found with"))
    );
  }

  /** Waiting for the rest is pointless. */
  get isHopeless(): boolean {
    return isHopeless(this.#answer);
  }

  /** The name of one of its own sub-agents. */
  findAgentName(agentId: string): string {
    return this.#agents.get(agentId) ?? agentId;
  }

  take(message: ClaudeMessage): EventBody[] {
    const isInner = typeof message["parent_tool_use_id"] === "string";
    if (typeof message["session_id"] === "string" && !isInner) this.#answer.sessionId = message["session_id"];
    switch (message.type) {
      case "system":
        return this.#system(message);
      case "stream_event":
        return isInner ? [] : this.#stream(asObject(message["event"]));
      case "assistant":
        return this.#assistant(message, isInner);
      case "user":
        return this.#calls.takeResults(asObject(message["message"])["content"]);
      case "rate_limit_event":
        return this.#rateLimit(asObject(message["rate_limit_info"]));
      case "result":
        this.#answer.result = message;
        return [];
      default:
        return [];
    }
  }

  /** For a permission request, which may come before the message with the call. */
  request(request: Pick<ToolRequest, "callId" | "tool" | "input">): EventBody[] {
    return this.#calls.request(request.callId, request.tool, request.input);
  }

  allow(callId: string, shown: ShownPlan): EventBody[] {
    return this.#calls.start(callId, shown);
  }

  deny(callId: string): void {
    this.#calls.deny(callId);
  }

  /** Ends calls that never got a result. */
  finish(ending: TurnEnding): EventBody[] {
    return this.#calls.endAll(ending.aborted || ending.stopped ? "aborted" : "failed");
  }

  report(ending: TurnEnding): ExternalReport {
    return buildReport(this.#answer, ending);
  }

  #system(message: JsonObject): EventBody[] {
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
      const before = asObject(message["compact_metadata"])["pre_tokens"];
      const size = typeof before === "number" ? ` of ${before} tokens` : "";
      return [{ type: "warning", message: `Claude Code compacted its history${size}` }];
    }
    return [];
  }

  #retry(message: JsonObject): EventBody {
    const status = message["error_status"];
    if (status === 401) this.#answer.refusedLogins = (this.#answer.refusedLogins ?? 0) + 1;
    return {
      type: "provider.retry",
      provider: this.#provider,
      attempt: asNumber(message["attempt"]) ?? 1,
      maxAttempts: asNumber(message["max_retries"]) ?? 1,
      delayMs: Math.round(asNumber(message["retry_delay_ms"]) ?? 0),
      reason: typeof message["error"] === "string" ? message["error"].replaceAll("_", " ") : "an error",
      ...(typeof status === "number" ? { status } : {}),
    };
  }

  #stream(event: JsonObject): EventBody[] {
    const { streamed } = this.#answer;
    if (event["type"] === "message_start") {
      const message = asObject(event["message"]);
      this.#answer.streaming = toText(message["id"]);
      streamed.set(this.#answer.streaming, asObject(message["usage"]));
    }
    if (event["type"] === "message_delta" && this.#answer.streaming !== undefined) {
      const before = streamed.get(this.#answer.streaming);
      streamed.set(this.#answer.streaming, { ...before, ...asObject(event["usage"]) });
    }
    if (event["type"] !== "content_block_delta") return [];
    const delta = asObject(event["delta"]);
    if (delta["type"] === "text_delta") return toDelta("model.text.delta", delta["text"]);
    if (delta["type"] === "thinking_delta") return toDelta("model.reasoning.delta", delta["thinking"]);
    return [];
  }

  #assistant(message: JsonObject, isInner: boolean): EventBody[] {
    const { id, content, model } = asObject(message["message"]);
    if (!isInner && typeof message["error"] === "string") this.#answer.error = message["error"];
    // Text that Claude Code writes in the model's place ("API Error: …") is not an answer.
    const isOwn = model === "<synthetic>";
    if (!isInner && !isOwn && typeof id === "string") this.#answer.messageIds.add(id);
    return asObjects(content).flatMap(({ type, text, id: callId, name, input }): EventBody[] => {
      if (type === "tool_use" && typeof callId === "string" && typeof name === "string") {
        return [...this.#textBefore(isInner), ...this.#calls.request(callId, name, asObject(input))];
      }
      if (type === "text" && typeof text === "string" && text !== "" && !isInner && !isOwn) {
        this.#answer.texts.push(text);
      }
      return [];
    });
  }

  /** Text before a tool call is not the answer; the rest is reported at the end of the turn. */
  #textBefore(isInner: boolean): EventBody[] {
    if (isInner) return [];
    const text = this.#answer.texts.join("\n\n");
    this.#answer.texts = [];
    return text === "" ? [] : [{ type: "model.text", text, final: false }];
  }

  #rateLimit(info: JsonObject): EventBody[] {
    const { status } = info;
    const resetsAt = readDate(info["resetsAt"]);
    if (status === "rejected" && resetsAt !== undefined) this.#answer.resetsAtMs = resetsAt.getTime();
    if (status !== "allowed_warning") return [];
    const used = asNumber(info["utilization"]);
    const share = used === undefined ? "most" : `${Math.round(used * 100)} %`;
    const reset = resetsAt === undefined ? "" : `; it resets at ${resetsAt.toISOString()}`;
    return [{ type: "warning", message: `${share} of the Claude Code plan limit is used${reset}` }];
  }
}

function toDelta(type: "model.text.delta" | "model.reasoning.delta", text: unknown): EventBody[] {
  return typeof text === "string" && text !== "" ? [{ type, text }] : [];
}
