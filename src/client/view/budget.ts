// Budgets as screens show them: used and limit, with a bar. Pure.
import type { BudgetView } from "../../protocol/budget.ts";
import { formatBareAmount, formatBudgetAmount } from "../../protocol/budget-text.ts";
import type { SessionView } from "../../protocol/views.ts";

const CELLS = 8;
/** From here on it is worth a look. */
const NEARLY = 0.8;

export type BudgetLevel = "good" | "warn" | "bad";

export interface BudgetLine {
  /** `$1.20 of $2.00`. */
  amounts: string;
  /** `▓▓▓▓▓░░░`. */
  bar: string;
  level: BudgetLevel;
  /** 0 to 1. */
  share: number;
  /** `60%`; `≥60%` if some of the use is not known. */
  percent: string;
  /** Whose it is, what is set aside, and what is not known. */
  notes: string[];
}

/** `name`: of the session whose budget it is. */
export function toBudgetLine(view: BudgetView, name: (session_id: string) => string): BudgetLine {
  const { limit_of, limit, used, reserved, holder, is_unpriced } = view;
  const share = limit > 0 ? Math.min(1, used / limit) : 1;
  const unknown = is_unpriced === true;
  return {
    amounts: `${unknown ? "at least " : ""}${formatBareAmount(limit_of, used)} of ${formatBudgetAmount(limit_of, limit)}`,
    bar: drawBar(share),
    level: share >= 1 ? "bad" : share >= NEARLY ? "warn" : "good",
    share,
    percent: `${unknown && share < 1 ? "≥" : ""}${Math.floor(share * 100)}%`,
    notes: [
      ...(holder === undefined ? [] : [`shared with ${name(holder)}`]),
      ...(reserved > 0 ? [`${formatBudgetAmount(limit_of, reserved)} set aside for descendants`] : []),
      ...(unknown ? ["some turns have no known price"] : []),
    ],
  };
}

export function toBudgetLines(
  { budgets = [] }: Pick<SessionView, "budgets">,
  name: (session_id: string) => string,
): BudgetLine[] {
  return budgets.map((view) => toBudgetLine(view, name));
}

/** The limit that is used up most; undefined: none applies. */
export function findTightest(session: Pick<SessionView, "budgets">): BudgetLine | undefined {
  const lines = toBudgetLines(session, (id) => id);
  return lines.toSorted((a, b) => b.share - a.share)[0];
}

function drawBar(share: number): string {
  const full = Math.min(CELLS, Math.max(share > 0 ? 1 : 0, Math.floor(share * CELLS)));
  return "▓".repeat(full) + "░".repeat(CELLS - full);
}
