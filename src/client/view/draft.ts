// A view while a batch is worked into it: what may be changed in place, and the few ways to change it.
import type { WireFrame } from "../frames.ts";
import type { Limits } from "./limits.ts";
import { copyMemory, emptyMemory, type Memory, remember } from "./memory.ts";
import type { Entry, ToolEntry, View } from "./types.ts";
import { numberOf, objectOf, optional, wordOf } from "./values.ts";

export interface Draft {
  view: View;
  entries: Entry[];
  memory: Memory;
  limits: Limits;
  hasChanged: boolean;
}

/** What is known of the frame that is being worked in. */
export interface Moment {
  seq: number | null;
  at_ms?: number;
  /** The sub-agent that did it. */
  parent?: string;
  /** How many entries it made. */
  made: number;
}

type New<E> = E extends Entry ? Omit<E, "id" | "seq" | "at_ms" | "parent" | "depth"> : never;

export function openDraft(view: View, limits: Limits): Draft {
  return {
    view: { ...view },
    entries: [...view.entries],
    memory: view.memory === undefined ? emptyMemory() : copyMemory(view.memory),
    limits,
    hasChanged: false,
  };
}

export function closeDraft({ view, entries, memory }: Draft): View {
  return { ...view, entries, memory };
}

export function momentOf(frame: WireFrame, seq: number | null, at_ms: number | undefined): Moment {
  return {
    seq,
    ...optional("at_ms", numberOf(at_ms)),
    ...optional("parent", wordOf(frame["parent_tool_use_id"])),
    made: 0,
  };
}

/** Gives its place, counted from the first entry that there ever was. */
export function push(draft: Draft, moment: Moment, entry: New<Entry>): number {
  const { entries, view, memory } = draft;
  const { parent, at_ms, seq } = moment;
  const common = {
    id: idOf(memory, moment),
    seq,
    ...optional("at_ms", at_ms),
    ...optional("parent", parent),
    depth: parent === undefined ? 0 : depthBelow(draft, parent),
  };
  moment.made += 1;
  entries.push({ ...common, ...entry } as Entry);
  draft.hasChanged = true;
  const at = view.dropped + entries.length - 1;
  trim(draft, seq);
  return at;
}

/** The same when the same event is read again. */
function idOf(memory: Memory, { seq, made }: Moment): string {
  if (seq !== null) return made === 0 ? `${seq}` : `${seq}.${made}`;
  memory.unstored += 1;
  return `u${memory.unstored}`;
}

function trim({ entries, view, limits, memory }: Draft, seq: number | null): void {
  if (seq !== null && seq <= (memory.wholeTo ?? 0)) {
    memory.room = entries.length + limits.maxEntries;
    return;
  }
  const most = Math.max(limits.maxEntries, memory.room ?? 0);
  if (entries.length <= most) return;
  const step = Math.max(1, Math.floor(limits.maxEntries / 10));
  const excess = entries.length - most - 1 + step;
  entries.splice(0, excess);
  view.dropped += excess;
  for (const [id, at] of memory.tools) if (at < view.dropped) memory.tools.delete(id);
}

/** Undefined: it is no longer kept. */
export function entryAt({ entries, view }: Draft, at: number | undefined): Entry | undefined {
  return at === undefined ? undefined : entries[at - view.dropped];
}

export function replace(draft: Draft, at: number, entry: Entry): void {
  const index = at - draft.view.dropped;
  if (index < 0 || index >= draft.entries.length) return;
  draft.entries[index] = entry;
  draft.hasChanged = true;
}

/** The newest call by this id, running or not; of those that ended long ago none. */
export function toolAt(draft: Draft, id: string): { at: number; tool: ToolEntry } | undefined {
  const at = draft.memory.tools.get(id) ?? draft.memory.calls.get(id);
  const tool = entryAt(draft, at);
  return at !== undefined && tool?.kind === "tool" ? { at, tool } : undefined;
}

/** How deep what this call started works. Remembered, because the call itself may be gone by then. */
function depthBelow(draft: Draft, parent: string): number {
  const { depths } = draft.memory;
  const known = depths.get(parent);
  if (known !== undefined) return known;
  const depth = (toolAt(draft, parent)?.tool.depth ?? 0) + 1;
  remember(depths, parent, depth);
  return depth;
}

export function dataOf(frame: WireFrame): Record<string, unknown> {
  return objectOf(frame["data"]);
}
