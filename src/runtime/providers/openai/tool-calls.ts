// Assembles tool calls from their pieces. Servers omit the index or the id, use index 0 for every call, or send a new id
// with every piece; so a name starts a call.

import { isObject, tryParseJson } from "../../../base/json.ts";
import { asObject, asText, defined } from "../../../base/values.ts";
import type { OutputCall } from "../settle.ts";
import type { ChatStreamEvent } from "../types.ts";

interface Slot extends OutputCall {
  vendorIndex: number | undefined;
  text: string;
  /** Data to send back with the call. */
  extra?: Record<string, unknown>;
}

export class ToolCallPieces {
  readonly #slots: Slot[] = [];

  /** Undefined if the piece is empty. */
  add(piece: unknown): ChatStreamEvent | undefined {
    if (!isObject(piece)) return undefined;
    const fn = asObject(piece["function"]);
    const id = asText(piece["id"]);
    const name = asText(fn["name"]);
    const vendorIndex = typeof piece["index"] === "number" ? piece["index"] : undefined;
    const written = readArguments(fn["arguments"]);
    const extra = isObject(piece["extra_content"]) ? { extra_content: piece["extra_content"] } : undefined;
    if (id === undefined && name === undefined && written === "" && extra === undefined) return undefined;
    const slot = this.#find(id, name, vendorIndex) ?? this.#open(vendorIndex);
    slot.id ??= id;
    if (slot.name === "" && name !== undefined) slot.name = name;
    slot.text += written;
    if (extra !== undefined) slot.extra = extra;
    return {
      type: "tool_call_delta",
      index: this.#slots.indexOf(slot),
      ...defined({ id, name }),
      ...(written === "" ? {} : { arguments: written }),
    };
  }

  get size(): number {
    return this.#slots.length;
  }

  /** Pieces that never got a name are dropped. */
  get calls(): (OutputCall & { extra?: Record<string, unknown> })[] {
    return this.#slots
      .filter(({ name }) => name !== "")
      .map(({ id, name, text, extra }) => ({
        id,
        name,
        input: text,
        ...defined({ extra }),
      }));
  }

  #find(id: string | undefined, name: string | undefined, vendorIndex: number | undefined): Slot | undefined {
    const sameId = id === undefined ? undefined : this.#slots.find((slot) => slot.id === id);
    if (sameId !== undefined && (vendorIndex === undefined || sameId.vendorIndex === vendorIndex))
      return sameId;
    const atIndex = this.#slots.findLast((slot) => slot.vendorIndex === vendorIndex);
    const found = vendorIndex === undefined ? this.#slots.at(-1) : atIndex;
    if (name === undefined || found === undefined) return found;
    return isNewCall(found, id, name) ? undefined : found;
  }

  #open(vendorIndex: number | undefined): Slot {
    const slot: Slot = { id: undefined, name: "", input: undefined, vendorIndex, text: "" };
    this.#slots.push(slot);
    return slot;
  }
}

/** A name for a slot that has one starts another call, unless the server repeats the name. */
function isNewCall(slot: Slot, id: string | undefined, name: string): boolean {
  if (slot.name === "") return false;
  if (id !== undefined && slot.id !== undefined && id !== slot.id) return true;
  return slot.name !== name || isComplete(slot.text);
}

function isComplete(text: string): boolean {
  // Avoids parsing for every piece if a server repeats the name in each.
  return text.endsWith("}") && isObject(tryParseJson(text));
}

/** Some servers send an object instead of JSON text. */
function readArguments(value: unknown): string {
  if (typeof value === "string") return value;
  return value === undefined || value === null ? "" : (JSON.stringify(value) ?? "");
}
