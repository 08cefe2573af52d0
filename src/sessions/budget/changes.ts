// What spawns and people may do to budgets, with the numbers that decide it. Pure.
import { CodedError } from "../../base/coded-error.ts";
import type { Budget, BudgetChange, BudgetLimit } from "../../protocol/budget.ts";
import {
  type BudgetAccount,
  type BudgetAccounts,
  computeAccounts,
  DIMENSIONS,
  EPSILON,
  isExhausted,
  type Members,
} from "./accounts.ts";
import { describeAmount, describeUse } from "./words.ts";

/** Throws if a child of this session, with these limits of its own, does not fit into the budgets above. */
export function checkGrant(parent_id: string, budget: Budget | undefined, accounts: BudgetAccounts): void {
  for (const account of accounts.of(parent_id)) {
    if (isExhausted(account)) {
      const more = `raise it (sm budget ${account.holder.session_id}) or stop a session that has a part of it`;
      throw refuse(`${describeUse(account)}, so no session can be started on it: ${more}`, account);
    }
    const wanted = (budget?.[account.limit_of] ?? 0) * account.factor;
    if (wanted > account.left + EPSILON) {
      // mutation: spawns-fit
      const message = `${describeUse(account)}: only ${describeAmount(account, account.left)} left, less than the ${describeAmount(account, wanted)} for the child; give it less, or no limit of its own`;
      throw refuse(message, account);
    }
  }
}

/**
 * The limits of a session after a change. Throws if less would be left than is used or set aside, or more than the
 * budgets above have.
 */
export function applyChange(session_id: string, change: BudgetChange, members: Members): Budget {
  const member = members.get(session_id);
  const after: Budget = { ...member?.budget };
  for (const { limit_of } of DIMENSIONS) {
    const wanted = change[limit_of];
    if (wanted === null) delete after[limit_of];
    else if (wanted !== undefined) after[limit_of] = wanted;
  }
  if (member === undefined) return after;
  const before = computeAccounts(members);
  const then = computeAccounts(new Map(members).set(session_id, { ...member, budget: after }));
  for (const account of then.all) {
    if (account.holder.session_id !== session_id || change[account.limit_of] === undefined) continue;
    const old = before.all.find((one) => isSame(one, account));
    checkLimit(account, old, before.of(session_id));
  }
  return after;
}

function checkLimit(
  account: BudgetAccount,
  old: BudgetAccount | undefined,
  drawn: readonly BudgetAccount[],
): void {
  const { limit } = account;
  const { used, reserved } = old ?? account;
  const least = used + reserved;
  if (limit < Math.min(old?.limit ?? least, least) - EPSILON) {
    const lowest = describeAmount(account, least);
    throw refuse(
      `${describeUse(old ?? account)}: its limit must be at least ${lowest}, not ${describeAmount(account, limit)}`,
      account,
    );
  }
  const above = old === undefined ? drawn.find((one) => one.limit_of === account.limit_of) : old.above;
  const more = Math.max(0, limit - Math.max(least, old?.grant ?? 0));
  if (above === undefined || more <= 0 || more <= above.left + EPSILON) return;
  const left = describeAmount(above, above.left);
  const advice = `raise that first (sm budget ${above.holder.session_id})`;
  throw refuse(
    `${describeUse(above)}: only ${left} left, and this needs ${describeAmount(account, more)}; ${advice}`,
    above,
  );
}

function isSame(one: BudgetAccount, other: BudgetAccount): boolean {
  return one.limit_of === other.limit_of && one.holder.session_id === other.holder.session_id;
}

function refuse(
  message: string,
  { holder, limit_of, limit, used, reserved, left }: BudgetAccount,
): CodedError {
  const data = { session_id: holder.session_id, limit_of, limit, used, reserved, left };
  return new CodedError("budget_exhausted", message, { data });
}

export interface Raise {
  session_id: string;
  limit_of: BudgetLimit;
  limit: number;
}

/** The new limits, top down, that raise an account to this limit; those above are raised by what they lack for it. */
export function planRaise(account: BudgetAccount, to: number): Raise[] {
  const { above, limit_of, factor, holder } = account;
  const missing = above === undefined ? 0 : countMissing(above, account, to);
  const first = above === undefined || missing <= EPSILON ? [] : planRaise(above, above.limit + missing);
  return [...first, { session_id: holder.session_id, limit_of, limit: toLimit(to / factor, limit_of) }];
}

/** With what others lack already: they would take it. */
function countMissing({ grant, used, below }: BudgetAccount, raised: BudgetAccount, to: number): number {
  const needed = below
    .filter((one) => one.isActive || one === raised)
    .map((one) => Math.max(0, (one === raised ? to : one.limit) - one.used));
  return needed.reduce((sum, amount) => sum + amount, 0) - (grant - used);
}

/** Up, to what can be set. */
export function toLimit(limit: number, limit_of: BudgetLimit): number {
  if (limit_of === "max_cost_usd") return Math.ceil(Number((limit * 10_000).toFixed(4))) / 10_000;
  return Math.ceil(limit);
}
