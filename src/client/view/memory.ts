// What the reducer must remember between two batches and no screen needs: what is being written, and by whom.
// Plain data, so that a view is all there is to go on from.
import type { Verdict } from "../../protocol/not-run.ts";

/** A text or a thought that may still grow, or that a whole message may still put right. */
export interface OpenBlock {
  kind: "text" | "thinking";
  /** The tool call of the sub-agent that writes; absent for the session's own agent. */
  parent?: string;
  item_id?: string;
  index?: number;
  /** Its place in the view, counted from the first entry ever; absent while all of it is blank. */
  at?: number;
  /** How long it is in truth, and what came of it while it had no place. */
  chars: number;
  blank: string;
}

export interface ViewMemory {
  open: ReadonlyMap<string, OpenBlock>;
  /** Tools that have no result yet: their places by their ids. */
  tools: ReadonlyMap<string, number>;
  /** The newest calls, also those that have ended. */
  calls: ReadonlyMap<string, number>;
  /** Which tool a piece of input is for: the tool's id by who writes and the index of the block. */
  inputs: ReadonlyMap<string, string>;
  /** How deep what a tool call started works. */
  depths: ReadonlyMap<string, number>;
  /** How long outputs are in truth that are still growing. */
  outputs: ReadonlyMap<string, number>;
  /** How the requests about a tool call stand, by its id and theirs. */
  verdicts: ReadonlyMap<string, ReadonlyMap<string, Verdict>>;
  /** The agent died in this turn. */
  hasCrashed: boolean;
  /** Messages of this turn whose echo may follow. */
  told: readonly { at: number; text: string }[];
  /** How many entries were made of what was never stored. */
  unstored: number;
  /** The beginning or the end of a turn was seen. */
  isTurnKnown: boolean;
  /** Nothing is dropped up to this event, and so many entries are kept then, because a person asked for them. */
  wholeTo?: number;
  room?: number;
  /** The event with which the stream is up to date again. */
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
  told: { at: number; text: string }[];
}

/** Of one kind of thing; a stream that never ends anything must not make us remember all of it. */
const MAX_REMEMBERED = 1_000;

export function emptyMemory(): Memory {
  return {
    open: new Map(),
    tools: new Map(),
    calls: new Map(),
    inputs: new Map(),
    depths: new Map(),
    outputs: new Map(),
    verdicts: new Map(),
    hasCrashed: false,
    told: [],
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
    told: [...memory.told],
  };
}

/** The oldest is forgotten when there are too many. */
export function remember<V>(map: Map<string, V>, key: string, value: V): void {
  // The newest stands last, also one that was there before.
  map.delete(key);
  map.set(key, value);
  if (map.size <= MAX_REMEMBERED) return;
  const [oldest] = map.keys();
  if (oldest !== undefined) map.delete(oldest);
}
