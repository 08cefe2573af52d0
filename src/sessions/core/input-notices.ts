// Reports what becomes of queued messages: delivered, cancelled, failed.
import { defined } from "../../base/values.ts";
import { countAttachments, readText } from "../../protocol/message-text.ts";
import type { InputRecord, QueuedMessage } from "../../protocol/queue.ts";
import { listParts } from "./merge-wakes.ts";
import { markFailed } from "./queue.ts";
import type { Failure } from "./state.ts";
import type { Step } from "./step.ts";

/** Longest text kept in a delivery notice. */
const MAX_TEXT = 64 * 1024;

export function failInput(step: Step, entry: QueuedMessage, { code, message }: Failure): void {
  for (const part of listParts(entry)) {
    const failed = markFailed(step.state.row, part.message_id, { code, message });
    step.set({ row: failed.row });
    if (failed.record !== undefined) tell(step, "input_failed", failed.record, { entry: part });
  }
  step.emit({ kind: "input_failed", message_id: entry.message_id, error: { code, message } });
}

/** It is part of the running turn. */
export function tellSteered(step: Step, record: InputRecord, entry: QueuedMessage): void {
  tell(step, "input_delivered", record, { entry, steered: true });
}

/** The text goes with the first of merged wakes. */
export function tellDelivered(step: Step, record: InputRecord, entry: QueuedMessage): void {
  const isFirst = record.message_id === entry.message_id;
  tell(step, "input_delivered", record, isFirst ? { entry } : { merged_into: entry.message_id });
}

export function tell(
  step: Step,
  category: string,
  input: InputRecord,
  { entry, merged_into, steered }: { entry?: QueuedMessage; merged_into?: string; steered?: true } = {},
): void {
  const { message_id, kind, turn_id, error } = input;
  step.publish({
    type: "agent.notice",
    backend: step.state.row.backend,
    level: error === undefined ? "info" : "warn",
    category,
    ...(entry === undefined ? {} : { text: readText(entry.message, "\n").slice(0, MAX_TEXT) }),
    data: {
      message_id,
      kind,
      ...(entry?.from === undefined ? {} : { from: entry.from }),
      ...defined({
        turn_id,
        error,
        merged_into,
        steered,
        attachments: (entry && countAttachments(entry.message)) || undefined,
      }),
    },
  });
  step.emit({ kind: "input_changed", input });
}
