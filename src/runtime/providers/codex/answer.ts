// Assembles an answer from the events of the Responses API.
import { isObject, type JsonObject } from "../../../base/json.ts";
import { asObject, asText } from "../../../base/values.ts";
import { brokenFailure, type Endpoint, protocolError, vendorFailure } from "../failure.ts";
import { type ModelOutput, toResponse } from "../settle.ts";
import type { ChatResponse, ChatStreamEvent, ProviderFailure, StopReason, TokenUsage } from "../types.ts";
import { readStreamFailure } from "./fault.ts";
import { type Item, Items, joinParts, MAX_ITEMS, toCall, toEncryptedReasoning } from "./items.ts";
import type { CodexEcho } from "./request.ts";
import { readUsage } from "./usage.ts";

export class CodexAnswer {
  readonly #endpoint: Endpoint;
  readonly #items = new Items();
  #text = "";
  #refusal = "";
  #hasReasoning = false;
  #ending: { stopReason: StopReason; said: string } | undefined;
  #failure: ProviderFailure | undefined;
  #usage: TokenUsage | undefined;
  #model: string | undefined;
  #id: string | undefined;

  constructor(endpoint: Endpoint) {
    this.#endpoint = endpoint;
  }

  /** Once set, later events are ignored. */
  get failure(): ProviderFailure | undefined {
    return this.#failure;
  }

  /** The vendor reported the end. */
  get isFinished(): boolean {
    return this.#ending !== undefined;
  }

  fail(failure: ProviderFailure): void {
    this.#failure ??= failure;
  }

  add(event: unknown): ChatStreamEvent[] {
    if (!isObject(event)) return [];
    const type = String(event["type"] ?? "");
    const read = READERS.get(type);
    if (read !== undefined) return this.#checkItemCount(read(this, event));
    // Without a stream, the body is the response itself.
    if (event["object"] === "response") return this.#checkItemCount(this.complete(event));
    const failure = type === "error" || type === "" ? readStreamFailure(this.#endpoint, event) : undefined;
    if (failure !== undefined) this.fail(failure);
    return [];
  }

  addEnvelope(response: unknown): ChatStreamEvent[] {
    if (!isObject(response)) return [];
    this.#id = asText(response["id"]) ?? this.#id;
    this.#model = asText(response["model"]) ?? this.#model;
    this.#usage = readUsage(response["usage"]) ?? this.#usage;
    return [];
  }

  addText(event: JsonObject, isRefusal = false): ChatStreamEvent[] {
    return this.#emitText(this.#items.find(event), asText(event["delta"]), isRefusal);
  }

  addReasoning(event: JsonObject): ChatStreamEvent[] {
    const text = asText(event["delta"]);
    if (text === undefined) return [];
    this.#hasReasoning = true;
    return [{ type: "reasoning_delta", text }];
  }

  separateReasoning(): ChatStreamEvent[] {
    return !this.#hasReasoning ? [] : [{ type: "reasoning_delta", text: "\n\n" }];
  }

  startItem(event: JsonObject): ChatStreamEvent[] {
    const item = this.#items.find(event);
    return item.type === "function_call" ? [this.#toCallEvent(item, {})] : [];
  }

  addArguments(event: JsonObject): ChatStreamEvent[] {
    const item = this.#items.find(event);
    if (item.type === "") item.type = "function_call";
    if (item.type !== "function_call") return [];
    const piece = asText(event["delta"]);
    item.pieces += piece ?? "";
    return piece === undefined ? [] : [this.#toCallEvent(item, { arguments: piece })];
  }

  finishItem(event: JsonObject): ChatStreamEvent[] {
    if (!isObject(event["item"])) return [];
    const item = this.#items.find(event);
    item.whole = event["item"];
    return this.#emitWhole(item);
  }

  complete(response: unknown): ChatStreamEvent[] {
    const given = asObject(response);
    this.addEnvelope(given);
    const late = this.#items.addMissing(given["output"]).flatMap((item) => this.#emitWhole(item));
    const status = asText(given["status"]);
    if (status === "failed") this.failResponse(given);
    else if (status === "incomplete") this.stopEarly(given);
    else this.#ending = { stopReason: "end_turn", said: status ?? "completed" };
    return late;
  }

  failResponse(response: unknown): ChatStreamEvent[] {
    this.addEnvelope(response);
    const failure = readStreamFailure(this.#endpoint, response);
    this.fail(failure ?? brokenFailure(this.#endpoint, "failed without a reason"));
    return [];
  }

  stopEarly(response: unknown): ChatStreamEvent[] {
    this.addEnvelope(response);
    const said = asText(asObject(asObject(response)["incomplete_details"])["reason"]) ?? "no reason given";
    if (said === "max_output_tokens") this.#ending = { stopReason: "max_tokens", said };
    else if (said === "content_filter") this.#ending = { stopReason: "content_filter", said };
    else this.fail(brokenFailure(this.#endpoint, `stopped before its answer was complete (${said})`));
    return [];
  }

  finish(usedIds: Set<string>): ChatResponse {
    const ending = this.#readEnding();
    const isCut = ending.stopReason === "max_tokens";
    const said = {
      text: this.#text,
      calls: this.#items.calls
        .filter(({ name, whole }) => name !== "" && (whole !== undefined || isCut))
        .map(toCall),
      usage: this.#usage,
      model: this.#model,
      raw: { id: this.#id, model: this.#model, status: this.#ending?.said, usage: this.#usage },
    };
    return toResponse({ ...said, ...ending }, usedIds);
  }

  /** Reasoning to send back with the calls of this answer, by call id. */
  *echoes({ toolCalls }: ChatResponse): Generator<[string, CodexEcho]> {
    const ids = toolCalls.map(({ id }) => id);
    let reasoning: JsonObject[] = [];
    for (const item of this.#items.all) {
      const thought = toEncryptedReasoning(item);
      if (thought !== undefined) reasoning.push(thought);
      if (item.type !== "function_call" || item.name === "") continue;
      const id = ids.shift();
      if (id !== undefined && reasoning.length > 0) yield [id, { reasoning }];
      reasoning = [];
    }
  }

  #checkItemCount(events: ChatStreamEvent[]): ChatStreamEvent[] {
    if (this.#items.count > MAX_ITEMS) {
      this.fail(protocolError(this.#endpoint, `sent more than ${MAX_ITEMS} items in one answer`).failure);
    }
    return events;
  }

  #readEnding(): Pick<ModelOutput, "stopReason" | "failure"> {
    if (this.#failure !== undefined) {
      const stopReason = this.#failure.kind === "content_filter" ? "content_filter" : "error";
      return { stopReason, failure: this.#failure };
    }
    if (this.#ending === undefined) return this.#toBroken("ended the stream before its answer was complete");
    const { stopReason, said } = this.#ending;
    if (stopReason === "content_filter" || this.#refusal !== "") {
      const message = this.#refusal || said;
      const failure = vendorFailure(this.#endpoint, { message, codes: [], isFiltered: true });
      return { stopReason: "content_filter", failure };
    }
    const isHalf = this.#items.calls.some(({ whole }) => whole === undefined);
    if (isHalf && stopReason !== "max_tokens") return this.#toBroken("ended its answer during a tool call");
    if (this.#items.count === 0) return this.#toBroken("sent no answer");
    return { stopReason };
  }

  #toBroken(what: string): Pick<ModelOutput, "stopReason" | "failure"> {
    return { stopReason: "error", failure: brokenFailure(this.#endpoint, what) };
  }

  /** Emits an item that arrived whole, without deltas. */
  #emitWhole(item: Item): ChatStreamEvent[] {
    const { whole } = item;
    if (whole === undefined || item.isEmitted) return [];
    if (item.type === "function_call") {
      const { input } = toCall(item);
      return [
        this.#toCallEvent(item, item.pieces === "" && typeof input === "string" ? { arguments: input } : {}),
      ];
    }
    if (item.type !== "message") return [];
    return [
      ...this.#emitText(item, joinParts(whole, "text"), false),
      ...this.#emitText(item, joinParts(whole, "refusal"), true),
    ];
  }

  #emitText(item: Item, text: string | undefined, isRefusal: boolean): ChatStreamEvent[] {
    if (!text) return [];
    // Messages of one answer are separated like paragraphs.
    const isNext = !item.isEmitted && this.#text !== "";
    item.isEmitted = true;
    const added = isNext ? `\n\n${text}` : text;
    this.#text += added;
    if (isRefusal) this.#refusal += added;
    return [{ type: "text_delta", text: added }];
  }

  #toCallEvent(item: Item, more: { arguments?: string }): ChatStreamEvent {
    const isFirst = !item.isEmitted;
    if (item.name !== "") item.isEmitted = true;
    return {
      type: "tool_call_delta",
      index: this.#items.calls.indexOf(item),
      ...(isFirst && item.callId !== undefined ? { id: item.callId } : {}),
      ...(isFirst && item.name !== "" ? { name: item.name } : {}),
      ...more,
    };
  }
}

type Reader = (answer: CodexAnswer, event: JsonObject) => ChatStreamEvent[];

/** Other events are ignored. */
const READERS: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ["response.created", (answer, event) => answer.addEnvelope(event["response"])],
  ["response.in_progress", (answer, event) => answer.addEnvelope(event["response"])],
  ["response.output_text.delta", (answer, event) => answer.addText(event)],
  ["response.refusal.delta", (answer, event) => answer.addText(event, true)],
  ["response.reasoning_summary_part.added", (answer) => answer.separateReasoning()],
  ["response.reasoning_summary_text.delta", (answer, event) => answer.addReasoning(event)],
  ["response.reasoning_text.delta", (answer, event) => answer.addReasoning(event)],
  ["response.output_item.added", (answer, event) => answer.startItem(event)],
  ["response.function_call_arguments.delta", (answer, event) => answer.addArguments(event)],
  ["response.output_item.done", (answer, event) => answer.finishItem(event)],
  ["response.completed", (answer, event) => answer.complete(event["response"])],
  ["response.done", (answer, event) => answer.complete(event["response"])],
  ["response.failed", (answer, event) => answer.failResponse(event["response"])],
  ["response.incomplete", (answer, event) => answer.stopEarly(event["response"])],
]);
