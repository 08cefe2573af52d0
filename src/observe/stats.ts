// Rows → what happened over time: turns, calls of tools and waits for a person, each from the rows of its beginning and
// its end. Pure. An end says how long it took, so a beginning that is not among the rows is known all the same.
import type { ActionStatus } from "../protocol/actions.ts";
import type { ToolStat, TurnStat, WaitStat } from "../protocol/stats.ts";
import type { EventRow } from "./rows.ts";
import type { ObservedStats, StatsQuery, ToolEvent, ToolEventType, TurnEvent } from "./types.ts";

const ENDS: Readonly<Partial<Record<string, ActionStatus>>> = {
  completed: "success",
  failed: "failed",
  interrupted: "interrupted",
  cancelled: "cancelled",
  timeout: "timeout",
};
const NO_ANSWER: Readonly<Partial<Record<ToolEventType, string>>> = {
  timeout: "expired",
  cancelled: "withdrawn",
  interrupted: "orphaned",
};
const TOOL_WORDS = { commandExecution: "command", fileChange: "file change", tool: "tool" } as const;

/** In any order; the same row twice counts once. */
export function toStats(rows: readonly EventRow[], query: StatsQuery): ObservedStats {
  const turns = new Map<string, TurnStat>();
  const tools = new Map<string, ToolStat & { item_id: string }>();
  const waits = new Map<string, WaitStat & { item_id?: string }>();
  for (const { kind, row } of rows) {
    const { session_id } = row;
    if (query.session_id !== undefined && session_id !== query.session_id) continue;
    if (kind === "turn") addTurn(turns, row);
    else if (row.request_id !== undefined) addWait(waits, row, row.request_id);
    else if (row.item_id !== undefined) addTool(tools, row, row.item_id);
  }
  const found = [...waits.values()];
  const lists = {
    turns: newest([...turns.values()].map(forwards), query),
    tools: newest(withoutWaits([...tools.values()], found), query),
    waits: newest(
      found.map(({ item_id: _, ...wait }) => wait),
      query,
    ),
  };
  return {
    turns: lists.turns.kept,
    tools: lists.tools.kept,
    waits: lists.waits.kept,
    is_cut: Object.values(lists).some(({ isCut }) => isCut),
  };
}

function addTurn(turns: Map<string, TurnStat>, row: TurnEvent): void {
  const { session_id, turn_id, event_type, created_at_ms } = row;
  if (turn_id === undefined || event_type === "message") return;
  const key = `${session_id} ${turn_id}`;
  const known = turns.get(key);
  const begun = { session_id, backend: row.source_provider, turn_id };
  if (event_type === "started") {
    turns.set(key, { status: "running", ...known, ...begun, started_at_ms: created_at_ms });
    return;
  }
  turns.set(key, {
    ...begun,
    started_at_ms: known?.started_at_ms ?? created_at_ms - (row.duration_ms ?? 0),
    ended_at_ms: created_at_ms,
    status: ENDS[event_type] ?? "failed",
    ...pick(row, "input_tokens"),
    ...pick(row, "output_tokens"),
    ...pick(row, "cost_usd"),
    ...pick(row, "time_to_first_token_ms"),
  });
}

function addTool(tools: Map<string, ToolStat & { item_id: string }>, row: ToolEvent, item_id: string): void {
  const { session_id, turn_id, event_type, created_at_ms, latency_ms = 0 } = row;
  const key = `${session_id} ${turn_id} ${item_id}`;
  const known = tools.get(key);
  const begun = {
    session_id,
    ...(turn_id === undefined ? {} : { turn_id }),
    tool: row.tool_name ?? TOOL_WORDS[row.item_type],
    item_id,
  };
  const status = ENDS[event_type];
  if (status !== undefined) {
    const started_at_ms = known?.started_at_ms ?? created_at_ms - latency_ms;
    const ended_at_ms = started_at_ms + latency_ms;
    tools.set(key, { ...begun, started_at_ms, ended_at_ms, latency_ms, status });
  } else if (event_type === "started") {
    const ended = known?.latency_ms === undefined ? {} : { ended_at_ms: created_at_ms + known.latency_ms };
    tools.set(key, { status: "running", ...known, ...begun, started_at_ms: created_at_ms, ...ended });
  }
}

function addWait(
  waits: Map<string, WaitStat & { item_id?: string }>,
  row: ToolEvent,
  request_id: string,
): void {
  const { session_id, item_id, event_type, phase, created_at_ms } = row;
  const key = `${session_id} ${request_id}`;
  const known = waits.get(key);
  const asked = { session_id, request_id, ...(item_id === undefined ? {} : { item_id }) };
  if (phase === "pre") {
    waits.set(key, { started_at_ms: created_at_ms, ...known, ...asked });
    return;
  }
  const outcome = row.approval_decision ?? NO_ANSWER[event_type] ?? "answers";
  const started_at_ms = created_at_ms - (row.latency_ms ?? 0);
  waits.set(key, { ...asked, started_at_ms, ended_at_ms: created_at_ms, outcome });
}

/** A clock that was set back in between: when it ended is known, how long it took is not. */
function forwards(turn: TurnStat): TurnStat {
  const { started_at_ms, ended_at_ms = started_at_ms } = turn;
  return ended_at_ms < started_at_ms ? { ...turn, started_at_ms: ended_at_ms } : turn;
}

/** What a call waited for its approval is not the tool's time. */
function withoutWaits(
  tools: readonly (ToolStat & { item_id: string })[],
  waits: readonly (WaitStat & { item_id?: string })[],
): ToolStat[] {
  const byItem = new Map<string, WaitStat[]>();
  for (const wait of waits) {
    if (wait.item_id === undefined) continue;
    const key = `${wait.session_id} ${wait.item_id}`;
    byItem.set(key, [...(byItem.get(key) ?? []), wait]);
  }
  return tools.map(({ item_id, ...tool }) => {
    const { latency_ms } = tool;
    if (latency_ms === undefined) return tool;
    const waited = byItem.get(`${tool.session_id} ${item_id}`) ?? [];
    const waitedMs = waited.reduce((sum, wait) => sum + overlapMs(tool, wait), 0);
    return { ...tool, latency_ms: Math.max(0, latency_ms - waitedMs) };
  });
}

function overlapMs(tool: ToolStat, wait: WaitStat): number {
  const startMs = Math.max(tool.started_at_ms, wait.started_at_ms);
  const endMs = Math.min(tool.ended_at_ms ?? startMs, wait.ended_at_ms ?? startMs);
  return Math.max(0, endMs - startMs);
}

/** Oldest first. */
function newest<T extends { session_id: string; started_at_ms: number; ended_at_ms?: number | undefined }>(
  all: readonly T[],
  { since_ms, limit }: StatsQuery,
): { kept: T[]; isCut: boolean } {
  const meant = all.filter(({ ended_at_ms }) => ended_at_ms === undefined || ended_at_ms >= since_ms);
  meant.sort((a, b) => a.started_at_ms - b.started_at_ms || (a.session_id < b.session_id ? -1 : 1));
  return { kept: meant.slice(-limit), isCut: meant.length > limit };
}

function pick<K extends keyof TurnEvent>(row: TurnEvent, key: K): Pick<TurnEvent, K> | Record<never, never> {
  return row[key] === undefined ? {} : { [key]: row[key] };
}
