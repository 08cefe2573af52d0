// The items of one answer (messages, reasoning and calls), assembled from events. A call counts once its item is complete.

import { isObject, type JsonObject } from "../../../base/json.ts";
import { asObject, asObjects, asText, defined } from "../../../base/values.ts";
import type { OutputCall } from "../settle.ts";

/** Stops a server that never ends its answer. */
export const MAX_ITEMS = 1000;

export interface Item {
  type: string;
  id?: string;
  callId?: string;
  name: string;
  /** Arguments of a call received so far. */
  pieces: string;
  /** A delta of it was emitted. */
  isEmitted: boolean;
  /** The complete item. */
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

  /** Finds the item of an event, or adds it. */
  find(event: JsonObject): Item {
    const given = asObject(event["item"]);
    const item = this.#findOrAdd(event, given);
    item.type = asText(given["type"]) ?? item.type;
    const id = asText(given["id"]) ?? asText(event["item_id"]);
    if (id !== undefined) item.id = id;
    const callId = asText(given["call_id"]);
    if (callId !== undefined) item.callId = callId;
    item.name = asText(given["name"]) ?? item.name;
    return item;
  }

  /** Adds items from the list at the end of the answer: some servers send them only there. */
  addMissing(output: unknown): Item[] {
    const listed = Array.isArray(output) ? output.slice(0, MAX_ITEMS + 1) : [];
    return listed.flatMap((given: unknown, index) => {
      if (!isObject(given)) return [];
      const known = this.#findById(given["id"], given["call_id"]) ?? this.#findAtIndex(index, given["type"]);
      if (known?.whole !== undefined) return [];
      const item = known ?? this.find({ item: given, output_index: `listed ${index}` });
      item.whole = given;
      return [item];
    });
  }

  #findOrAdd(event: JsonObject, given: JsonObject): Item {
    const index = event["output_index"];
    const id = asText(event["item_id"]) ?? asText(given["id"]);
    const key = String(index ?? id ?? asText(given["call_id"]) ?? "");
    // The index identifies an item, because some servers change its id; others omit the index from some events.
    const known =
      this.#items.get(key) ?? (index === undefined ? this.#findById(id, given["call_id"]) : undefined);
    if (known !== undefined) return known;
    const item: Item = { type: "", name: "", pieces: "", isEmitted: false };
    this.#items.set(key, item);
    return item;
  }

  #findById(id: unknown, callId: unknown): Item | undefined {
    return this.all.find((item) => isSame(item.id, id) || isSame(item.callId, callId));
  }

  #findAtIndex(index: number, type: unknown): Item | undefined {
    const item = this.#items.get(String(index));
    return item?.type === type ? item : undefined;
  }
}

/** Prefers the arguments of the complete item. */
export function toCall({ callId, id, name, pieces, whole }: Item): OutputCall {
  const said = whole?.["arguments"];
  return { id: callId ?? id, name, input: typeof said === "string" && said !== "" ? said : pieces };
}

/** Joins the text, or the refusal, of a complete message. */
export function joinParts(whole: JsonObject, part: "text" | "refusal"): string {
  return asObjects(whole["content"])
    .map((given) => asText(given[part]) ?? "")
    .join("");
}

/** Reasoning to send back. Without encrypted content the vendor would look it up, and it stores nothing. */
export function toEncryptedReasoning({ type, whole }: Item): JsonObject | undefined {
  const sealed = asText(whole?.["encrypted_content"]);
  if (type !== "reasoning" || whole === undefined || sealed === undefined) return undefined;
  const id = asText(whole["id"]);
  return {
    type: "reasoning",
    ...defined({ id }),
    summary: Array.isArray(whole["summary"]) ? whole["summary"] : [],
    encrypted_content: sealed,
  };
}

function isSame(known: string | undefined, given: unknown): boolean {
  return known !== undefined && known === given;
}
