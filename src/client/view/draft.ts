// A mutable view while a batch is applied, and the operations on it.
import { asNumber, asObject, asText, defined } from "../../base/values.ts";
import type { WireFrame } from "../frames.ts";
import type { Limits } from "./limits.ts";
import { copyMemory, createMemory, type Memory, remember } from "./memory.ts";
import type { Entry, ToolEntry, View } from "./types.ts";

export interface Draft {
  view: View;
  entries: Entry[];
  memory: Memory;
  limits: Limits;
  hasChanged: boolean;
}

/** The frame being applied. */
export interface Moment {
  seq: number | null;
  at_ms?: number;
  /** The tool call of the sub-agent. */
  parent?: string;
  /** Number of entries created so far. */
  made: number;
}

type New<E> = E extends Entry ? Omit<E, "id" | "seq" | "at_ms" | "parent" | "depth"> : never;

export function openDraft(view: View, limits: Limits): Draft {
  return {
    view: { ...view },
    entries: [...view.entries],
    memory: view.memory === undefined ? createMemory() : copyMemory(view.memory),
    limits,
    hasChanged: false,
  };
}

export function closeDraft({ view, entries, memory }: Draft): View {
  return { ...view, entries, memory };
}

export function toMoment(frame: WireFrame, seq: number | null, at_ms: number | undefined): Moment {
  return {
    seq,
    ...defined({ at_ms: asNumber(at_ms), parent: asText(frame["parent_tool_use_id"]) }),
    made: 0,
  };
}

/** Returns its position, counted from the first entry ever. */
export function push(draft: Draft, moment: Moment, entry: New<Entry>): number {
  const { entries, view, memory } = draft;
  const { parent, at_ms, seq } = moment;
  const common = {
    id: createId(memory, moment),
    seq,
    ...defined({ at_ms, parent }),
    depth: parent === undefined ? 0 : findDepth(draft, parent),
  };
  moment.made += 1;
  entries.push({ ...common, ...entry } as Entry);
  draft.hasChanged = true;
  const at = view.dropped + entries.length - 1;
  trim(draft, seq);
  return at;
}

/** Stable when the same event is read again. */
function createId(memory: Memory, { seq, made }: Moment): string {
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

/** Undefined if no longer kept. */
export function getEntryAt({ entries, view }: Draft, at: number | undefined): Entry | undefined {
  return at === undefined ? undefined : entries[at - view.dropped];
}

export function replace(draft: Draft, at: number, entry: Entry): void {
  const index = at - draft.view.dropped;
  if (index < 0 || index >= draft.entries.length) return;
  draft.entries[index] = entry;
  draft.hasChanged = true;
}

/** The newest call with this id, running or recently ended. */
export function findToolAt(draft: Draft, id: string): { at: number; tool: ToolEntry } | undefined {
  const at = draft.memory.tools.get(id) ?? draft.memory.calls.get(id);
  const tool = getEntryAt(draft, at);
  return at !== undefined && tool?.kind === "tool" ? { at, tool } : undefined;
}

/** Depth of the sub-agent of this call. Remembered, because the call may be dropped. */
function findDepth(draft: Draft, parent: string): number {
  const { depths } = draft.memory;
  const known = depths.get(parent);
  if (known !== undefined) return known;
  const depth = (findToolAt(draft, parent)?.tool.depth ?? 0) + 1;
  remember(depths, parent, depth);
  return depth;
}

export function readData(frame: WireFrame): Record<string, unknown> {
  return asObject(frame["data"]);
}
