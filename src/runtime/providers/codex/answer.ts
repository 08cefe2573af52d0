// One answer of the Responses API, put together from its events.
import { isObject, type JsonObject } from "../../../base/json.ts";
import { brokenFailure, type Place, protocolError, vendorFailure } from "../failure.ts";
import { type Said, settle } from "../settle.ts";
import type { ChatResponse, ChatStreamEvent, ProviderFailure, StopReason, TokenUsage } from "../types.ts";
import { streamFault } from "./fault.ts";
import { type Item, Items, MAX_ITEMS, sealedThought, textIn, toCall } from "./items.ts";
import type { Echo } from "./request.ts";
import { readUsage } from "./usage.ts";

export class Answer {
  readonly #place: Place;
  readonly #items = new Items();
  #text = "";
  #refusal = "";
  #thoughts = 0;
  #ending: { stopReason: StopReason; said: string } | undefined;
  #failure: ProviderFailure | undefined;
  #usage: TokenUsage | undefined;
  #model: string | undefined;
  #id: string | undefined;

  constructor(place: Place) {
    this.#place = place;
  }

  /** It has failed; nothing that follows counts. */
  get failure(): ProviderFailure | undefined {
    return this.#failure;
  }

  /** The vendor said how it ended. */
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
    if (read !== undefined) return this.#bounded(read(this, event));
    // Who answers in one piece gives the response itself.
    if (event["object"] === "response") return this.#bounded(this.end(event));
    const failure = type === "error" || type === "" ? streamFault(this.#place, event) : undefined;
    if (failure !== undefined) this.fail(failure);
    return [];
  }

  begin(response: unknown): ChatStreamEvent[] {
    if (!isObject(response)) return [];
    this.#id = textOf(response["id"]) || this.#id;
    this.#model = textOf(response["model"]) || this.#model;
    this.#usage = readUsage(response["usage"]) ?? this.#usage;
    return [];
  }

  words(event: JsonObject, isRefusal = false): ChatStreamEvent[] {
    return this.#say(this.#items.of(event), textOf(event["delta"]), isRefusal);
  }

  thoughts(event: JsonObject): ChatStreamEvent[] {
    const text = textOf(event["delta"]);
    if (text === "") return [];
    this.#thoughts += 1;
    return [{ type: "reasoning_delta", text }];
  }

  nextThought(): ChatStreamEvent[] {
    return this.#thoughts === 0 ? [] : [{ type: "reasoning_delta", text: "\n\n" }];
  }

  itemBegins(event: JsonObject): ChatStreamEvent[] {
    const item = this.#items.of(event);
    return item.type === "function_call" ? [this.#callEvent(item, {})] : [];
  }

  argumentsOf(event: JsonObject): ChatStreamEvent[] {
    const item = this.#items.of(event);
    if (item.type === "") item.type = "function_call";
    if (item.type !== "function_call") return [];
    const piece = textOf(event["delta"]);
    item.pieces += piece;
    return piece === "" ? [] : [this.#callEvent(item, { arguments: piece })];
  }

  itemEnds(event: JsonObject): ChatStreamEvent[] {
    if (!isObject(event["item"])) return [];
    const item = this.#items.of(event);
    item.whole = event["item"];
    return this.#late(item);
  }

  end(response: unknown): ChatStreamEvent[] {
    const given = isObject(response) ? response : {};
    this.begin(given);
    const late = this.#items.addMissing(given["output"]).flatMap((item) => this.#late(item));
    const status = textOf(given["status"]);
    if (status === "failed") this.failed(given);
    else if (status === "incomplete") this.incomplete(given);
    else this.#ending = { stopReason: "end_turn", said: status || "completed" };
    return late;
  }

  failed(response: unknown): ChatStreamEvent[] {
    this.begin(response);
    const failure = streamFault(this.#place, response);
    this.fail(failure ?? brokenFailure(this.#place, "failed and gave no reason"));
    return [];
  }

  incomplete(response: unknown): ChatStreamEvent[] {
    this.begin(response);
    const details = isObject(response) ? response["incomplete_details"] : undefined;
    const said = isObject(details) ? textOf(details["reason"]) : "";
    if (said === "max_output_tokens") this.#ending = { stopReason: "max_tokens", said };
    else if (said === "content_filter") this.#ending = { stopReason: "content_filter", said };
    else
      this.fail(
        brokenFailure(this.#place, `stopped in the middle of its answer (${said || "no reason given"})`),
      );
    return [];
  }

  finish(taken: Set<string>): ChatResponse {
    const ending = this.#howItEnded();
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
    return settle({ ...said, ...ending }, taken);
  }

  /** What has to go back with the calls of this answer, by the id that they got. */
  *echoes({ toolCalls }: ChatResponse): Generator<[string, Echo]> {
    const ids = toolCalls.map(({ id }) => id);
    let reasoning: JsonObject[] = [];
    for (const item of this.#items.all) {
      const thought = sealedThought(item);
      if (thought !== undefined) reasoning.push(thought);
      if (item.type !== "function_call" || item.name === "") continue;
      const id = ids.shift();
      if (id !== undefined && reasoning.length > 0) yield [id, { reasoning }];
      reasoning = [];
    }
  }

  #bounded(told: ChatStreamEvent[]): ChatStreamEvent[] {
    if (this.#items.count > MAX_ITEMS) {
      this.fail(protocolError(this.#place, `made more than ${MAX_ITEMS} items of one answer`).failure);
    }
    return told;
  }

  #howItEnded(): Pick<Said, "stopReason" | "failure"> {
    if (this.#failure !== undefined) {
      const stopReason = this.#failure.kind === "content_filter" ? "content_filter" : "error";
      return { stopReason, failure: this.#failure };
    }
    if (this.#ending === undefined) return this.#broken("ended the stream before its answer was complete");
    const { stopReason, said } = this.#ending;
    if (stopReason === "content_filter" || this.#refusal !== "") {
      const message = this.#refusal || said;
      const failure = vendorFailure(this.#place, { message, codes: [], isFiltered: true });
      return { stopReason: "content_filter", failure };
    }
    const isHalf = this.#items.calls.some(({ whole }) => whole === undefined);
    if (isHalf && stopReason !== "max_tokens")
      return this.#broken("ended its answer in the middle of a tool call");
    if (this.#items.count === 0) return this.#broken("gave no answer");
    return { stopReason };
  }

  #broken(what: string): Pick<Said, "stopReason" | "failure"> {
    return { stopReason: "error", failure: brokenFailure(this.#place, what) };
  }

  /** What was not told while it came, because only the whole came. */
  #late(item: Item): ChatStreamEvent[] {
    const { whole } = item;
    if (whole === undefined || item.isTold) return [];
    if (item.type === "function_call") {
      const { input } = toCall(item);
      return [
        this.#callEvent(item, item.pieces === "" && typeof input === "string" ? { arguments: input } : {}),
      ];
    }
    if (item.type !== "message") return [];
    return [
      ...this.#say(item, textIn(whole, "text"), false),
      ...this.#say(item, textIn(whole, "refusal"), true),
    ];
  }

  #say(item: Item, text: string, isRefusal: boolean): ChatStreamEvent[] {
    if (text === "") return [];
    // Several messages in one answer are paragraphs.
    const isNext = !item.isTold && this.#text !== "";
    item.isTold = true;
    const told = isNext ? `\n\n${text}` : text;
    this.#text += told;
    if (isRefusal) this.#refusal += told;
    return [{ type: "text_delta", text: told }];
  }

  #callEvent(item: Item, more: { arguments?: string }): ChatStreamEvent {
    const isFirst = !item.isTold;
    if (item.name !== "") item.isTold = true;
    return {
      type: "tool_call_delta",
      index: this.#items.calls.indexOf(item),
      ...(isFirst && item.callId !== undefined ? { id: item.callId } : {}),
      ...(isFirst && item.name !== "" ? { name: item.name } : {}),
      ...more,
    };
  }
}

type Reader = (answer: Answer, event: JsonObject) => ChatStreamEvent[];

/** Every other event says nothing that we want to know. */
const READERS: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ["response.created", (answer, event) => answer.begin(event["response"])],
  ["response.in_progress", (answer, event) => answer.begin(event["response"])],
  ["response.output_text.delta", (answer, event) => answer.words(event)],
  ["response.refusal.delta", (answer, event) => answer.words(event, true)],
  ["response.reasoning_summary_part.added", (answer) => answer.nextThought()],
  ["response.reasoning_summary_text.delta", (answer, event) => answer.thoughts(event)],
  ["response.reasoning_text.delta", (answer, event) => answer.thoughts(event)],
  ["response.output_item.added", (answer, event) => answer.itemBegins(event)],
  ["response.function_call_arguments.delta", (answer, event) => answer.argumentsOf(event)],
  ["response.output_item.done", (answer, event) => answer.itemEnds(event)],
  ["response.completed", (answer, event) => answer.end(event["response"])],
  ["response.done", (answer, event) => answer.end(event["response"])],
  ["response.failed", (answer, event) => answer.failed(event["response"])],
  ["response.incomplete", (answer, event) => answer.incomplete(event["response"])],
]);

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
