// Keeps the budgets of families: reads the members, computes what is left (accounts.ts) whenever something is used, and
// sends each session what that means for it. Asks a person when a budget is used up. All figures come from stored rows
// and running turns, so a restart finds the same.
import { CodedError, toMessage } from "../../base/coded-error.ts";
import type { Log } from "../../base/log.ts";
import type { Budget, BudgetChange, BudgetView, RemovedSpending } from "../../protocol/budget.ts";
import type { SessionRow } from "../../protocol/session.ts";
import type { SessionView } from "../../protocol/views.ts";
import type { MarkChange } from "../core/marks.ts";
import { addSpent, type Rates } from "../core/spending.ts";
import type { Ledger } from "../requests/ledger.ts";
import type { Session } from "../session.ts";
import type { SessionTable } from "../table.ts";
import { type BudgetAccounts, computeAccounts, type Member } from "./accounts.ts";
import { BudgetAsker } from "./asker.ts";
import { applyChange, checkGrant } from "./changes.ts";
import { findBlocking, READING, toBudgetViews, toFacts } from "./facts.ts";
import { toMember } from "./members.ts";
import { findPriceDoubt } from "./rates.ts";
import { groupBlocked } from "./request.ts";

export interface BudgetsParts {
  table: SessionTable;
  ledger: Ledger;
  log: Log;
  ratesOf(backend: string): Rates;
  /** Stops a session and its descendants. */
  stopTree(session_id: string): Promise<unknown>;
  /** The view of a session has changed. */
  changed(session_id: string): void;
}

interface Family {
  readonly root: string;
  readonly members: Map<string, Member>;
  readonly asker: BudgetAsker;
  accounts: BudgetAccounts;
  timer?: NodeJS.Timeout | undefined;
  isComputing: boolean;
  isDirty: boolean;
}

/** Families without a budget that are remembered as such. */
const MAX_PLAIN = 10_000;
const MIN_TIMER_MS = 20;
const MAX_TIMER_MS = 60 * 60 * 1000;

export class Budgets {
  readonly #parts: BudgetsParts;
  /** Families with a budget, by each member. */
  readonly #families = new Map<string, Family>();
  readonly #plain = new Set<string>();
  readonly #loading = new Map<string, Promise<void>>();
  #isClosed = false;

  constructor(parts: BudgetsParts) {
    this.#parts = parts;
  }

  /** A session is in memory now. Its queue waits until its budget is known. */
  onLoaded(session: Session): void {
    const { row } = session;
    const { session_id } = row;
    const known = this.#families.get(session_id) ?? this.#families.get(row.parent ?? "");
    if (known !== undefined) {
      // Not before its first job: that starts its agent.
      session.setBudget(READING);
      this.#families.set(session_id, known);
      known.members.set(session_id, this.#toMember(known, row));
      setImmediate(() => this.#compute(known));
      return;
    }
    const root = this.#findRoot(session_id);
    if (row.budget === undefined && (row.parent === undefined || this.#plain.has(root))) return;
    session.setBudget(READING);
    void this.#load(root, row.budget !== undefined);
  }

  /** It is only in the store now; `isForgotten`: not even there. */
  onUnloaded(row: SessionRow, isForgotten: boolean): void {
    const family = this.#families.get(row.session_id);
    if (family === undefined) return;
    family.asker.forget(row.session_id);
    if (isForgotten) this.#drop(family, row.session_id);
    else family.members.set(row.session_id, this.#toMember(family, row));
    this.#compute(family);
  }

  onRemoved({ session_id }: Pick<SessionRow, "session_id">): void {
    const family = this.#families.get(session_id);
    if (family === undefined) return;
    this.#drop(family, session_id);
    this.#compute(family);
  }

  /** Something of this session has changed. Called for every change: usually there is no budget. */
  onChange(session_id: string): void {
    const family = this.#families.get(session_id);
    if (family !== undefined) this.#compute(family);
  }

  /** The limits that apply to a session, as far as they are in memory. */
  view(session_id: string): BudgetView[] | undefined {
    const accounts = this.#families.get(session_id)?.accounts;
    const views = accounts === undefined ? [] : toBudgetViews(session_id, accounts);
    return views.length === 0 ? undefined : views;
  }

  /** Before views of these sessions are made: reads what is not in memory. */
  async warm(rows: Iterable<SessionRow>): Promise<void> {
    for (const { session_id, budget } of rows)
      if (budget !== undefined && !this.#families.has(session_id)) await this.#read(session_id);
  }

  /** Reads the family. The returned function throws `budget_exhausted` if there is not enough for another child. */
  async checkSpawn(parent_id: string, budget: Budget | undefined): Promise<() => void> {
    await this.#read(parent_id);
    return () => {
      const family = this.#families.get(parent_id);
      if (family === undefined) return;
      this.#compute(family);
      checkGrant(parent_id, budget, family.accounts);
    };
  }

  /** Changes the limits of a session, and its marks in the same write. Throws `budget_exhausted` with the figures if they do not fit. */
  async change(session_id: string, change: BudgetChange, marks: MarkChange = {}): Promise<void> {
    await this.#read(session_id);
    await this.#parts.table.use(session_id, async (session) => {
      const family = this.#families.get(session_id);
      if (family !== undefined) this.#compute(family);
      const members = family?.members ?? new Map([[session_id, this.#toMember(undefined, session.row)]]);
      await session.mark({ ...marks, budget: applyChange(session_id, change, members) });
    });
    if (this.#families.has(session_id)) this.onChange(session_id);
    else await this.#load(this.#findRoot(session_id), true);
  }

  /**
   * Before sessions are deleted, the first with everything below it or alone: what they used still counts for its parent.
   * Throws if its children would lose a budget above it.
   */
  async onRemoving(ids: readonly string[]): Promise<void> {
    const [first = ""] = ids;
    await this.#read(first);
    const family = this.#families.get(first);
    if (family === undefined) return;
    if (ids.length === 1 && isBetween(first, family)) {
      const message = `the children of session ${first} draw on a budget above it; delete them too (--tree)`;
      throw new CodedError("budget_exhausted", message);
    }
    const parent = family.members.get(first)?.parent;
    if (parent === undefined || !family.members.has(parent)) return;
    await this.#parts.table.use(parent, async (session) => {
      const added = ids.flatMap((session_id): RemovedSpending[] => {
        const spent = family.members.get(session_id)?.spent;
        return spent === undefined ? [] : [{ session_id, spent }];
      });
      const before = (session.row.removed_spending ?? []).filter(
        (one) => !added.some(({ session_id }) => session_id === one.session_id),
      );
      await session.mark({ removed_spending: [...addUpRemoved(before, family.members), ...added] });
    });
  }

  /** What to say about a session with a limit on its cost; undefined: its cost will be known. */
  findDoubt({ backend, model, budgets }: SessionView): string | undefined {
    if (budgets?.some(({ limit_of }) => limit_of === "max_cost_usd") !== true) return undefined;
    return findPriceDoubt({ backend, model }, this.#parts.ratesOf(backend));
  }

  close(): void {
    this.#isClosed = true;
    for (const { timer } of this.#families.values()) clearTimeout(timer);
  }

  #findRoot(session_id: string): string {
    return this.#parts.table.relatives.of(session_id).above.at(-1) ?? session_id;
  }

  /** The family of any session. */
  async #read(session_id: string): Promise<void> {
    if (this.#families.has(session_id)) return;
    const { above = [] } = (await this.#parts.table.kin([session_id])).get(session_id) ?? {};
    const root = above.at(-1) ?? session_id;
    if (!this.#plain.has(root)) await this.#load(root, false);
  }

  /** `isForced`: although it had no budget when it was last read. */
  #load(root: string, isForced: boolean): Promise<void> {
    if (isForced) this.#plain.delete(root);
    const before = this.#loading.get(root);
    const loading = (before ?? Promise.resolve())
      .then(() => this.#loadNow(root))
      .catch((error: unknown) => {
        // Sessions stay held: without their budget nothing may start.
        this.#parts.log.error("budget.unreadable", { session_id: root, message: toMessage(error) });
      })
      .finally(() => {
        if (this.#loading.get(root) === loading) this.#loading.delete(root);
      });
    this.#loading.set(root, loading);
    return loading;
  }

  async #loadNow(root: string): Promise<void> {
    const { table } = this.#parts;
    const stored = await table.select({ family: root });
    const inMemory = [...table.live.values()].map(({ row }) => row);
    const live = inMemory.filter(({ session_id }) => this.#findRoot(session_id) === root);
    const rows = new Map(
      [...stored, ...live].map((row) => [row.session_id, table.row(row.session_id) ?? row]),
    );
    if (![...rows.values()].some(({ budget }) => budget !== undefined)) {
      if (this.#plain.size >= MAX_PLAIN) this.#plain.clear();
      this.#plain.add(root);
      for (const { session_id } of live) table.live.get(session_id)?.setBudget(undefined);
      return;
    }
    const family = this.#families.get(root) ?? this.#createFamily(root);
    for (const id of rows.keys()) this.#families.set(id, family);
    for (const row of rows.values()) family.members.set(row.session_id, this.#toMember(family, row));
    // Again, now that it is known which of them exist.
    for (const row of rows.values()) family.members.set(row.session_id, this.#toMember(family, row));
    this.#compute(family);
  }

  #createFamily(root: string): Family {
    const { table, ledger, log, stopTree } = this.#parts;
    const family: Family = {
      root,
      members: new Map(),
      accounts: computeAccounts(new Map()),
      isComputing: false,
      isDirty: false,
      asker: new BudgetAsker({
        ledger,
        log,
        revive: (session_id) => table.revive(session_id),
        raise: ({ session_id, limit_of, limit }) => this.change(session_id, { [limit_of]: limit }),
        stopTree,
        accounts: () => family.accounts.all,
        settled: () => this.#compute(family),
      }),
    };
    return family;
  }

  #drop(family: Family, session_id: string): void {
    family.members.delete(session_id);
    family.asker.forget(session_id);
    this.#families.delete(session_id);
  }

  #toMember(family: Family | undefined, row: SessionRow): Member {
    const { table, ratesOf } = this.#parts;
    const session = table.live.get(row.session_id);
    const live = session === undefined ? undefined : { state: session.state, nowMs: Date.now() };
    return toMember(row, ratesOf(row.backend), (id) => family?.members.has(id) === true, live);
  }

  /** What follows may call this again: then once more at the end. */
  #compute(family: Family): void {
    family.isDirty = true;
    if (family.isComputing || this.#isClosed) return;
    family.isComputing = true;
    try {
      while (family.isDirty) {
        family.isDirty = false;
        this.#computeOnce(family);
      }
    } finally {
      family.isComputing = false;
    }
  }

  #computeOnce(family: Family): void {
    const { table, changed } = this.#parts;
    const live = [...this.#listLive(family)]; // `changed` may add some
    for (const { row } of live) family.members.set(row.session_id, this.#toMember(family, row));
    const { members, asker } = family;
    family.accounts = computeAccounts(members);
    const { accounts } = family;
    const wanting = [...members.values()].filter(({ wants }) => wants);
    asker.review(groupBlocked(wanting, (session_id) => findBlocking(session_id, accounts, members)));
    for (const session of live) {
      const { session_id } = session.row;
      const facts = toFacts(session_id, accounts, members, asker.isAsking(session_id));
      if (JSON.stringify(facts) === JSON.stringify(session.state.budget)) continue;
      session.setBudget(facts);
      changed(session_id);
      // It may have started a turn: the others get what is left now.
      if (family.isDirty) return; // mutation: one-starts-at-a-time
    }
    for (const { holder } of accounts.all) if (table.live.has(holder.session_id)) changed(holder.session_id);
    this.#setTimer(family);
  }

  *#listLive({ members }: Family): Iterable<Session> {
    const { live } = this.#parts.table;
    for (const session_id of members.keys()) {
      const session = live.get(session_id);
      if (session !== undefined) yield session;
    }
  }

  /** Time passes without an event. */
  #setTimer(family: Family): void {
    clearTimeout(family.timer);
    const running = family.accounts.all.filter(
      ({ kind, drawers }) => kind === "wall_ms" && drawers.some((one) => one.running !== undefined),
    );
    const waits = running.map(({ left, drawers }) => {
      return left / drawers.filter((one) => one.running !== undefined).length;
    });
    const open = waits.filter((ms) => ms > 0);
    if (open.length === 0) return;
    const ms = Math.min(MAX_TIMER_MS, Math.max(MIN_TIMER_MS, Math.ceil(Math.min(...open))));
    family.timer = setTimeout(() => this.#compute(family), ms);
    family.timer.unref();
  }
}

/** Whether the session is between its children and a budget that they draw on. */
function isBetween(session_id: string, { members, accounts }: Family): boolean {
  const children = [...members.values()].filter(({ parent }) => parent === session_id);
  return children.some((child) =>
    accounts
      .of(child.session_id)
      .some(({ holder }) => holder.session_id !== child.session_id && holder.session_id !== session_id),
  );
}

/** Those that are gone for good as one sum, so that the list stays short. */
function addUpRemoved(
  removed: readonly RemovedSpending[],
  members: ReadonlyMap<string, Member>,
): RemovedSpending[] {
  const isHere = ({ session_id }: RemovedSpending): boolean => members.has(session_id ?? "");
  const [first, ...gone] = removed.filter((one) => !isHere(one));
  const here = removed.filter(isHere);
  return first === undefined
    ? here
    : [{ spent: gone.reduce((sum, one) => addSpent(sum, one.spent), first.spent) }, ...here];
}
