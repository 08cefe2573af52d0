// Turns rows into actions, which look the same for every backend. Pure. A row contains everything known about its action
// so far, so the newest row of an action is enough.
import { defined } from "../base/values.ts";
import type { Action, ActionStatus } from "../protocol/actions.ts";
import type { EventRow } from "./rows.ts";
import { summarizeRequest, summarizeTool, summarizeTurn } from "./summary.ts";
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

/** Rows come newest first; several rows of one action become one. Pass the same `seen` for every page. */
export function toActions(rows: readonly EventRow[], seen: Set<string>): Action[] {
  return rows.flatMap((row) => {
    const key = getKey(row);
    if (key !== undefined) {
      if (seen.has(key)) return [];
      seen.add(key);
    }
    return [toAction(row)];
  });
}

/** Chooses the row to show as a session's last action. */
export function chooseLast(last: EventRow | undefined, row: EventRow): EventRow {
  if (last === undefined || row.kind !== "turn" || last.row.turn_id !== row.row.turn_id) return row;
  const { event_type } = row.row;
  // A tool call says more than a message, and a message more than the end of a successful turn.
  const isTool = last.kind === "tool";
  const isMessage = last.kind === "turn" && last.row.event_type === "message";
  if (event_type === "message") return isTool ? last : row;
  return event_type === "completed" && (isTool || isMessage) ? last : row;
}

export function toAction(row: EventRow): Action {
  return row.kind === "tool" ? fromToolEvent(row.row) : fromTurnEvent(row.row);
}

/** Rows with the same key are one action; undefined if the row stands alone. */
function getKey({ kind, row }: EventRow): string | undefined {
  if (kind === "turn") {
    return row.event_type === "message" || row.turn_id === undefined
      ? undefined
      : `${row.session_id} turn ${row.turn_id}`;
  }
  if (row.request_id !== undefined) return `${row.session_id} request ${row.request_id}`;
  return row.item_id === undefined ? undefined : `${row.session_id} item ${row.item_id}`;
}

function fromToolEvent(row: ToolEvent): Action {
  const isRequest = row.request_id !== undefined;
  const isRefused = row.approval_decision === "decline" || row.approval_decision === "cancel";
  const status = STATUSES[row.event_type];
  return {
    session_id: row.session_id,
    source_provider: row.source_provider,
    action_kind: isRequest ? "request" : KINDS[row.item_type],
    summary_text: isRequest ? summarizeRequest(row) : summarizeTool(row),
    status: isRequest && isRefused && status === "success" ? "cancelled" : status,
    ...defined({ not_run: row.not_run }),
    started_at_ms: row.created_at_ms - (row.latency_ms ?? 0),
    ...(row.phase === "post" ? { ended_at_ms: row.created_at_ms } : {}),
    ...defined({ turn_id: row.turn_id, item_id: row.item_id, exit_code: row.exit_code }),
  };
}

function fromTurnEvent(row: TurnEvent): Action {
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
    summary_text: summarizeTurn(row),
    status,
    started_at_ms: row.created_at_ms - (row.duration_ms ?? 0),
    ...(event_type === "started" ? {} : { ended_at_ms: row.created_at_ms }),
    ...defined({ waited_ms: row.waited_ms, turn_id: row.turn_id }),
  };
}
