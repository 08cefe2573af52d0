// Builds a state from a stored row. A turn that was cut by the daemon's death gets its result here.
import type { ResultEvent } from "../../protocol/events.ts";
import type { SessionRow } from "../../protocol/session.ts";
import { RETRY_MS } from "./delivery.ts";
import { markDone } from "./queue.ts";
import type { Reduced } from "./reduce.ts";
import { type CoreRow, getQueue, isBusy, type Owner, type SessionState } from "./state.ts";
import { Step } from "./step.ts";
import { makeSyntheticResult, TURN_CUT, toLastResult } from "./turn.ts";
import { publishError, wakeOnceMore } from "./turn-steps.ts";

/** For a row without a turn. */
export function createInitialState(row: SessionRow, owner: Owner = {}): SessionState {
  const { turn: _turn, last_seq: _seq, lost_after: _lost, wakes: _wakes, ...core } = row;
  return {
    phase: { name: "cold" },
    run: undefined,
    owner,
    row: core satisfies CoreRow,
    requests: [],
    jobs: [],
    writes: [],
    held: undefined,
    retry_ms: RETRY_MS,
    unfinished: undefined,
    calmed_at_ms: 0,
    around: { isOwed: false, isQuiet: false, isFull: false },
    writeCount: 0,
  };
}

/** `result`: found in the log for the row's turn, although the row was not updated. */
export function restore(
  row: SessionRow,
  { at_ms, result, owner }: { at_ms: number; result?: ResultEvent & { turn_id: string }; owner?: Owner },
): Reduced {
  const step = new Step(createInitialState(row, owner), { at_ms, id: "" });
  if (row.turn !== undefined) closeTurn(step, row.turn, TURN_CUT, result); // mutation: restart-ends-turns
  return { state: step.state, effects: step.effects };
}

/** Gives a stored turn its result, and returns it. `found`: the log has it already. */
export function closeTurn(
  step: Step,
  { turn_id, wake }: NonNullable<SessionRow["turn"]>,
  message: string,
  found?: ResultEvent & { turn_id: string },
): ResultEvent {
  const { row } = step.state;
  if (found === undefined && wake !== undefined) wakeOnceMore(step, wake);
  const error = { code: "backend_crashed", message };
  const result = found ?? { ...makeSyntheticResult(row.backend, "error", error), turn_id };
  step.set({ row: markDone(step.state.row, result).row });
  step.setRow({ last_result: toLastResult(result, step.at_ms) });
  const goesOn = getQueue(step.state.row).length > 0 || isBusy(step.state);
  step.emit({ kind: "turn_ended", result, goesOn });
  if (found === undefined) {
    publishError(step, error.code, error.message);
    step.emit({ kind: "publish", frame: result, isSynced: true });
  }
  step.save();
  return result;
}
