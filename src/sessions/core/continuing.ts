// Sessions that continue: after a stop, and after a turn that was interrupted because its budget was used up.
import { INTRODUCTION } from "./merge-wakes.ts";
import { enqueue, findRepeated, type NewInput } from "./queue.ts";
import type { Step } from "./step.ts";

const TEXT = `${INTRODUCTION} Your last turn was interrupted because its budget was used up. There is budget again: continue where you stopped.`;

/** Queues the message first, in the write that ends the turn. Sessions that a client drives are continued by it. */
export function continueLater(step: Step, turn_id: string): void {
  const { row } = step.state;
  if (row.managed !== true || row.stopped_at_ms !== undefined) return;
  const input: NewInput = {
    message: { role: "user", content: TEXT },
    kind: "wake",
    isFirst: true,
    isForced: true,
    message_id: `msg_budget_${turn_id}`,
    brief: "- Your last turn was interrupted because its budget was used up; continue where you stopped.",
  };
  if (findRepeated(row, input) === undefined) step.set({ row: enqueue(row, input, step.at_ms).row });
}

/** A stopped session continues: its grant comes after those that were made meanwhile. */
export function startAgain(step: Step): void {
  const { stopped_at_ms, budget } = step.state.row;
  step.dropFromRow("stopped_at_ms");
  if (stopped_at_ms !== undefined && budget !== undefined) step.setRow({ granted_at_ms: step.at_ms });
}
