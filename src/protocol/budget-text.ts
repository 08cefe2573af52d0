// Amounts of budgets as text, for messages of the daemon and for screens.
import type { BudgetLimit } from "./budget.ts";

const NOUNS: Record<Exclude<BudgetLimit, "max_cost_usd" | "max_wall_s">, readonly [string, string]> = {
  max_turns: ["turn", "turns"],
  max_tokens: ["token", "tokens"],
};

/** In USD, turns, tokens or seconds: `$1.20`, `3 turns`, `12,000 tokens`, `1h 05m`. */
export function formatBudgetAmount(limit_of: BudgetLimit, amount: number): string {
  if (limit_of === "max_cost_usd") return formatMoney(amount);
  if (limit_of === "max_wall_s") return formatSeconds(amount);
  const [one, many] = NOUNS[limit_of];
  const count = Math.max(0, Math.floor(amount));
  return `${groupDigits(count)} ${count === 1 ? one : many}`;
}

/** Without the unit where the other amount beside it has it. */
export function formatBareAmount(limit_of: BudgetLimit, amount: number): string {
  return formatBudgetAmount(limit_of, amount).replace(/ (turns?|tokens?)$/, "");
}

function formatMoney(usd: number): string {
  const shown = Math.max(0, usd);
  const text = shown.toFixed(4);
  return `$${text.endsWith("00") ? shown.toFixed(2) : text}`;
}

function formatSeconds(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  const two = (value: number): string => String(value).padStart(2, "0");
  if (hours > 0) return `${hours}h ${two(minutes)}m`;
  return minutes > 0 ? `${minutes}m ${two(whole % 60)}s` : `${whole}s`;
}

function groupDigits(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ",");
}
