// The cost of demian's messages to Claude Code: in this process, today, this month. Per provider profile, because budgets
// are set there. One file for all workspaces, which processes update under a lock.
import { join } from "node:path";
import * as z from "zod";
import { CodedError } from "../../../base/coded-error.ts";
import { StateJson } from "../../state-json.ts";

export type LedgerScope = "process" | "daily" | "monthly";

export interface LedgerOrder {
  /** The state directory of the user. */
  directory: string;
  profile: string;
  scope: LedgerScope;
  budgetUsd?: number | undefined;
  /** Shared by all ledgers of the process. */
  memory: ProcessSpend;
  warn(message: string): void;
  now?(): Date;
}

/** State of the process. */
export interface ProcessSpend {
  days: Day[];
  /** The warnings that were shown. */
  warned: Set<string>;
}

const Day = z.strictObject({
  /** In local time. */
  date: z.string().regex(/^\d{4}-\d{2}-\d{2}$/),
  profile: z.string(),
  usd: z.number().min(0),
});
const LedgerFile = z.strictObject({ version: z.literal(1), days: z.array(Day) });
type Day = z.infer<typeof Day>;

/** Two months of sixteen profiles; older days are dropped. */
const MAX_DAYS = 1000;
const WARN_SHARE = 0.8;
const FILE = "claude-code-usage.json";
/** `dateChars`: the length of the date prefix that all days of a period share. */
const SCOPES: Readonly<Record<LedgerScope, { dateChars: number; when: string; wait: string }>> = {
  process: { dateChars: 0, when: "in this process", wait: "restart demian" },
  daily: { dateChars: 10, when: "today", wait: "wait until tomorrow" },
  monthly: { dateChars: 7, when: "this month", wait: "wait until next month" },
};

export class UsageLedger {
  readonly #order: LedgerOrder;
  readonly #file: StateJson<z.infer<typeof LedgerFile>>;

  constructor(order: LedgerOrder) {
    this.#order = order;
    this.#file = new StateJson({
      path: join(order.directory, FILE),
      schema: LedgerFile,
      empty: { version: 1, days: [] },
      loss: "the Claude Code costs of other processes are not counted",
      warn: order.warn,
    });
  }

  /** In dollars, in the scope. Never rejects: without the file, what this process spent. */
  async readSpent(): Promise<number> {
    const { scope, memory } = this.#order;
    const ours = this.#sum(memory.days);
    return scope === "process" ? ours : Math.max(ours, this.#sum((await this.#file.read()).days));
  }

  /** What is left; undefined without a budget. Throws `budget_spent` with what to do. */
  async check(): Promise<number | undefined> {
    const { budgetUsd, scope, profile } = this.#order;
    if (budgetUsd === undefined) return undefined;
    const spent = await this.readSpent();
    if (spent < budgetUsd) {
      this.#warnNear(spent, budgetUsd);
      return budgetUsd - spent;
    }
    const advice = `raise providers.${profile}.budgetUsd, or ${SCOPES[scope].wait}`;
    throw new CodedError(
      "budget_spent",
      `not sent to Claude Code: ${this.#share(spent, budgetUsd)}; ${advice}`,
    );
  }

  /** Never rejects. */
  async add(usd: number): Promise<void> {
    const { profile, memory, budgetUsd } = this.#order;
    if (!Number.isFinite(usd) || usd <= 0) return;
    const more = { date: this.#today(), profile, usd };
    memory.days = addDay(memory.days, more);
    await this.#file.change(({ version, days }) => ({ version, days: addDay(days, more) }));
    if (budgetUsd !== undefined) this.#warnNear(await this.readSpent(), budgetUsd);
  }

  #sum(days: readonly Day[]): number {
    const { profile } = this.#order;
    const period = this.#period();
    return days
      .filter((day) => day.profile === profile && day.date.startsWith(period))
      .reduce((sum, { usd }) => sum + usd, 0);
  }

  /** Once per budget and period. */
  #warnNear(spent: number, budgetUsd: number): void {
    const { scope, profile, memory, warn } = this.#order;
    if (spent < budgetUsd * WARN_SHARE) return;
    const isOver = spent >= budgetUsd;
    const mark = [profile, scope, this.#period(), budgetUsd, isOver].join(" ");
    if (memory.warned.has(mark)) return;
    memory.warned.add(mark);
    const share = this.#share(spent, budgetUsd);
    warn(isOver ? `${share}: the next message to Claude Code will be refused` : share);
  }

  #share(spent: number, budgetUsd: number): string {
    const { scope, profile } = this.#order;
    return `${formatDollars(spent)} of the ${formatDollars(budgetUsd)} budget for ${profile} was spent ${SCOPES[scope].when}`;
  }

  #period(): string {
    return this.#today().slice(0, SCOPES[this.#order.scope].dateChars);
  }

  #today(): string {
    const now = (this.#order.now ?? (() => new Date()))();
    const two = (number: number) => String(number).padStart(2, "0");
    return `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`;
  }
}

/** Oldest first. */
function addDay(days: readonly Day[], more: Day): Day[] {
  const old = days.find(({ date, profile }) => date === more.date && profile === more.profile);
  const sum = { ...more, usd: more.usd + (old?.usd ?? 0) };
  return [...days.filter((day) => day !== old), sum].sort(byDate).slice(-MAX_DAYS);
}

function byDate(a: Day, b: Day): number {
  return a.date < b.date ? -1 : a.date > b.date ? 1 : 0;
}

/** With enough digits to show small amounts. */
function formatDollars(usd: number): string {
  return `$${usd >= 0.995 ? usd.toFixed(2) : String(Number(usd.toPrecision(2)))}`;
}
