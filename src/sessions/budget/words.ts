// BudgetAccounts in words, for errors, requests and the queue. Pure.
import { formatBareAmount, formatBudgetAmount } from "../../protocol/budget-text.ts";
import type { BudgetAccount, Member } from "./accounts.ts";

type Amount = Pick<BudgetAccount, "limit_of" | "factor">;

export function describeAmount({ limit_of, factor }: Amount, amount: number): string {
  return formatBudgetAmount(limit_of, amount / factor);
}

/** `the budget of "lead": $1.20 of $2.00 used, $0.50 set aside for its children`. */
export function describeUse(account: BudgetAccount): string {
  const { limit_of, factor, grant, used, reserved, holder, isUnpriced } = account;
  const amounts = `${formatBareAmount(limit_of, used / factor)} of ${describeAmount(account, grant)}`;
  const aside = reserved > 0 ? `, ${describeAmount(account, reserved)} set aside for its descendants` : "";
  const doubt = isUnpriced ? "; some turns have no known price" : "";
  return `the budget of ${nameMember(holder)}: ${amounts} used${aside}${doubt}`;
}

export function nameMember({ name, session_id }: Pick<Member, "name" | "session_id">): string {
  return name === undefined ? `session ${session_id}` : JSON.stringify(name);
}
