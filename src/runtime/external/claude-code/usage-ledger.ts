// What messages to Claude Code cost, as far as demian caused it: in this process, today, this month. By provider profile,
// because budgets are set there. The file is one for all workspaces, and processes add to it under a lock.
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
  /** Of the process; shared by all ledgers in it. */
  memory: ProcessSpend;
  warn(message: string): void;
  now?(): Date;
}

/** What lives as long as the process. */
export interface ProcessSpend {
  days: Day[];
  /** Which warnings were given. */
  told: Set<string>;
}

const Day = z.strictObject({
  /** Where the user is. */
  date: z.string().regex(/^\d{4}-\d{2}-\d{2}$/),
  profile: z.string(),
  usd: z.number().min(0),
});
const LedgerFile = z.strictObject({ version: z.literal(1), days: z.array(Day) });
type Day = z.infer<typeof Day>;

/** Two months of sixteen profiles; the oldest go. */
const MAX_DAYS = 1000;
const WARN_SHARE = 0.8;
const FILE = "claude-code-usage.json";
/** `dateChars`: so much of the date is the same for all that counts. */
const SCOPES: Readonly<Record<LedgerScope, { dateChars: number; when: string; wait: string }>> = {
  process: { dateChars: 0, when: "in this process", wait: "start demian anew" },
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
      loss: "what other processes spent on Claude Code is not counted",
      warn: order.warn,
    });
  }

  /** In dollars, in the scope. Never rejects: without the file it is what this process spent. */
  async spent(): Promise<number> {
    const { scope, memory } = this.#order;
    const ours = this.#sum(memory.days);
    return scope === "process" ? ours : Math.max(ours, this.#sum((await this.#file.read()).days));
  }

  /** What may still be spent; undefined: there is no budget. Throws `budget_spent` with what to do. */
  async check(): Promise<number | undefined> {
    const { budgetUsd, scope, profile } = this.#order;
    if (budgetUsd === undefined) return undefined;
    const spent = await this.spent();
    if (spent < budgetUsd) {
      this.#warnNear(spent, budgetUsd);
      return budgetUsd - spent;
    }
    const advice = `raise providers.${profile}.budgetUsd, or ${SCOPES[scope].wait}`;
    throw new CodedError(
      "budget_spent",
      `Claude Code was not asked: ${this.#share(spent, budgetUsd)}; ${advice}`,
    );
  }

  /** Never rejects. */
  async add(usd: number): Promise<void> {
    const { profile, memory, budgetUsd } = this.#order;
    if (!Number.isFinite(usd) || usd <= 0) return;
    const more = { date: this.#today(), profile, usd };
    memory.days = added(memory.days, more);
    await this.#file.change(({ version, days }) => ({ version, days: added(days, more) }));
    if (budgetUsd !== undefined) this.#warnNear(await this.spent(), budgetUsd);
  }

  #sum(days: readonly Day[]): number {
    const { profile } = this.#order;
    const period = this.#period();
    return days
      .filter((day) => day.profile === profile && day.date.startsWith(period))
      .reduce((sum, { usd }) => sum + usd, 0);
  }

  /** Once for each budget and each time that it is for. */
  #warnNear(spent: number, budgetUsd: number): void {
    const { scope, profile, memory, warn } = this.#order;
    if (spent < budgetUsd * WARN_SHARE) return;
    const isOver = spent >= budgetUsd;
    const mark = [profile, scope, this.#period(), budgetUsd, isOver].join(" ");
    if (memory.told.has(mark)) return;
    memory.told.add(mark);
    const share = this.#share(spent, budgetUsd);
    warn(isOver ? `${share}: the next message to Claude Code will be refused` : share);
  }

  #share(spent: number, budgetUsd: number): string {
    const { scope, profile } = this.#order;
    return `${dollars(spent)} of the ${dollars(budgetUsd)} for ${profile} were spent ${SCOPES[scope].when}`;
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

/** The oldest in front. */
function added(days: readonly Day[], more: Day): Day[] {
  const old = days.find(({ date, profile }) => date === more.date && profile === more.profile);
  const sum = { ...more, usd: more.usd + (old?.usd ?? 0) };
  return [...days.filter((day) => day !== old), sum].sort(byDate).slice(-MAX_DAYS);
}

function byDate(a: Day, b: Day): number {
  return a.date < b.date ? -1 : a.date > b.date ? 1 : 0;
}

/** As many digits as it takes to see something. */
function dollars(usd: number): string {
  return `$${usd >= 0.995 ? usd.toFixed(2) : String(Number(usd.toPrecision(2)))}`;
}
