// Turns a change of a ledger row into rows. The decision is also noted for the call, whose own result says only that it
// failed.
import { defined } from "../base/values.ts";
import { REQUEST_TYPES, type RequestRow, type RequestType } from "../protocol/requests.ts";
import { toCommandText, toPatch } from "./calls.ts";
import { cutText, toExcerpt } from "./excerpt.ts";
import type { EventRow } from "./rows.ts";
import { noteRequest, type SessionState } from "./state.ts";
import type { ItemType, ToolEvent } from "./types.ts";

type Step = Pick<ToolEvent, "event_type" | "phase"> & Partial<ToolEvent>;

const ITEMS: Partial<Record<RequestType, ItemType>> = {
  command: "commandExecution",
  file_change: "fileChange",
};
const MAX_MESSAGE_CHARS = 500;
const MAX_TITLE_CHARS = 300;

export function observeRequest(state: SessionState, row: RequestRow, nowMs: number): EventRow[] {
  const step = toStep(row, nowMs);
  if (step === undefined) return [];
  noteRequest(state, row, nowMs);
  const { session_id, request_id, item_id, payload } = row;
  const thread_id = row.thread_id ?? state.thread_id;
  const turn_id = row.turn_id ?? state.turn?.turn_id;
  const command = toCommandText(payload.command);
  const event: ToolEvent = {
    session_id,
    source_provider: state.source_provider,
    ...defined({ thread_id, turn_id, item_id }),
    request_id,
    item_type: ITEMS[row.request_type] ?? "tool",
    ...defined({ tool_name: payload.tool_name, command, cwd: payload.cwd }),
    ...(payload.changes === undefined ? {} : toPatch(payload.changes)),
    ...step,
    ...defined({ error_code: row.error_code }),
    ...(row.error_message === undefined
      ? {}
      : { error_message: cutText(row.error_message, MAX_MESSAGE_CHARS) }),
    raw_payload_json: toPayload(row),
    created_at_ms: nowMs,
  };
  return [{ kind: "tool", row: event }];
}

function toStep(row: RequestRow, nowMs: number): Step | undefined {
  const isInput = REQUEST_TYPES[row.request_type] === "input";
  const decision = row.answer !== undefined && "decision" in row.answer ? row.answer.decision : undefined;
  const ended = {
    phase: "post",
    latency_ms: Math.max(0, (row.resolved_at_ms ?? nowMs) - row.requested_at_ms),
    ...defined({ approval_decision: decision }),
  } as const;
  switch (row.status) {
    case "pending":
      return { event_type: isInput ? "request_user_input" : "request_approval", phase: "pre" };
    case "resolved":
      // Reported when the answer was stored; its delivery is not an event.
      if (row.dispatched_at_ms !== undefined) return undefined;
      return { ...ended, event_type: isInput ? "user_input_submitted" : "approval_decision" };
    case "expired":
      return { ...ended, event_type: "timeout", final_status: "timeout" };
    case "withdrawn":
      return { ...ended, event_type: "cancelled", final_status: "cancelled" };
    case "orphaned":
      return { ...ended, event_type: "interrupted", final_status: "interrupted" };
  }
}

/** Never contains answers to secret questions. */
function toPayload({ payload, request_type, answer, resolution_source, path }: RequestRow): string {
  const secret = new Set(
    payload.questions?.filter((question) => question.is_secret === true).map(({ id }) => id),
  );
  const answers =
    answer !== undefined && "answers" in answer
      ? Object.fromEntries(
          Object.entries(answer.answers).map(([id, text]) => [id, secret.has(id) ? "[secret]" : text]),
        )
      : undefined;
  return toExcerpt({
    title: cutText(payload.title, MAX_TITLE_CHARS),
    request_type,
    ...defined({ reason: payload.reason, path }),
    ...(payload.questions === undefined
      ? {}
      : { questions: payload.questions.map(({ question }) => question) }),
    ...defined({ answers, source: resolution_source }),
  });
}
