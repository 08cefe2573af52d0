// Puts tool calls together from their pieces. The index says which call a piece belongs to, but servers leave it out, or
// the id, give every call the index 0, or a new id to every piece: what begins a call is its name.
import { isObject } from "../../../base/json.ts";
import type { SaidCall } from "../settle.ts";
import type { ChatStreamEvent } from "../types.ts";

interface Slot extends SaidCall {
  vendorIndex: number | undefined;
  text: string;
  /** What has to go back with it. */
  extra?: Record<string, unknown>;
}

export class ToolCallPieces {
  readonly #slots: Slot[] = [];

  /** Undefined: the piece says nothing. */
  add(piece: unknown): ChatStreamEvent | undefined {
    if (!isObject(piece)) return undefined;
    const fn = isObject(piece["function"]) ? piece["function"] : {};
    const id = textOrNothing(piece["id"]);
    const name = textOrNothing(fn["name"]);
    const vendorIndex = typeof piece["index"] === "number" ? piece["index"] : undefined;
    const written = argumentsOf(fn["arguments"]);
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
      ...(id === undefined ? {} : { id }),
      ...(name === undefined ? {} : { name }),
      ...(written === "" ? {} : { arguments: written }),
    };
  }

  get size(): number {
    return this.#slots.length;
  }

  /** A piece without a name that nothing began is no call. */
  get calls(): (SaidCall & { extra?: Record<string, unknown> })[] {
    return this.#slots
      .filter(({ name }) => name !== "")
      .map(({ id, name, text, extra }) => ({
        id,
        name,
        input: text,
        ...(extra === undefined ? {} : { extra }),
      }));
  }

  #find(id: string | undefined, name: string | undefined, vendorIndex: number | undefined): Slot | undefined {
    const sameId = id === undefined ? undefined : this.#slots.find((slot) => slot.id === id);
    if (sameId !== undefined && (vendorIndex === undefined || sameId.vendorIndex === vendorIndex))
      return sameId;
    const atIndex = this.#slots.findLast((slot) => slot.vendorIndex === vendorIndex);
    const place = vendorIndex === undefined ? this.#slots.at(-1) : atIndex;
    if (name === undefined || place === undefined) return place;
    return isNewCall(place, id, name) ? undefined : place;
  }

  #open(vendorIndex: number | undefined): Slot {
    const slot: Slot = { id: undefined, name: "", input: undefined, vendorIndex, text: "" };
    this.#slots.push(slot);
    return slot;
  }
}

/** A name came to a place that is taken: another call, unless the server only repeats itself. */
function isNewCall(place: Slot, id: string | undefined, name: string): boolean {
  if (place.name === "") return false;
  if (id !== undefined && place.id !== undefined && id !== place.id) return true;
  return place.name !== name || isComplete(place.text);
}

function isComplete(text: string): boolean {
  // Looked at first, because a server that repeats the name in each piece would have it parsed as often.
  if (!text.endsWith("}")) return false;
  try {
    return isObject(JSON.parse(text));
  } catch {
    return false;
  }
}

/** Some servers give an object instead of its JSON. */
function argumentsOf(value: unknown): string {
  if (typeof value === "string") return value;
  return value === undefined || value === null ? "" : (JSON.stringify(value) ?? "");
}

function textOrNothing(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
