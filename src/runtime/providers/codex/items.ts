// The items of one answer: words, thoughts and calls, each put together from its events. A call counts when its item is
// complete, and not before.
import { isObject, type JsonObject } from "../../../base/json.ts";
import type { SaidCall } from "../settle.ts";

export interface Item {
  type: string;
  id?: string;
  callId?: string;
  name: string;
  /** Of a call, as it comes. */
  pieces: string;
  /** Something of it was told while it came. */
  isTold: boolean;
  /** As the vendor gave it when it was complete. */
  whole?: JsonObject;
}

export class Items {
  readonly #items = new Map<string, Item>();

  get all(): readonly Item[] {
    return [...this.#items.values()];
  }

  get calls(): Item[] {
    return this.all.filter(({ type }) => type === "function_call");
  }

  /** The item that an event is about; it is there from its first event on. */
  of(event: JsonObject): Item {
    const given = isObject(event["item"]) ? event["item"] : {};
    const item = this.#at(keyOf(event, given));
    item.type = textOf(given["type"]) ?? item.type;
    const id = textOf(given["id"]) ?? textOf(event["item_id"]);
    if (id !== undefined) item.id = id;
    const callId = textOf(given["call_id"]);
    if (callId !== undefined) item.callId = callId;
    item.name = textOf(given["name"]) ?? item.name;
    return item;
  }

  /** What the end of the answer lists: some servers give their items only there. */
  addMissing(output: unknown): Item[] {
    const listed = Array.isArray(output) ? output : [];
    return listed.flatMap((given: unknown, index) => {
      if (!isObject(given)) return [];
      const known = this.all.find(
        ({ id, callId }) => isSame(id, given["id"]) || isSame(callId, given["call_id"]),
      );
      if (known?.whole !== undefined) return [];
      const item = known ?? this.of({ item: given, output_index: `listed ${index}` });
      item.whole = given;
      return [item];
    });
  }

  #at(key: string): Item {
    const known = this.#items.get(key);
    if (known !== undefined) return known;
    const item: Item = { type: "", name: "", pieces: "", isTold: false };
    this.#items.set(key, item);
    return item;
  }
}

/** Its arguments are what the complete item says. */
export function toCall({ callId, id, name, pieces, whole }: Item): SaidCall {
  const said = whole?.["arguments"];
  return { id: callId ?? id, name, input: typeof said === "string" && said !== "" ? said : pieces };
}

/** The text of a complete message. */
export function textIn(whole: JsonObject): string {
  const parts = Array.isArray(whole["content"]) ? whole["content"] : [];
  return parts
    .map((part: unknown) =>
      isObject(part) && part["type"] === "output_text" ? (textOf(part["text"]) ?? "") : "",
    )
    .join("");
}

/** Thoughts go back only sealed: without that the vendor looks for them, and it kept nothing. */
export function sealedThought({ type, whole }: Item): JsonObject | undefined {
  const sealed = textOf(whole?.["encrypted_content"]);
  if (type !== "reasoning" || whole === undefined || sealed === undefined) return undefined;
  const id = textOf(whole["id"]);
  return {
    type: "reasoning",
    ...(id === undefined ? {} : { id }),
    summary: Array.isArray(whole["summary"]) ? whole["summary"] : [],
    encrypted_content: sealed,
  };
}

function keyOf(event: JsonObject, given: JsonObject): string {
  const index = event["output_index"];
  if (index !== undefined) return String(index);
  return textOf(event["item_id"]) ?? textOf(given["id"]) ?? textOf(given["call_id"]) ?? "";
}

function isSame(known: string | undefined, given: unknown): boolean {
  return known !== undefined && known === given;
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
