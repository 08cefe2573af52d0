// Assembles an answer of an OpenAI-compatible provider from its chunks. A whole answer is a single chunk.

import { isObject, type JsonObject } from "../../../base/json.ts";
import { asObject, asObjects, asText, defined } from "../../../base/values.ts";
import { brokenFailure, type Endpoint, protocolError, vendorFailure } from "../failure.ts";
import { type ModelOutput, toResponse } from "../settle.ts";
import type { ChatResponse, ChatStreamEvent, ProviderFailure, TokenUsage } from "../types.ts";
import { classifyError, findVendorError } from "../vendor-error.ts";
import { type Finish, findBlockedPrompt, readFinish } from "./finish.ts";
import type { OpenAIEcho } from "./request.ts";
import { ToolCallPieces } from "./tool-calls.ts";
import { readUsage } from "./usage.ts";

/** Stops a server that never ends its answer. */
const MAX_CALLS = 1000;

export class OpenAIAnswer {
  readonly #endpoint: Endpoint;
  readonly #calls = new ToolCallPieces();
  #text = "";
  #refusal = "";
  #reasoningContent = "";
  #reasoningDetails: unknown[] = [];
  #finish: Finish | undefined;
  #failure: ProviderFailure | undefined;
  #usage: TokenUsage | undefined;
  #model: string | undefined;
  #id: string | undefined;
  #hasContent = false;

  constructor(endpoint: Endpoint) {
    this.#endpoint = endpoint;
  }

  /** Once set, later chunks are ignored. */
  get failure(): ProviderFailure | undefined {
    return this.#failure;
  }

  /** The finish reason is known; only usage may follow. */
  get isFinished(): boolean {
    return this.#finish !== undefined;
  }

  fail(failure: ProviderFailure): void {
    this.#failure ??= failure;
  }

  add(chunk: unknown): ChatStreamEvent[] {
    const error = findVendorError(chunk);
    if (error !== undefined) {
      if (classifyError(error) === "content_filter") this.#block(error.message);
      else this.fail(vendorFailure(this.#endpoint, error));
      return [];
    }
    if (!isObject(chunk)) return [];
    this.#model = asText(chunk["model"]) ?? this.#model;
    this.#id = asText(chunk["id"]) ?? this.#id;
    this.#usage = readUsage(chunk) ?? this.#usage;
    const blocked = findBlockedPrompt(chunk);
    if (blocked !== undefined) this.#block(blocked);
    const choices = asObjects(chunk["choices"]);
    // Only one choice is requested.
    const choice = choices.find((entry) => (entry["index"] ?? 0) === 0);
    return choice === undefined ? [] : this.#addChoice(choice);
  }

  /** `isEnded`: the server marked the end. */
  finish(usedIds: Set<string>, isEnded: boolean): ChatResponse {
    const said = {
      text: this.#text + this.#refusal,
      calls: this.#calls.calls,
      usage: this.#usage,
      model: this.#model,
      raw: {
        id: this.#id,
        model: this.#model,
        finish_reason: this.#finish?.vendorReason,
        usage: this.#usage,
      },
    };
    return toResponse({ ...said, ...this.#readEnding(isEnded) }, usedIds);
  }

  /** Data to send back with the calls of this answer, by call id. */
  *echoes(response: ChatResponse): Generator<[string, OpenAIEcho]> {
    const calls = this.#calls.calls;
    const message = {
      ...(this.#reasoningContent === "" ? {} : { reasoning_content: this.#reasoningContent }),
      ...(this.#reasoningDetails.length === 0 ? {} : { reasoning_details: this.#reasoningDetails }),
    };
    for (const [index, { id }] of response.toolCalls.entries()) {
      const call = calls[index]?.extra;
      const isFirst = index === 0 && Object.keys(message).length > 0;
      if (call === undefined && !isFirst) continue;
      yield [id, { ...defined({ call }), ...(isFirst ? { message } : {}) }];
    }
  }

  #readEnding(isEnded: boolean): Pick<ModelOutput, "stopReason" | "failure"> {
    if (this.#failure !== undefined) return { stopReason: "error", failure: this.#failure };
    const isWhole = isEnded && this.#hasContent;
    const finish =
      this.#finish ?? (isWhole ? { stopReason: "end_turn" as const, vendorReason: "" } : undefined);
    if (finish === undefined) {
      return this.#toBroken(
        this.#hasContent ? "ended the stream before its answer was complete" : "sent no answer",
      );
    }
    const { stopReason, vendorReason } = finish;
    if (stopReason === "content_filter" || this.#refusal !== "") {
      return { stopReason: "content_filter", failure: this.#toFiltered(this.#refusal || vendorReason) };
    }
    if (stopReason === "error")
      return this.#toBroken(`stopped with "${vendorReason}" before its answer was complete`);
    if (stopReason === "tool_use" && this.#text === "" && this.#calls.calls.length === 0) {
      return this.#toBroken("announced a tool call but sent none");
    }
    return { stopReason };
  }

  #toBroken(what: string): Pick<ModelOutput, "stopReason" | "failure"> {
    return { stopReason: "error", failure: brokenFailure(this.#endpoint, what) };
  }

  #addChoice(choice: JsonObject): ChatStreamEvent[] {
    this.#finish = readFinish(choice) ?? this.#finish;
    const delta = choice["delta"] ?? choice["message"];
    const message = asObject(delta);
    this.#hasContent ||= isObject(delta);
    const events: ChatStreamEvent[] = [];
    const reasoning = this.#readReasoning(message);
    if (reasoning !== "") events.push({ type: "reasoning_delta", text: reasoning });
    // `text` predates Chat Completions; some gateways still send it.
    const text = readText(message["content"] ?? choice["text"]);
    this.#text += text;
    const refusal = asText(message["refusal"]) ?? "";
    this.#refusal += refusal;
    if (text + refusal !== "") events.push({ type: "text_delta", text: text + refusal });
    const pieces = message["tool_calls"];
    for (const piece of Array.isArray(pieces) ? pieces : []) {
      const event = this.#calls.add(piece);
      if (event !== undefined) events.push(event);
    }
    if (this.#calls.size > MAX_CALLS) {
      this.fail(protocolError(this.#endpoint, `called more than ${MAX_CALLS} tools at once`).failure);
    }
    return events;
  }

  #readReasoning(message: JsonObject): string {
    const content = asText(message["reasoning_content"]);
    this.#reasoningContent += content ?? "";
    const details = message["reasoning_details"];
    if (Array.isArray(details)) this.#reasoningDetails.push(...details);
    return content ?? asText(message["reasoning"]) ?? readThinking(message["content"]);
  }

  #block(vendorReason: string): void {
    this.#hasContent = true;
    this.#finish = { stopReason: "content_filter", vendorReason };
  }

  #toFiltered(message: string): ProviderFailure {
    return vendorFailure(this.#endpoint, { message, codes: [], isFiltered: true });
  }
}

/** A string, or an array of parts. */
function readText(content: unknown): string {
  if (!Array.isArray(content)) return asText(content) ?? "";
  const parts = asObjects(content).filter((part) => part["type"] !== "thinking");
  return parts.map((part) => asText(part["text"]) ?? "").join("");
}

/** Mistral sends thinking as nested parts of the content. */
function readThinking(content: unknown): string {
  return asObjects(content)
    .map((part) => readText(part["thinking"]))
    .join("");
}
