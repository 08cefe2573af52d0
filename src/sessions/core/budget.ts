// What budgets mean for one session: it holds its queue, and a running turn ends. What they allow is computed for the whole
// family (budget/accounts.ts) and arrives as an input.
import { defined } from "../../base/values.ts";
import type { TurnUse } from "../../protocol/budget.ts";
import { keepWaiting } from "./delivery.ts";
import { interruptRun } from "./run-steps.ts";
import { findCost } from "./spending.ts";
import { getQueue, getTurn, type OpenRequest, type SessionState, type Turn } from "./state.ts";
import type { Step } from "./step.ts";
import { forgetTurn, setTurn } from "./turn-steps.ts";

export interface BudgetFacts {
  /** Why no message leaves the queue. */
  readonly hold?: string;
  /** Only a person ends that; otherwise the end of another turn may. */
  readonly isBlocked?: true;
  /** Only because the budget is not known yet. */
  readonly isReading?: true;
  /** Why a running turn has to end. */
  readonly over?: string;
  /** A person is asked about a budget of this session. */
  readonly isAsking?: true;
}

export const BUDGET_EXHAUSTED = "budget_exhausted";

/** Why messages wait although the agent is free. */
export function findBudgetHold(state: SessionState): string | undefined {
  const { budget, row } = state;
  if (budget?.isReading === true || getQueue(row).length === 0) return undefined;
  return getTurn(state) === undefined ? budget?.hold : undefined;
}

export function onBudget(step: Step, budget: BudgetFacts | undefined): void {
  step.set({ budget });
  endIfOver(step);
}

/** Interrupts the running turn, once. A message that its agent does not have yet returns to the queue. */
export function endIfOver(step: Step): void {
  const { turn } = step;
  const over = step.state.budget?.over;
  if (over === undefined || turn === undefined) return;
  if (turn.verdict !== undefined || turn.isInterrupted) return; // mutation: interrupted-once
  if (takeBack(step, turn, over)) return;
  const verdict = { code: BUDGET_EXHAUSTED, message: over, subtype: "max_budget" } as const;
  setTurn(step, { ...turn, verdict, isInterrupted: true });
  step.emit({ kind: "log", level: "info", event: "session.budget_exhausted", fields: { message: over } });
  interruptRun(step);
}

function takeBack(step: Step, { turn_id, undelivered, isGiven }: Turn, message: string): boolean {
  const isQueued = step.state.row.inputs?.some(
    (input) => input.turn_id === turn_id && input.state === "delivered",
  );
  if (isGiven || undelivered === undefined || isQueued !== true) return false;
  const failure = { code: BUDGET_EXHAUSTED, message };
  keepWaiting(step, undelivered.entry, failure);
  forgetTurn(step, failure);
  return true;
}

/** The agent reports what its turn has used, in total. It is stored at once: the turn may end without a result. */
export function onUsed(step: Step, { usage, cost_usd }: Pick<TurnUse, "usage" | "cost_usd">): void {
  const { turn } = step;
  if (turn?.isGiven !== true) return;
  const { row, rates } = step.state;
  const reported = { ...turn.used, ...defined({ usage, cost_usd }) };
  const cost = findCost({ ...defined({ usage: reported.usage, cost_usd }) }, row.model, rates);
  const used = { ...reported, ...defined({ cost_usd: cost ?? reported.cost_usd }), at_ms: step.at_ms };
  setTurn(step, { ...turn, used });
  step.save(); // mutation: use-is-stored
}

/** Time that a person takes to answer does not count. */
export function noteAsking(step: Step): void {
  const { turn } = step;
  if (turn === undefined) return;
  const since = findAskingSince(step.state.requests);
  if (since !== undefined) {
    if (turn.askingSinceMs === undefined) setTurn(step, { ...turn, askingSinceMs: since });
    return;
  }
  const { askingSinceMs, ...rest } = turn;
  if (askingSinceMs === undefined) return;
  const waited_ms = (turn.used?.waited_ms ?? 0) + Math.max(0, step.at_ms - askingSinceMs);
  setTurn(step, { ...rest, used: { ...turn.used, waited_ms, at_ms: step.at_ms } });
  step.save();
}

export function findAskingSince(requests: readonly OpenRequest[]): number | undefined {
  return requests[0]?.requested_at_ms;
}
