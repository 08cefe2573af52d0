// The items of one answer: words, thoughts and calls, each put together from its events. A call counts when its item is
// complete, and not before.
import { isObject, type JsonObject } from "../../../base/json.ts";
import type { SaidCall } from "../settle.ts";

/** No model makes so many at once; a server that never stops would. */
export const MAX_ITEMS = 1000;

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

  get count(): number {
    return this.#items.size;
  }

  /** The item that an event is about; it is there from its first event on. */
  of(event: JsonObject): Item {
    const given = isObject(event["item"]) ? event["item"] : {};
    const item = this.#at(event, given);
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
    const listed = Array.isArray(output) ? output.slice(0, MAX_ITEMS + 1) : [];
    return listed.flatMap((given: unknown, index) => {
      if (!isObject(given)) return [];
      const known = this.#named(given["id"], given["call_id"]) ?? this.#placed(index, given["type"]);
      if (known?.whole !== undefined) return [];
      const item = known ?? this.of({ item: given, output_index: `listed ${index}` });
      item.whole = given;
      return [item];
    });
  }

  #at(event: JsonObject, given: JsonObject): Item {
    const place = event["output_index"];
    const id = textOf(event["item_id"]) ?? textOf(given["id"]);
    const key = String(place ?? id ?? textOf(given["call_id"]) ?? "");
    // The place is what counts: there are servers that change an item's id, and others that give no place with each event.
    const known =
      this.#items.get(key) ?? (place === undefined ? this.#named(id, given["call_id"]) : undefined);
    if (known !== undefined) return known;
    const item: Item = { type: "", name: "", pieces: "", isTold: false };
    this.#items.set(key, item);
    return item;
  }

  #named(id: unknown, callId: unknown): Item | undefined {
    return this.all.find((item) => isSame(item.id, id) || isSame(item.callId, callId));
  }

  #placed(index: number, type: unknown): Item | undefined {
    const item = this.#items.get(String(index));
    return item?.type === type ? item : undefined;
  }
}

/** Its arguments are what the complete item says. */
export function toCall({ callId, id, name, pieces, whole }: Item): SaidCall {
  const said = whole?.["arguments"];
  return { id: callId ?? id, name, input: typeof said === "string" && said !== "" ? said : pieces };
}

/** The text of a complete message, or what it says instead of one. */
export function textIn(whole: JsonObject, part: "text" | "refusal"): string {
  const parts = Array.isArray(whole["content"]) ? whole["content"] : [];
  return parts.map((given: unknown) => (isObject(given) ? (textOf(given[part]) ?? "") : "")).join("");
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

function isSame(known: string | undefined, given: unknown): boolean {
  return known !== undefined && known === given;
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
