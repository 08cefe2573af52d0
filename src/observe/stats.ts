// Computes turns, tool calls and waits over time from their start and end rows. Pure. An end row has the duration, so a
// missing start row is no loss.
import { defined } from "../base/values.ts";
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

/** Rows may come in any order; a duplicate counts once. */
export function toStats(rows: readonly EventRow[], query: StatsQuery): ObservedStats {
  const turns = new Map<string, TurnStat>();
  const tools = new Map<string, ToolStat>();
  const waits = new Map<string, WaitStat>();
  for (const { kind, row } of rows) {
    const { session_id } = row;
    if (query.session_id !== undefined && session_id !== query.session_id) continue;
    if (kind === "turn") addTurn(turns, row);
    else if (row.request_id !== undefined) addWait(waits, row, row.request_id);
    else if (row.item_id !== undefined) addTool(tools, row, row.item_id);
  }
  const lists = {
    turns: selectNewest([...turns.values()].map(fixStart), query),
    tools: selectNewest([...tools.values()], query),
    waits: selectNewest([...waits.values()], query),
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

function addTool(tools: Map<string, ToolStat>, row: ToolEvent, item_id: string): void {
  const { session_id, turn_id, event_type, created_at_ms, latency_ms = 0 } = row;
  const key = `${session_id} ${turn_id} ${item_id}`;
  const known = tools.get(key);
  const begun = {
    session_id,
    ...defined({ turn_id }),
    tool: row.tool_name ?? TOOL_WORDS[row.item_type],
  };
  const status = ENDS[event_type];
  if (status !== undefined) {
    // A call that needed approval started when it was approved.
    const started_at_ms = created_at_ms - latency_ms;
    tools.set(key, { ...begun, started_at_ms, ended_at_ms: created_at_ms, latency_ms, status });
  } else if (event_type === "started" && known === undefined)
    tools.set(key, { ...begun, started_at_ms: created_at_ms, status: "running" });
}

function addWait(waits: Map<string, WaitStat>, row: ToolEvent, request_id: string): void {
  const { session_id, event_type, phase, created_at_ms } = row;
  const key = `${session_id} ${request_id}`;
  const known = waits.get(key);
  const asked = { session_id, request_id };
  if (phase === "pre") {
    waits.set(key, { started_at_ms: created_at_ms, ...known, ...asked });
    return;
  }
  const outcome = row.approval_decision ?? NO_ANSWER[event_type] ?? "answers";
  const started_at_ms = created_at_ms - (row.latency_ms ?? 0);
  waits.set(key, { ...asked, started_at_ms, ended_at_ms: created_at_ms, outcome });
}

/** If the clock was set back in between, the duration is unknown: the turn starts when it ends. */
function fixStart(turn: TurnStat): TurnStat {
  const { started_at_ms, ended_at_ms = started_at_ms } = turn;
  return ended_at_ms < started_at_ms ? { ...turn, started_at_ms: ended_at_ms } : turn;
}

/** Oldest first. */
function selectNewest<
  T extends { session_id: string; started_at_ms: number; ended_at_ms?: number | undefined },
>(all: readonly T[], { since_ms, limit }: StatsQuery): { kept: T[]; isCut: boolean } {
  const meant = all.filter(({ ended_at_ms }) => ended_at_ms === undefined || ended_at_ms >= since_ms);
  meant.sort((a, b) => a.started_at_ms - b.started_at_ms || (a.session_id < b.session_id ? -1 : 1));
  return { kept: meant.slice(-limit), isCut: meant.length > limit };
}

function pick<K extends keyof TurnEvent>(row: TurnEvent, key: K): Pick<TurnEvent, K> | Record<never, never> {
  return row[key] === undefined ? {} : { [key]: row[key] };
}
