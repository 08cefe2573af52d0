// One answer of Anthropic's, put together from the events of its stream. A whole message is the same, all at once.
import type { ContentBlockParam } from "@anthropic-ai/sdk/resources/messages/messages";
import { isObject, type JsonObject } from "../../../base/json.ts";
import { brokenFailure, type Place, vendorFailure } from "../failure.ts";
import { type Said, type SaidCall, settle } from "../settle.ts";
import type { ChatResponse, ChatStreamEvent, ProviderFailure, StopReason, TokenUsage } from "../types.ts";
import type { Thoughts } from "./convert.ts";

interface Block {
  type: string;
  /** As it began. */
  start: JsonObject;
  text: string;
  signature: string;
  /** Among the tool calls. */
  callIndex: number;
}

const STOP_REASONS: ReadonlyMap<string, StopReason> = new Map<string, StopReason>([
  ["tool_use", "tool_use"],
  ["max_tokens", "max_tokens"],
  ["model_context_window_exceeded", "max_tokens"],
  ["refusal", "content_filter"],
]);

export class AnthropicAnswer {
  readonly #place: Place;
  readonly #blocks = new Map<number, Block>();
  #calls = 0;
  #usage: JsonObject = {};
  #model: string | undefined;
  #id: string | undefined;
  #stop: string | undefined;
  #stopDetails: unknown;
  #failure: ProviderFailure | undefined;

  constructor(place: Place) {
    this.#place = place;
  }

  get isFinished(): boolean {
    return this.#stop !== undefined;
  }

  fail(failure: ProviderFailure): void {
    this.#failure ??= failure;
  }

  add(event: unknown): ChatStreamEvent[] {
    if (!isObject(event)) return [];
    const index = typeof event["index"] === "number" ? event["index"] : 0;
    switch (event["type"]) {
      case "message_start":
        if (isObject(event["message"])) this.#addEnvelope(event["message"]);
        return [];
      case "content_block_start":
        return isObject(event["content_block"]) ? this.#begin(index, event["content_block"]) : [];
      case "content_block_delta":
        return isObject(event["delta"]) ? this.#extend(this.#blocks.get(index), event["delta"]) : [];
      case "message_delta":
        if (isObject(event["delta"])) this.#addStop(event["delta"]);
        if (isObject(event["usage"])) this.#addUsage(event["usage"]);
        return [];
      default:
        // content_block_stop, message_stop and what will be invented say nothing that is needed.
        return [];
    }
  }

  /** The message of a request without a stream. */
  addMessage(message: unknown): void {
    if (!isObject(message)) return;
    this.#addEnvelope(message);
    const content = Array.isArray(message["content"]) ? message["content"] : [];
    for (const [index, block] of content.entries()) if (isObject(block)) this.#begin(index, block);
    this.#addStop(message);
  }

  finish(taken: Set<string>): ChatResponse {
    const blocks = [...this.#blocks.values()];
    const text = blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("");
    const usage = this.#readUsage();
    const said = {
      text,
      calls: blocks.flatMap((block) => (block.type === "tool_use" ? [toCall(block)] : [])),
      ...this.#ending(),
      usage,
      model: this.#model,
      raw: { id: this.#id, model: this.#model, stop_reason: this.#stop, usage: this.#usage },
    };
    return settle(said, taken);
  }

  /** What was thought before the first call, to be given back with it. */
  get thoughts(): Thoughts {
    return [...this.#blocks.values()].flatMap(({ type, start, text, signature }): ContentBlockParam[] => {
      // Without a signature it is not Anthropic's own, and would be refused.
      if (type === "thinking") return signature === "" ? [] : [{ type, thinking: text, signature }];
      if (type !== "redacted_thinking") return [];
      return [{ type: "redacted_thinking" as const, data: textOf(start["data"]) }];
    });
  }

  #ending(): Pick<Said, "stopReason" | "failure"> {
    if (this.#failure !== undefined) return { stopReason: "error", failure: this.#failure };
    if (this.#stop === undefined) {
      const what = "ended the stream before its answer was complete";
      return { stopReason: "error", failure: brokenFailure(this.#place, what) };
    }
    const stopReason = STOP_REASONS.get(this.#stop) ?? "end_turn";
    if (stopReason !== "content_filter") return { stopReason };
    const details = isObject(this.#stopDetails) ? this.#stopDetails : {};
    const why =
      textOf(details["explanation"]) || textOf(details["category"]) || "the model refused to answer";
    return { stopReason, failure: vendorFailure(this.#place, { message: why, codes: [], isFiltered: true }) };
  }

  #begin(index: number, start: JsonObject): ChatStreamEvent[] {
    const type = textOf(start["type"]);
    const callIndex = type === "tool_use" ? this.#calls++ : -1;
    const block: Block = { type, start, text: "", signature: textOf(start["signature"]), callIndex };
    this.#blocks.set(index, block);
    if (type === "tool_use") {
      return [
        { type: "tool_call_delta", index: callIndex, id: textOf(start["id"]), name: textOf(start["name"]) },
      ];
    }
    return this.#extend(block, { text: start["text"], thinking: start["thinking"] });
  }

  #extend(block: Block | undefined, delta: JsonObject): ChatStreamEvent[] {
    if (block === undefined) return [];
    block.signature += textOf(delta["signature"]);
    const text = textOf(delta["text"]) + textOf(delta["thinking"]) + textOf(delta["partial_json"]);
    block.text += text;
    if (text === "") return [];
    if (block.type === "text") return [{ type: "text_delta", text }];
    if (block.type === "thinking") return [{ type: "reasoning_delta", text }];
    // Tools that the server runs itself are none of ours.
    if (block.type !== "tool_use") return [];
    return [{ type: "tool_call_delta", index: block.callIndex, arguments: text }];
  }

  #addEnvelope(message: JsonObject): void {
    this.#id = textOf(message["id"]) || undefined;
    this.#model = textOf(message["model"]) || undefined;
    if (isObject(message["usage"])) this.#addUsage(message["usage"]);
  }

  #addStop(source: JsonObject): void {
    this.#stop = textOf(source["stop_reason"]) || this.#stop;
    this.#stopDetails = source["stop_details"] ?? this.#stopDetails;
  }

  /** Figures of later events are sums, and replace the earlier ones; null says nothing. */
  #addUsage(usage: JsonObject): void {
    const told = Object.entries(usage).filter(([, value]) => value !== null && value !== undefined);
    this.#usage = { ...this.#usage, ...Object.fromEntries(told) };
  }

  /** `inputTokens` counts all input, cached or not, as with the other providers; Anthropic's own leaves out the cache. */
  #readUsage(): TokenUsage | undefined {
    const usage = this.#usage;
    const input = count(usage["input_tokens"]);
    if (input === undefined) return undefined;
    const cacheReadTokens = count(usage["cache_read_input_tokens"]);
    const cacheWriteTokens = count(usage["cache_creation_input_tokens"]);
    const details = usage["output_tokens_details"];
    const reasoningTokens = isObject(details) ? count(details["thinking_tokens"]) : undefined;
    return {
      inputTokens: input + (cacheReadTokens ?? 0) + (cacheWriteTokens ?? 0),
      outputTokens: count(usage["output_tokens"]) ?? 0,
      ...(cacheReadTokens === undefined ? {} : { cacheReadTokens }),
      ...(cacheWriteTokens === undefined ? {} : { cacheWriteTokens }),
      ...(reasoningTokens === undefined ? {} : { reasoningTokens }),
    };
  }
}

/** In a stream the input comes in pieces of JSON after a start that is empty. */
function toCall({ start, text }: Block): SaidCall {
  return { id: textOf(start["id"]), name: textOf(start["name"]), input: text === "" ? start["input"] : text };
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function count(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}
