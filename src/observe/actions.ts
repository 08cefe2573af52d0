// The projection: rows → what an agent did, the same for every backend (sm#288 "compatibility projection"). Pure. Every
// row tells all of its action that is known by then, so the newest row of an action is enough.
import type { Action, ActionStatus } from "../protocol/actions.ts";
import type { EventRow } from "./rows.ts";
import { requestSummary, toolSummary, turnSummary } from "./summary.ts";
import type { ToolEvent, ToolEventType, TurnEvent } from "./types.ts";

const KINDS = { commandExecution: "command", fileChange: "file_change", tool: "tool" } as const;

const STATUSES: Readonly<Record<ToolEventType, ActionStatus>> = {
  request_approval: "waiting",
  request_user_input: "waiting",
  approval_decision: "success",
  user_input_submitted: "success",
  started: "running",
  output_delta: "running",
  completed: "success",
  failed: "failed",
  interrupted: "interrupted",
  cancelled: "cancelled",
  timeout: "timeout",
};

/** From rows that stand newest first. Several rows of one action are one. `seen` goes from page to page. */
export function toActions(rows: readonly EventRow[], seen: Set<string>): Action[] {
  return rows.flatMap((row) => {
    const key = keyOf(row);
    if (key !== undefined) {
      if (seen.has(key)) return [];
      seen.add(key);
    }
    return [toAction(row)];
  });
}

/** Which row tells what a session did last, once this one is there too. */
export function nextLast(last: EventRow | undefined, row: EventRow): EventRow {
  if (last === undefined || row.kind !== "turn" || last.row.turn_id !== row.row.turn_id) return row;
  const { event_type } = row.row;
  // What it did says more than its words, and those more than that the turn went well.
  const isDeed = last.kind === "tool";
  const isWords = last.kind === "turn" && last.row.event_type === "message";
  if (event_type === "message") return isDeed ? last : row;
  return event_type === "completed" && (isDeed || isWords) ? last : row;
}

export function toAction(row: EventRow): Action {
  return row.kind === "tool" ? toolAction(row.row) : turnAction(row.row);
}

/** Undefined: every row is an action of its own. */
function keyOf({ kind, row }: EventRow): string | undefined {
  if (kind === "turn") {
    return row.event_type === "message" || row.turn_id === undefined
      ? undefined
      : `${row.session_id} turn ${row.turn_id}`;
  }
  if (row.request_id !== undefined) return `${row.session_id} request ${row.request_id}`;
  return row.item_id === undefined ? undefined : `${row.session_id} item ${row.item_id}`;
}

function toolAction(row: ToolEvent): Action {
  const isRequest = row.request_id !== undefined;
  const isRefused = row.approval_decision === "decline" || row.approval_decision === "cancel";
  const status = STATUSES[row.event_type];
  return {
    session_id: row.session_id,
    source_provider: row.source_provider,
    action_kind: isRequest ? "request" : KINDS[row.item_type],
    summary_text: isRequest ? requestSummary(row) : toolSummary(row),
    status: isRequest && isRefused && status === "success" ? "cancelled" : status,
    ...(row.not_run === undefined ? {} : { not_run: row.not_run }),
    started_at_ms: row.created_at_ms - (row.latency_ms ?? 0),
    ...(row.phase === "post" ? { ended_at_ms: row.created_at_ms } : {}),
    ...(row.turn_id === undefined ? {} : { turn_id: row.turn_id }),
    ...(row.item_id === undefined ? {} : { item_id: row.item_id }),
    ...(row.exit_code === undefined ? {} : { exit_code: row.exit_code }),
  };
}

function turnAction(row: TurnEvent): Action {
  const { event_type } = row;
  const isMessage = event_type === "message";
  const status: ActionStatus =
    event_type === "started"
      ? "running"
      : event_type === "completed" || event_type === "message"
        ? "success"
        : event_type;
  return {
    session_id: row.session_id,
    source_provider: row.source_provider,
    action_kind: isMessage ? "message" : "turn",
    summary_text: turnSummary(row),
    status,
    started_at_ms: row.created_at_ms - (row.duration_ms ?? 0),
    ...(event_type === "started" ? {} : { ended_at_ms: row.created_at_ms }),
    ...(row.waited_ms === undefined ? {} : { waited_ms: row.waited_ms }),
    ...(row.turn_id === undefined ? {} : { turn_id: row.turn_id }),
  };
}
