// State the reducer keeps between batches that no screen needs. Plain data, so that a view is self-contained.
import type { Verdict } from "../../protocol/not-run.ts";

/** A text or thinking block that may still grow, or be corrected by a complete message. */
export interface OpenBlock {
  kind: "text" | "thinking";
  /** The tool call of the sub-agent that writes; absent for the main agent. */
  parent?: string;
  item_id?: string;
  index?: number;
  /** Its position, counted from the first entry ever; absent while it is blank. */
  at?: number;
  /** Its untruncated length, and its text while it is blank. */
  chars: number;
  blank: string;
}

export interface ViewMemory {
  open: ReadonlyMap<string, OpenBlock>;
  /** Positions of tools without a result, by id. */
  tools: ReadonlyMap<string, number>;
  /** Positions of the newest calls, including ended ones. */
  calls: ReadonlyMap<string, number>;
  /** The tool id of an input delta, by writer and block index. */
  inputs: ReadonlyMap<string, string>;
  /** Depth of the sub-agent of a tool call. */
  depths: ReadonlyMap<string, number>;
  /** Untruncated lengths of growing outputs. */
  outputs: ReadonlyMap<string, number>;
  /** State of the requests about a tool call, by tool id and request id. */
  verdicts: ReadonlyMap<string, ReadonlyMap<string, Verdict>>;
  /** The agent crashed in this turn. */
  hasCrashed: boolean;
  /** Delivered messages of this turn whose echo may follow. */
  delivered: readonly { at: number; text: string }[];
  /** Positions of the first entries of turns, by id. */
  turns: ReadonlyMap<string, number>;
  /** Number of entries made from unstored inputs. */
  unstored: number;
  /** A turn start or end was seen. */
  isTurnKnown: boolean;
  /** Nothing is dropped up to this event, because the user loaded it; `room` entries are kept then. */
  wholeTo?: number;
  room?: number;
  /** The event at which the stream has caught up. */
  catchUpTo?: number;
}

export interface Memory extends ViewMemory {
  open: Map<string, OpenBlock>;
  tools: Map<string, number>;
  calls: Map<string, number>;
  inputs: Map<string, string>;
  depths: Map<string, number>;
  outputs: Map<string, number>;
  verdicts: Map<string, ReadonlyMap<string, Verdict>>;
  delivered: { at: number; text: string }[];
  turns: Map<string, number>;
}

/** Per map, so that a stream that never ends anything uses bounded memory. */
const MAX_REMEMBERED = 1_000;

export function createMemory(): Memory {
  return {
    open: new Map(),
    tools: new Map(),
    calls: new Map(),
    inputs: new Map(),
    depths: new Map(),
    outputs: new Map(),
    verdicts: new Map(),
    hasCrashed: false,
    delivered: [],
    turns: new Map(),
    unstored: 0,
    isTurnKnown: false,
  };
}

export function copyMemory(memory: ViewMemory): Memory {
  return {
    ...memory,
    open: new Map(memory.open),
    tools: new Map(memory.tools),
    calls: new Map(memory.calls),
    inputs: new Map(memory.inputs),
    depths: new Map(memory.depths),
    outputs: new Map(memory.outputs),
    verdicts: new Map(memory.verdicts),
    delivered: [...memory.delivered],
    turns: new Map(memory.turns),
  };
}

/** Drops the oldest entry if there are too many. */
export function remember<V>(map: Map<string, V>, key: string, value: V): void {
  // Reinserted, so that it counts as newest.
  map.delete(key);
  map.set(key, value);
  if (map.size <= MAX_REMEMBERED) return;
  const [oldest] = map.keys();
  if (oldest !== undefined) map.delete(oldest);
}
