// One answer of an OpenAI-compatible provider, put together from its chunks. A whole answer is a single chunk.
import { isObject, type JsonObject } from "../../../base/json.ts";
import { brokenFailure, type Place, protocolError, vendorFailure } from "../failure.ts";
import { type Said, settle } from "../settle.ts";
import type { ChatResponse, ChatStreamEvent, ProviderFailure, TokenUsage } from "../types.ts";
import { findVendorError, kindOf } from "../vendor-error.ts";
import { blockedPrompt, type Finish, readFinish } from "./finish.ts";
import type { Echo } from "./request.ts";
import { ToolCallPieces } from "./tool-calls.ts";
import { readUsage } from "./usage.ts";

/** No model calls so many tools at once; a server that never stops would. */
const MAX_CALLS = 1000;

export class Answer {
  readonly #place: Place;
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
  #isAnything = false;

  constructor(place: Place) {
    this.#place = place;
  }

  /** It has failed; nothing that follows counts. */
  get failure(): ProviderFailure | undefined {
    return this.#failure;
  }

  /** The model said why it stopped: what may still come are figures. */
  get isFinished(): boolean {
    return this.#finish !== undefined;
  }

  fail(failure: ProviderFailure): void {
    this.#failure ??= failure;
  }

  add(chunk: unknown): ChatStreamEvent[] {
    const error = findVendorError(chunk);
    if (error !== undefined) {
      if (kindOf(error) === "content_filter") this.#block(error.message);
      else this.fail(vendorFailure(this.#place, error));
      return [];
    }
    if (!isObject(chunk)) return [];
    this.#model = textOf(chunk["model"]) || this.#model;
    this.#id = textOf(chunk["id"]) || this.#id;
    this.#usage = readUsage(chunk) ?? this.#usage;
    const blocked = blockedPrompt(chunk);
    if (blocked !== undefined) this.#block(blocked);
    const choices = Array.isArray(chunk["choices"]) ? chunk["choices"] : [];
    // Only one is ever asked for.
    const choice = choices.find((entry) => isObject(entry) && (entry["index"] ?? 0) === 0);
    return isObject(choice) ? this.#addChoice(choice) : [];
  }

  /** `isEnded`: the server said that this is all. */
  finish(taken: Set<string>, isEnded: boolean): ChatResponse {
    const said = {
      text: this.#text + this.#refusal,
      calls: this.#calls.calls,
      usage: this.#usage,
      model: this.#model,
      raw: { id: this.#id, model: this.#model, finish_reason: this.#finish?.said, usage: this.#usage },
    };
    return settle({ ...said, ...this.#ending(isEnded) }, taken);
  }

  /** What has to go back with the calls of this answer, by the id that they got. */
  *echoes(response: ChatResponse): Generator<[string, Echo]> {
    const calls = this.#calls.calls;
    const message = {
      ...(this.#reasoningContent === "" ? {} : { reasoning_content: this.#reasoningContent }),
      ...(this.#reasoningDetails.length === 0 ? {} : { reasoning_details: this.#reasoningDetails }),
    };
    for (const [index, { id }] of response.toolCalls.entries()) {
      const call = calls[index]?.extra;
      const isFirst = index === 0 && Object.keys(message).length > 0;
      if (call === undefined && !isFirst) continue;
      yield [id, { ...(call === undefined ? {} : { call }), ...(isFirst ? { message } : {}) }];
    }
  }

  #ending(isEnded: boolean): Pick<Said, "stopReason" | "failure"> {
    if (this.#failure !== undefined) return { stopReason: "error", failure: this.#failure };
    const isWhole = isEnded && this.#isAnything;
    const finish = this.#finish ?? (isWhole ? { stopReason: "end_turn" as const, said: "" } : undefined);
    if (finish === undefined) {
      return this.#broken(
        this.#isAnything ? "ended the stream before its answer was complete" : "gave no answer",
      );
    }
    const { stopReason, said } = finish;
    if (stopReason === "content_filter" || this.#refusal !== "") {
      return { stopReason: "content_filter", failure: this.#filtered(this.#refusal || said) };
    }
    if (stopReason === "error") return this.#broken(`stopped with "${said}" in the middle of its answer`);
    if (stopReason === "tool_use" && this.#text === "" && this.#calls.calls.length === 0) {
      return this.#broken("said that it calls a tool, and named none");
    }
    return { stopReason };
  }

  #broken(what: string): Pick<Said, "stopReason" | "failure"> {
    return { stopReason: "error", failure: brokenFailure(this.#place, what) };
  }

  #addChoice(choice: JsonObject): ChatStreamEvent[] {
    this.#finish = readFinish(choice) ?? this.#finish;
    const delta = choice["delta"] ?? choice["message"];
    const message = isObject(delta) ? delta : {};
    this.#isAnything ||= isObject(delta);
    const events: ChatStreamEvent[] = [];
    const reasoning = this.#readReasoning(message);
    if (reasoning !== "") events.push({ type: "reasoning_delta", text: reasoning });
    // Before Chat Completions there was `text`, and some gateways still use it.
    const text = readText(message["content"] ?? choice["text"]);
    this.#text += text;
    const refusal = textOf(message["refusal"]);
    this.#refusal += refusal;
    if (text + refusal !== "") events.push({ type: "text_delta", text: text + refusal });
    const pieces = message["tool_calls"];
    for (const piece of Array.isArray(pieces) ? pieces : []) {
      const event = this.#calls.add(piece);
      if (event !== undefined) events.push(event);
    }
    if (this.#calls.size > MAX_CALLS) {
      this.fail(protocolError(this.#place, `called more than ${MAX_CALLS} tools at once`).failure);
    }
    return events;
  }

  #readReasoning(message: JsonObject): string {
    const content = textOf(message["reasoning_content"]);
    this.#reasoningContent += content;
    const details = message["reasoning_details"];
    if (Array.isArray(details)) this.#reasoningDetails.push(...details);
    return content || textOf(message["reasoning"]) || readThinking(message["content"]);
  }

  #block(said: string): void {
    this.#isAnything = true;
    this.#finish = { stopReason: "content_filter", said };
  }

  #filtered(said: string): ProviderFailure {
    return vendorFailure(this.#place, { message: said, codes: [], isFiltered: true });
  }
}

/** A string, or a list of parts of which some are text. */
function readText(content: unknown): string {
  if (!Array.isArray(content)) return textOf(content);
  return content
    .map((part) => (isObject(part) && part["type"] !== "thinking" ? textOf(part["text"]) : ""))
    .join("");
}

/** Mistral's thoughts are parts of the content, which are lists themselves. */
function readThinking(content: unknown): string {
  if (!Array.isArray(content)) return "";
  return content.map((part) => (isObject(part) ? readText(part["thinking"]) : "")).join("");
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
