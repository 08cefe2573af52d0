// Timeline layout: one lane per session with its turns and waits. Positions are fractions of the visible span.
import type { Stats } from "../../../src/protocol/stats.ts";
import { isBad } from "./figures.ts";
import type { TimeSpan } from "./ranges.ts";

export interface Bar {
  kind: "turn" | "wait";
  /** 0 to 1. */
  from: number;
  to: number;
  started_at_ms: number;
  ended_at_ms: number;
  isOpen: boolean;
  isBad: boolean;
  /** Number of merged bars. */
  count: number;
}

export interface Lane {
  session_id: string;
  turns: Bar[];
  waits: Bar[];
}

/** Bars closer than this are merged. */
const CLOSE = 1 / 1_000;

/** Latest activity first. */
export function layoutTimeline(stats: Pick<Stats, "turns" | "waits">, span: TimeSpan): Lane[] {
  const lanes = new Map<string, { lane: Lane; last_ms: number }>();
  const toLane = (session_id: string, last_ms: number): Lane => {
    const found = lanes.get(session_id) ?? { lane: { session_id, turns: [], waits: [] }, last_ms };
    found.last_ms = Math.max(found.last_ms, last_ms);
    lanes.set(session_id, found);
    return found.lane;
  };
  for (const turn of stats.turns) {
    const bar = toBar("turn", turn, span, isBad(turn.status));
    if (bar !== undefined) toLane(turn.session_id, bar.ended_at_ms).turns.push(bar);
  }
  for (const wait of stats.waits) {
    const bar = toBar("wait", wait, span, false);
    if (bar !== undefined) toLane(wait.session_id, bar.ended_at_ms).waits.push(bar);
  }
  return [...lanes.values()]
    .sort((a, b) => b.last_ms - a.last_ms || a.lane.session_id.localeCompare(b.lane.session_id))
    .map(({ lane }) => ({ ...lane, turns: mergeClose(lane.turns), waits: mergeClose(lane.waits) }));
}

function toBar(
  kind: Bar["kind"],
  { started_at_ms, ended_at_ms }: { started_at_ms: number; ended_at_ms?: number | undefined },
  { from_ms, to_ms }: TimeSpan,
  isBad: boolean,
): Bar | undefined {
  const end = Math.max(started_at_ms, ended_at_ms ?? to_ms);
  if (end < from_ms || started_at_ms > to_ms) return undefined;
  const place = (at: number): number => Math.min(1, Math.max(0, (at - from_ms) / (to_ms - from_ms)));
  const isOpen = ended_at_ms === undefined;
  return {
    kind,
    from: place(started_at_ms),
    to: place(end),
    started_at_ms,
    ended_at_ms: end,
    isOpen,
    isBad,
    count: 1,
  };
}

function mergeClose(bars: readonly Bar[]): Bar[] {
  const merged: Bar[] = [];
  for (const bar of [...bars].sort((a, b) => a.from - b.from)) {
    const last = merged.at(-1);
    if (last === undefined || !isMergeable(last, bar)) merged.push({ ...bar });
    else {
      last.isBad ||= bar.isBad;
      last.to = Math.max(last.to, bar.to);
      last.ended_at_ms = Math.max(last.ended_at_ms, bar.ended_at_ms);
      last.isOpen ||= bar.isOpen;
      last.count += bar.count;
    }
  }
  return merged;
}

/** Failed and successful turns are merged only if together they are a dot. */
function isMergeable(last: Bar, bar: Bar): boolean {
  if (bar.from - last.to > CLOSE) return false;
  return last.isBad === bar.isBad || Math.max(last.to, bar.to) - last.from <= 3 * CLOSE;
}
