// Members of a family as budgets see them, from their rows and, in memory, their turns. Pure.
import { defined } from "../../base/values.ts";
import type { Spent } from "../../protocol/budget.ts";
import type { SessionRow } from "../../protocol/session.ts";
import { addSpent, countSpentTokens, measureTurn, type Rates, readSpent } from "../core/spending.ts";
import { getTurn, type SessionState } from "../core/state.ts";
import type { Amounts, Member } from "./accounts.ts";

/** `isKnown`: whether a session still exists; what deleted ones have used counts for their parent. */
export function toMember(
  row: SessionRow,
  rates: Rates,
  isKnown: (session_id: string) => boolean,
  live?: { state: SessionState; nowMs: number },
): Member {
  const { session_id, parent, name, budget, queue = [], stopped_at_ms } = row;
  const turn = live === undefined ? undefined : getTurn(live.state);
  const running = turn === undefined ? undefined : measureRunning(turn, rates, live?.nowMs ?? 0);
  const isUnpriced =
    rates.reportsCost !== true && (running?.tokens ?? 0) > 0 && turn?.used?.cost_usd === undefined;
  return {
    session_id,
    ...defined({ parent, name, budget, running }),
    granted_at_ms: row.granted_at_ms ?? row.started_at_ms,
    spent: countSpent(row, rates, isKnown),
    ...(isUnpriced ? { isRunningUnpriced: true as const } : {}),
    isStopped: stopped_at_ms !== undefined,
    wants: queue.length > 0 && stopped_at_ms === undefined,
    ...defined({ wanted: queue.at(-1)?.message_id }),
  };
}

function measureRunning(turn: NonNullable<ReturnType<typeof getTurn>>, rates: Rates, nowMs: number): Amounts {
  const { used } = turn;
  return {
    cost_usd: used?.cost_usd ?? 0,
    tokens: countSpentTokens(used?.usage, rates),
    turns: 1,
    wall_ms: measureTurn(turn, nowMs),
  };
}

/** Counts a deleted child once: while it still exists, by its own row. */
function countSpent(row: SessionRow, rates: Rates, isKnown: (session_id: string) => boolean): Spent {
  const own = readSpent(row, rates);
  const { largest } = own;
  const removed = (row.removed_spending ?? []).filter(
    ({ session_id }) => session_id === undefined || !isKnown(session_id),
  );
  const all = removed.reduce((sum, { spent }) => addSpent(sum, spent), own);
  return { ...all, largest }; // the largest turn is one of its own
}
