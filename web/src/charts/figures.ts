// Aggregates the daemon's statistics by time, agent and tool.
import type { Stats, ToolStat, TurnStat } from "../../../src/protocol/stats.ts";

export interface Bucket {
  start_ms: number;
  turns: number;
  input_tokens: number;
  output_tokens: number;
  cost_usd: number;
}

/** Turns count in the bucket of their end. Turns before the first bucket are omitted. */
export function bucketTurns(turns: readonly TurnStat[], starts: readonly number[]): Bucket[] {
  const empty = { turns: 0, input_tokens: 0, output_tokens: 0, cost_usd: 0 };
  const buckets = starts.map((start_ms): Bucket => ({ start_ms, ...empty }));
  for (const turn of turns) {
    const bucket = buckets[bucketAt(starts, turn.ended_at_ms ?? turn.started_at_ms)];
    if (bucket === undefined) continue;
    bucket.turns += 1;
    bucket.input_tokens += turn.input_tokens ?? 0;
    bucket.output_tokens += turn.output_tokens ?? 0;
    bucket.cost_usd += turn.cost_usd ?? 0;
  }
  return buckets;
}

/** The last bucket that starts at or before it; -1 if none. */
function bucketAt(starts: readonly number[], at_ms: number): number {
  let low = 0;
  let high = starts.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((starts[middle] ?? 0) <= at_ms) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** The smallest value that is at or above `per_cent` of all values. */
export function percentile(values: readonly number[], per_cent: number): number | undefined {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil((per_cent / 100) * sorted.length) - 1)];
}

export interface ToolFigures {
  tool: string;
  count: number;
  failed: number;
  /** Undefined if none of its calls has ended. */
  p50_ms: number | undefined;
  p95_ms: number | undefined;
  total_ms: number;
}

/** Highest total time first. Calls without a latency count only in `count`. */
export function toolFigures(tools: readonly ToolStat[]): ToolFigures[] {
  const byTool = groupBy(tools, ({ tool }) => tool);
  return [...byTool]
    .map(([tool, calls]) => {
      const times = calls.flatMap(({ latency_ms }) => (latency_ms === undefined ? [] : [latency_ms]));
      return {
        tool,
        count: calls.length,
        failed: calls.filter(({ status }) => isBad(status)).length,
        p50_ms: percentile(times, 50),
        p95_ms: percentile(times, 95),
        total_ms: times.reduce((sum, time) => sum + time, 0),
      };
    })
    .sort((a, b) => b.total_ms - a.total_ms || b.count - a.count || a.tool.localeCompare(b.tool));
}

export function isBad(status: string): boolean {
  return status === "failed" || status === "timeout";
}

export interface BackendFigures {
  backend: string;
  turns: number;
  failed: number;
  input_tokens: number;
  output_tokens: number;
  cost_usd: number;
  /** Time in turns, without waiting for the user. */
  busy_ms: number;
  /** Median. */
  first_token_ms: number | undefined;
}

export function backendFigures({
  turns,
  waits,
  until_ms,
}: Pick<Stats, "turns" | "waits" | "until_ms">): BackendFigures[] {
  const byBackend = groupBy(turns, ({ backend }) => backend);
  const waitsBySession = groupBy(waits, ({ session_id }) => session_id);
  const sum = (list: readonly TurnStat[], of: (turn: TurnStat) => number): number =>
    list.reduce((total, turn) => total + of(turn), 0);
  return [...byBackend]
    .map(([backend, list]) => ({
      backend,
      turns: list.length,
      failed: list.filter(({ status }) => isBad(status)).length,
      input_tokens: sum(list, ({ input_tokens }) => input_tokens ?? 0),
      output_tokens: sum(list, ({ output_tokens }) => output_tokens ?? 0),
      cost_usd: sum(list, ({ cost_usd }) => cost_usd ?? 0),
      busy_ms: sum(list, (turn) => busyMs(turn, waitsBySession.get(turn.session_id) ?? [], until_ms)),
      first_token_ms: percentile(
        list.flatMap(({ time_to_first_token_ms: time }) => (time === undefined ? [] : [time])),
        50,
      ),
    }))
    .sort((a, b) => b.turns - a.turns || a.backend.localeCompare(b.backend));
}

/** Overlapping waits count once. */
function busyMs(turn: Timed, waits: readonly Timed[], until_ms: number): number {
  const endMs = turn.ended_at_ms ?? until_ms;
  let freeMs = turn.started_at_ms;
  let busy = 0;
  for (const wait of [...waits].sort((a, b) => a.started_at_ms - b.started_at_ms)) {
    busy += Math.max(0, Math.min(endMs, wait.started_at_ms) - freeMs);
    freeMs = Math.max(freeMs, wait.ended_at_ms ?? until_ms);
  }
  return busy + Math.max(0, endMs - freeMs);
}

interface Timed {
  started_at_ms: number;
  ended_at_ms?: number | undefined;
}

function groupBy<T>(all: readonly T[], toKey: (one: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const one of all) {
    const group = groups.get(toKey(one));
    if (group === undefined) groups.set(toKey(one), [one]);
    else group.push(one);
  }
  return groups;
}
