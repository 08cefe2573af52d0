// Assembles an answer from the events of Anthropic's stream, or from a whole message.
import type { ContentBlockParam } from "@anthropic-ai/sdk/resources/messages/messages";
import { isObject, type JsonObject } from "../../../base/json.ts";
import { asCount, asObject, asObjects, asText, defined, omitNulls } from "../../../base/values.ts";
import { brokenFailure, type Endpoint, vendorFailure } from "../failure.ts";
import { type ModelOutput, type OutputCall, toResponse } from "../settle.ts";
import type { ChatResponse, ChatStreamEvent, ProviderFailure, StopReason, TokenUsage } from "../types.ts";
import { findVendorError } from "../vendor-error.ts";
import type { Thoughts } from "./convert.ts";

interface Block {
  type: string;
  /** The block in its start event. */
  start: JsonObject;
  text: string;
  signature: string;
  /** Position among the tool calls; -1 for other blocks. */
  callIndex: number;
}

const STOP_REASONS: ReadonlyMap<string, StopReason> = new Map<string, StopReason>([
  ["tool_use", "tool_use"],
  ["max_tokens", "max_tokens"],
  ["model_context_window_exceeded", "max_tokens"],
  ["refusal", "content_filter"],
]);

export class AnthropicAnswer {
  readonly #endpoint: Endpoint;
  readonly #blocks = new Map<number, Block>();
  #calls = 0;
  #usage: JsonObject = {};
  #model: string | undefined;
  #id: string | undefined;
  #stop: string | undefined;
  #stopDetails: JsonObject = {};
  #failure: ProviderFailure | undefined;

  constructor(endpoint: Endpoint) {
    this.#endpoint = endpoint;
  }

  get failure(): ProviderFailure | undefined {
    return this.#failure;
  }

  get isFinished(): boolean {
    return this.#stop !== undefined;
  }

  fail(failure: ProviderFailure): void {
    this.#failure ??= failure;
  }

  add(value: unknown): ChatStreamEvent[] {
    const event = asObject(value);
    const index = asCount(event["index"]) ?? 0;
    switch (event["type"]) {
      case "message":
        this.#addMessage(event);
        return [];
      case "message_start":
        this.#addEnvelope(asObject(event["message"]));
        return [];
      case "content_block_start":
        return isObject(event["content_block"]) ? this.#begin(index, event["content_block"]) : [];
      case "content_block_delta":
        return this.#extend(this.#blocks.get(index), asObject(event["delta"]));
      case "message_delta":
        this.#addStop(asObject(event["delta"]));
        this.#addUsage(event["usage"]);
        return [];
      case "error":
        this.#addError(event);
        return [];
      case undefined:
        // Some compatible servers leave the type out of errors and of whole answers.
        if (isObject(event["error"])) this.#addError(event);
        else if (Array.isArray(event["content"])) this.#addMessage(event);
        return [];
      default:
        // content_block_stop, message_stop, ping and unknown events carry nothing we need.
        return [];
    }
  }

  finish(usedIds: Set<string>): ChatResponse {
    const blocks = [...this.#blocks.values()];
    const text = blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("");
    const said = {
      text,
      calls: blocks.flatMap((block) => (block.type === "tool_use" ? [toCall(block)] : [])),
      ...this.#readEnding(),
      usage: this.#readUsage(),
      model: this.#model,
      raw: { id: this.#id, model: this.#model, stop_reason: this.#stop, usage: this.#usage },
    };
    return toResponse(said, usedIds);
  }

  /** Thinking blocks to send back with the first call. */
  *echoes({ toolCalls: [first] }: ChatResponse): Generator<[string, Thoughts]> {
    const thoughts = [...this.#blocks.values()].flatMap(toThought);
    if (first !== undefined && thoughts.length > 0) yield [first.id, thoughts];
  }

  #readEnding(): Pick<ModelOutput, "stopReason" | "failure"> {
    if (this.#failure !== undefined) return { stopReason: "error", failure: this.#failure };
    if (this.#stop === undefined) {
      const what = "ended the stream before its answer was complete";
      return { stopReason: "error", failure: brokenFailure(this.#endpoint, what) };
    }
    const stopReason = STOP_REASONS.get(this.#stop) ?? "end_turn";
    if (stopReason !== "content_filter") return { stopReason };
    const { explanation, category } = this.#stopDetails;
    const message = asText(explanation) ?? asText(category) ?? "the model refused to answer";
    return { stopReason, failure: vendorFailure(this.#endpoint, { message, codes: [], isFiltered: true }) };
  }

  #begin(index: number, start: JsonObject): ChatStreamEvent[] {
    const type = asText(start["type"]) ?? "";
    const callIndex = type === "tool_use" ? this.#calls++ : -1;
    const block: Block = { type, start, text: "", signature: asText(start["signature"]) ?? "", callIndex };
    this.#blocks.set(index, block);
    if (type === "tool_use") {
      const { id, name } = toCall(block);
      return [{ type: "tool_call_delta", index: callIndex, id, name }];
    }
    return this.#extend(block, { text: start["text"], thinking: start["thinking"] });
  }

  #extend(
    block: Block | undefined,
    { signature, text, thinking, partial_json }: JsonObject,
  ): ChatStreamEvent[] {
    if (block === undefined) return [];
    block.signature += asText(signature) ?? "";
    const added = asText(text) ?? asText(thinking) ?? asText(partial_json);
    if (added === undefined) return [];
    block.text += added;
    if (block.type === "text") return [{ type: "text_delta", text: added }];
    if (block.type === "thinking") return [{ type: "reasoning_delta", text: added }];
    // Calls of tools that the server runs itself are ignored.
    if (block.type !== "tool_use") return [];
    return [{ type: "tool_call_delta", index: block.callIndex, arguments: added }];
  }

  #addMessage(message: JsonObject): void {
    this.#addEnvelope(message);
    for (const [index, block] of asObjects(message["content"]).entries()) this.#begin(index, block);
    this.#addStop(message);
  }

  #addEnvelope(message: JsonObject): void {
    this.#id = asText(message["id"]);
    this.#model = asText(message["model"]);
    this.#addUsage(message["usage"]);
  }

  #addStop({ stop_reason, stop_details }: JsonObject): void {
    this.#stop = asText(stop_reason) ?? this.#stop;
    if (isObject(stop_details)) this.#stopDetails = stop_details;
  }

  #addError(event: JsonObject): void {
    const error = findVendorError(event);
    if (error !== undefined) this.fail(vendorFailure(this.#endpoint, error));
  }

  /** Later events carry totals, which replace the earlier ones. */
  #addUsage(usage: unknown): void {
    this.#usage = { ...this.#usage, ...omitNulls(asObject(usage)) };
  }

  /** `inputTokens` counts all input, as with the other providers; Anthropic's own figure excludes the cache. */
  #readUsage(): TokenUsage | undefined {
    const usage = this.#usage;
    const input = asCount(usage["input_tokens"]);
    if (input === undefined) return undefined;
    const cacheReadTokens = asCount(usage["cache_read_input_tokens"]);
    const cacheWriteTokens = asCount(usage["cache_creation_input_tokens"]);
    const reasoningTokens = asCount(asObject(usage["output_tokens_details"])["thinking_tokens"]);
    return {
      inputTokens: input + (cacheReadTokens ?? 0) + (cacheWriteTokens ?? 0),
      outputTokens: asCount(usage["output_tokens"]) ?? 0,
      ...defined({ cacheReadTokens, cacheWriteTokens, reasoningTokens }),
    };
  }
}

/** In a stream the input follows an empty start, as pieces of JSON. */
function toCall({ start, text }: Block): OutputCall & { id: string } {
  const [id = "", name = ""] = [asText(start["id"]), asText(start["name"])];
  return { id, name, input: text === "" ? start["input"] : text };
}

function toThought({ type, start, text, signature }: Block): ContentBlockParam[] {
  // Anthropic rejects unsigned thinking: another server made it.
  if (type === "thinking") return signature === "" ? [] : [{ type, thinking: text, signature }];
  return type === "redacted_thinking" ? [{ type, data: asText(start["data"]) ?? "" }] : [];
}
