// One step of a row of the ledger → rows. The row is stored, so each step is seen once. The decision is also noted for
// the call it is about, because the result of that call says only that it failed.
import { REQUEST_TYPES, type RequestRow, type RequestType } from "../protocol/requests.ts";
import { commandText, toPatch } from "./calls.ts";
import { cutText, excerpt } from "./excerpt.ts";
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
  const step = stepOf(row, nowMs);
  if (step === undefined) return [];
  noteRequest(state, row, nowMs);
  const { session_id, request_id, item_id, payload } = row;
  const thread_id = row.thread_id ?? state.thread_id;
  const turn_id = row.turn_id ?? state.turn?.turn_id;
  const command = commandText(payload.command);
  const event: ToolEvent = {
    session_id,
    source_provider: state.source_provider,
    ...(thread_id === undefined ? {} : { thread_id }),
    ...(turn_id === undefined ? {} : { turn_id }),
    ...(item_id === undefined ? {} : { item_id }),
    request_id,
    item_type: ITEMS[row.request_type] ?? "tool",
    ...(payload.tool_name === undefined ? {} : { tool_name: payload.tool_name }),
    ...(command === undefined ? {} : { command }),
    ...(payload.cwd === undefined ? {} : { cwd: payload.cwd }),
    ...(payload.changes === undefined ? {} : toPatch(payload.changes)),
    ...step,
    ...(row.error_code === undefined ? {} : { error_code: row.error_code }),
    ...(row.error_message === undefined
      ? {}
      : { error_message: cutText(row.error_message, MAX_MESSAGE_CHARS) }),
    raw_payload_json: payloadOf(row),
    created_at_ms: nowMs,
  };
  return [{ kind: "tool", row: event }];
}

function stepOf(row: RequestRow, nowMs: number): Step | undefined {
  const isInput = REQUEST_TYPES[row.request_type] === "input";
  const decision = row.answer !== undefined && "decision" in row.answer ? row.answer.decision : undefined;
  const ended = {
    phase: "post",
    latency_ms: Math.max(0, (row.resolved_at_ms ?? nowMs) - row.requested_at_ms),
    ...(decision === undefined ? {} : { approval_decision: decision }),
  } as const;
  switch (row.status) {
    case "pending":
      return { event_type: isInput ? "request_user_input" : "request_approval", phase: "pre" };
    case "resolved":
      // The answer was told when it was stored; that the agent has it, too, is no event.
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

/** Never an answer to a secret question, not even for the moment between its storing and its way to the agent. */
function payloadOf({ payload, request_type, answer, resolution_source, path }: RequestRow): string {
  const secret = new Set(
    payload.questions?.filter((question) => question.is_secret === true).map(({ id }) => id),
  );
  const answers =
    answer !== undefined && "answers" in answer
      ? Object.fromEntries(
          Object.entries(answer.answers).map(([id, text]) => [id, secret.has(id) ? "[secret]" : text]),
        )
      : undefined;
  return excerpt({
    title: cutText(payload.title, MAX_TITLE_CHARS),
    request_type,
    ...(payload.reason === undefined ? {} : { reason: payload.reason }),
    ...(path === undefined ? {} : { path }),
    ...(payload.questions === undefined
      ? {}
      : { questions: payload.questions.map(({ question }) => question) }),
    ...(answers === undefined ? {} : { answers }),
    ...(resolution_source === undefined ? {} : { source: resolution_source }),
  });
}
