// Builds a state from a stored row. A turn that was cut by the daemon's death gets its result here.
import { defined } from "../../base/values.ts";
import type { ResultEvent } from "../../protocol/events.ts";
import type { SessionRow } from "../../protocol/session.ts";
import { RETRY_MS } from "./delivery.ts";
import { markDone } from "./queue.ts";
import type { Reduced } from "./reduce.ts";
import { addTurn, completeResult, NO_RATES, type Rates, readSpent } from "./spending.ts";
import { type CoreRow, getQueue, isBusy, type Owner, type SessionState } from "./state.ts";
import { Step } from "./step.ts";
import { makeSyntheticResult, TURN_CUT, toLastResult } from "./turn.ts";
import { publishError, wakeOnceMore } from "./turn-steps.ts";
import { addUsage } from "./usage.ts";

/** For a row without a turn. */
export function createInitialState(row: SessionRow, owner: Owner = {}, rates = NO_RATES): SessionState {
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
    isPastLimit: false,
    retry_ms: RETRY_MS,
    unfinished: undefined,
    calmed_at_ms: 0,
    around: { isOwed: false, isQuiet: false, isFull: false },
    budget: undefined,
    rates,
    writeCount: 0,
  };
}

interface RestoreOrder {
  at_ms: number;
  result?: ResultEvent & { turn_id: string };
  owner?: Owner;
  rates?: Rates;
}

/** `result`: found in the log for the row's turn, although the row was not updated. */
export function restore(row: SessionRow, { at_ms, result, owner, rates }: RestoreOrder): Reduced {
  const step = new Step(createInitialState(row, owner, rates), { at_ms, id: "" });
  if (row.turn !== undefined) closeTurn(step, row.turn, TURN_CUT, defined({ found: result })); // mutation: restart-ends-turns
  return { state: step.state, effects: step.effects };
}

/** Gives a stored turn its result, and returns it. `found`: the log has it already. `isGiven`: its agent had the message. */
export function closeTurn(
  step: Step,
  { turn_id, wake, used, started_at_ms }: NonNullable<SessionRow["turn"]>,
  message: string,
  { found, isGiven = true }: { found?: ResultEvent & { turn_id: string }; isGiven?: boolean } = {},
): ResultEvent {
  const { row, rates } = step.state;
  if (found === undefined && wake !== undefined) wakeOnceMore(step, wake);
  const error = { code: "backend_crashed", message };
  const made = { ...makeSyntheticResult(row.backend, "error", error), turn_id };
  const result = found ?? completeResult(made, used, row.model, rates);
  step.set({ row: markDone(step.state.row, result).row });
  // How long it ran is not known, only when it was last noted.
  const wallMs = (used?.at_ms ?? started_at_ms) - started_at_ms - (used?.waited_ms ?? 0);
  if (isGiven) {
    const spent = addTurn(readSpent(row, rates), result, wallMs, rates); // mutation: cut-turns-are-counted
    step.setRow({ ...addUsage(step.state.row, result, step.at_ms), spent });
  }
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
