// What the accounts of a family mean for each of its sessions. Pure.
import { defined } from "../../base/values.ts";
import type { BudgetView } from "../../protocol/budget.ts";
import type { BudgetFacts } from "../core/budget.ts";
import {
  type BudgetAccount,
  type BudgetAccounts,
  findThrottling,
  isAbove,
  isExhausted,
  isOver,
  type Members,
} from "./accounts.ts";
import { describeUse, nameMember } from "./words.ts";

export const READING: BudgetFacts = { hold: "its budget is being read", isReading: true };

/** Undefined: no limit applies to it. */
export function toFacts(
  session_id: string,
  accounts: BudgetAccounts,
  members: Members,
  isAsking: boolean,
): BudgetFacts | undefined {
  const own = accounts.of(session_id);
  if (own.length === 0 && !isAsking) return undefined;
  const over = own.find(isOver);
  return defined({
    hold: findHold(session_id, own),
    isBlocked: findBlocking(session_id, accounts, members).length > 0 ? (true as const) : undefined,
    over: over && describeUse(over),
    isAsking: isAsking ? (true as const) : undefined,
  });
}

function findHold(session_id: string, own: readonly BudgetAccount[]): string | undefined {
  const exhausted = own.find(isExhausted);
  if (exhausted !== undefined) return describeUse(exhausted);
  for (const account of own) {
    const throttling = findThrottling(account, session_id);
    const [first, ...others] = throttling?.running ?? [];
    if (throttling === undefined || first === undefined) continue;
    const more = others.length === 0 ? "" : ` and of ${others.length} more`;
    return `${describeUse(throttling.account)}; the running turn of ${nameMember(first)}${more} may use the rest`;
  }
  return undefined;
}

/**
 * The accounts about which a person has to decide before a session can continue: nothing is left, or all that is left is set
 * aside for the turn of an ancestor, which may be waiting for this session.
 */
export function findBlocking(
  session_id: string,
  accounts: BudgetAccounts,
  members: Members,
): BudgetAccount[] {
  return accounts.of(session_id).flatMap((account) => {
    if (isExhausted(account)) return [account];
    const throttling = findThrottling(account, session_id);
    const isWaitedFor = throttling?.running.some((one) => isAbove(one.session_id, session_id, members));
    return throttling !== undefined && isWaitedFor === true ? [throttling.account] : [];
  });
}

/** In the units of the limits. */
export function toBudgetViews(session_id: string, accounts: BudgetAccounts): BudgetView[] {
  return accounts.of(session_id).map(({ limit_of, factor, grant, used, reserved, holder, isUnpriced }) => ({
    limit_of,
    limit: round(grant / factor),
    used: round(used / factor),
    reserved: round(reserved / factor),
    ...(holder.session_id === session_id ? {} : { holder: holder.session_id }),
    ...(isUnpriced ? { is_unpriced: true as const } : {}),
  }));
}

function round(amount: number): number {
  return Number(amount.toFixed(6));
}
