// What happened between two checkpoints, and who did it: a turn, somebody else between turns, an undo, or nobody can say
// because a checkpoint is missing. Pure.
import type { ChangedTurn } from "../../protocol/changes.ts";
import type { NumberedTurn } from "../core/jobs.ts";
import type { CheckpointRecord } from "./records.ts";

/** A checkpoint that was not skipped. */
export type KnownRecord = CheckpointRecord & { tree: string };

export interface Span {
  from: KnownRecord;
  to: KnownRecord;
  by: "turn" | "others" | "undo" | "cut" | "unclear";
  /** The turns that may have changed something in it. */
  turns: number[];
}

/** Checkpoints of another directory cannot be compared with the newest. */
export function keepSameRoot(records: readonly CheckpointRecord[]): CheckpointRecord[] {
  const root = records.at(-1)?.root;
  const last = records.findLastIndex((record) => record.root !== root);
  return records.slice(last + 1);
}

export function isKnown(record: CheckpointRecord): record is KnownRecord {
  return record.tree !== undefined;
}

/** In order; each begins where the one before ends. */
export function listSpans(records: readonly CheckpointRecord[]): Span[] {
  const spans: Span[] = [];
  let from: KnownRecord | undefined;
  let between: CheckpointRecord[] = [];
  for (const record of records) {
    if (!isKnown(record)) {
      between.push(record);
      continue;
    }
    if (from !== undefined) spans.push(toSpan(from, record, between));
    from = record;
    between = [];
  }
  return spans;
}

function toSpan(from: KnownRecord, to: KnownRecord, between: readonly CheckpointRecord[]): Span {
  const inside = between.map(({ turn }) => turn);
  const ends = [from.kind === "start" ? from.turn : undefined, to.kind === "end" ? to.turn : undefined];
  const turns = [...new Set([...ends, ...inside])].filter((turn) => turn !== undefined).sort((a, b) => a - b);
  return { from, to, by: findAuthor(from, to, between.length > 0, turns), turns };
}

function findAuthor(
  from: KnownRecord,
  to: KnownRecord,
  isGapped: boolean,
  turns: readonly number[],
): Span["by"] {
  // Without the second, the daemon died while it restored files.
  if (from.kind === "undo_before") return to.kind === "undo_after" ? "undo" : "cut";
  if (isGapped) return "unclear";
  if (from.kind === "start" && to.kind === "end" && from.turn === to.turn) return "turn";
  return turns.length === 0 ? "others" : "unclear";
}

/** The span of a turn; undefined if nothing is known about it. */
export function findSpan(spans: readonly Span[], turn: number): Span | undefined {
  return spans.find((span) => span.turns.includes(turn));
}

/** All turns that have a record, without their figures. */
export function listTurns(
  records: readonly CheckpointRecord[],
): Omit<ChangedTurn, "files" | "additions" | "deletions">[] {
  const turns = new Map<number, Omit<ChangedTurn, "files" | "additions" | "deletions">>();
  for (const { turn, turn_id, kind, at_ms, skipped } of records) {
    if (turn === undefined || turn_id === undefined) continue;
    const before = turns.get(turn);
    turns.set(turn, {
      ...(before ?? { turn, turn_id, started_at_ms: at_ms }),
      ...(kind === "end" ? { ended_at_ms: at_ms } : {}),
      ...(skipped === undefined ? {} : { skipped }),
    });
  }
  return [...turns.values()].sort((a, b) => a.turn - b.turn);
}

/** The number of a turn that has a record, or of a new one. */
export function numberTurn(records: readonly CheckpointRecord[], turn_id: string): number {
  const known = records.findLast((record) => record.turn_id === turn_id)?.turn;
  return known ?? Math.max(0, ...records.map(({ turn = 0 }) => turn)) + 1;
}

/** The turns from this one on that are still in the agent's conversation, oldest first. */
export function listRemembered(records: readonly CheckpointRecord[], from: number): NumberedTurn[] {
  const turns = new Map<number, string>();
  for (const { turn, turn_id, rewound } of records) {
    if (rewound !== undefined)
      for (const known of [...turns.keys()]) if (known >= rewound) turns.delete(known);
    if (turn !== undefined && turn_id !== undefined && turn >= from) turns.set(turn, turn_id);
  }
  return [...turns].map(([turn, turn_id]) => ({ turn, turn_id })).sort((a, b) => a.turn - b.turn);
}

/** The last turn that changed something and was not undone since. */
export function findLastTurn(
  records: readonly CheckpointRecord[],
  spans: readonly Span[],
): number | undefined {
  let undone = Number.POSITIVE_INFINITY;
  for (const record of [...records].reverse()) {
    if (record.undone !== undefined) undone = Math.min(undone, record.undone);
    if (record.kind !== "end" && record.skipped === undefined) continue;
    const { turn } = record;
    if (turn === undefined || turn >= undone) continue;
    const span = findSpan(spans, turn);
    if (span !== undefined && hasChanged(span)) return turn;
  }
  return undefined;
}

function hasChanged({ from, to }: Span): boolean {
  return from.tree !== to.tree || listLargeChanges(from, to).length > 0;
}

export interface LargeChange {
  path: string;
  status: "added" | "modified" | "deleted";
}

/** Files that are too large to be kept and differ. */
export function listLargeChanges(from: CheckpointRecord, to: CheckpointRecord): LargeChange[] {
  const [old, now] = [from.large ?? {}, to.large ?? {}];
  return [...new Set([...Object.keys(old), ...Object.keys(now)])].flatMap((path): LargeChange[] => {
    if (old[path] === now[path]) return [];
    const status = old[path] === undefined ? "added" : now[path] === undefined ? "deleted" : "modified";
    return [{ path, status }];
  });
}
