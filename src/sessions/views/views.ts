// Views of sessions: looks up what view.ts needs, in memory or in the store.
import { CodedError } from "../../base/coded-error.ts";
import { defined } from "../../base/values.ts";
import { findProject } from "../../observe/index.ts";
import type { Observer } from "../../observe/types.ts";
import type { SessionRow } from "../../protocol/session.ts";
import type { AskingSession, SessionView } from "../../protocol/views.ts";
import type { RowFilter, RowPlace, Store } from "../../store/types.ts";
import type { Budgets } from "../budget/budgets.ts";
import { unknownSessionError } from "../core/refusals.ts";
import type { ViewFilter, ViewsPage } from "../manager-types.ts";
import type { QuotaDesk } from "../quota/desk.ts";
import type { Ledger } from "../requests/ledger.ts";
import type { SessionTable } from "../table.ts";
import {
  type ChildrenIndex,
  compareActivity,
  countPending,
  indexChildren,
  isMeant,
  listFamily,
  selectParts,
  sumFamilyPending,
  toView,
  type ViewParts,
  type ViewWorld,
} from "./view.ts";

export interface ViewsParts {
  table: SessionTable;
  ledger: Ledger;
  observer: Pick<Observer, "lastAction" | "warm">;
  store: Pick<Store, "rows">;
  quota: Pick<QuotaDesk, "list">;
  budgets: Pick<Budgets, "view" | "warm">;
  stallMs: number;
}

/** Rows read from the store at once. */
const STEP = 1_000;

export class Views {
  readonly #parts: ViewsParts;

  constructor(parts: ViewsParts) {
    this.#parts = parts;
  }

  /** Rejects if the session does not exist. */
  async of(session_id: string): Promise<SessionView> {
    await this.#parts.observer.warm([session_id]);
    const view = await this.find(session_id);
    if (view === undefined) throw unknownSessionError(session_id);
    return view;
  }

  /** What names these sessions; those that were removed meanwhile are left out. */
  async askers(session_ids: Iterable<string>): Promise<AskingSession[]> {
    const { table } = this.#parts;
    const rows = await Promise.all([...session_ids].map((id) => table.row(id) ?? table.find(id)));
    return rows.flatMap((row) => {
      if (row === undefined) return [];
      const { session_id, name, title, cwd, parent, worktree } = row;
      const project = findProject(row);
      return [{ session_id, ...defined({ name, title, cwd, project, parent, worktree }) }];
    });
  }

  /** Without waiting if the session is in memory. */
  find(session_id: string): SessionView | undefined | Promise<SessionView | undefined> {
    const { table } = this.#parts;
    const row = table.row(session_id);
    return row === undefined ? this.#findStored(session_id) : this.#liveView(row);
  }

  async list(filter: ViewFilter): Promise<ViewsPage> {
    const { table, observer, budgets } = this.#parts;
    const { after, limit = Number.POSITIVE_INFINITY } = filter;
    const place = after === undefined ? undefined : parseCursor(after);
    const scope = this.#toScope(filter);
    const { rows, isWhole } = await this.#readStored(scope, place, limit);
    const ids = [...rows.map(({ session_id }) => session_id), ...table.live.keys()];
    const [kin] = await Promise.all([table.kin(ids), observer.warm(ids), budgets.warm(rows)]);
    // Sessions may have been loaded or unloaded meanwhile: each is taken once, as it is now.
    const now = [...table.withLive(rows).values()].filter(
      (row) => place === undefined || compareActivity(row, place) > 0,
    );
    const all = selectParts(
      now.map((row) => this.#toParts(row)),
      scope,
    );
    const page = all.slice(0, limit);
    const children = new Map([...kin].map(([id, own]) => [id, own.children]));
    const world = this.#world(children);
    const last = page.at(-1);
    const hasMore = last !== undefined && (!isWhole || all.length > page.length);
    return {
      sessions: page.map((parts) => toView(parts, world)),
      ...(hasMore && { next: toCursor(last.row) }),
    };
  }

  async family(session_id: string): Promise<{ depth: number; session: SessionView }[]> {
    const { table, observer, budgets } = this.#parts;
    const stored = await table.select({ family: session_id });
    await Promise.all([observer.warm(stored.map((row) => row.session_id)), budgets.warm(stored)]);
    const rows = table.withLive(stored);
    const children = indexChildren(rows.values());
    const world = this.#world(children);
    return listFamily(session_id, children).flatMap((member) => {
      const row = rows.get(member.session_id);
      return row === undefined ? [] : [{ depth: member.depth, session: toView(this.#toParts(row), world) }];
    });
  }

  /** Ancestors of a session in memory, nearest first. */
  above(session_id: string): readonly string[] {
    return this.#parts.table.relatives.of(session_id).above;
  }

  async #findStored(session_id: string): Promise<SessionView | undefined> {
    const { table } = this.#parts;
    const [row, kin] = await Promise.all([table.find(session_id), table.kin([session_id])]);
    const live = table.row(session_id);
    if (live !== undefined) return this.#liveView(live);
    if (row === undefined) return undefined;
    await this.#parts.budgets.warm([row]);
    const children = kin.get(session_id)?.children ?? [];
    return toView({ row }, this.#world(new Map([[session_id, children]])));
  }

  #liveView(row: SessionRow): SessionView {
    const { table, observer } = this.#parts;
    const { children } = table.relatives.of(row.session_id);
    // For the next view: it may not have acted since it was loaded.
    if (observer.lastAction(row.session_id) === undefined) void observer.warm([row.session_id]);
    return toView(this.#toParts(row), this.#world(new Map([[row.session_id, children]])));
  }

  /** At least `limit` rows of sessions that are not in memory, or all there are (`isWhole`). */
  async #readStored(
    scope: ViewFilter,
    place: RowPlace | undefined,
    limit: number,
  ): Promise<{ rows: SessionRow[]; isWhole: boolean }> {
    const { table, store } = this.#parts;
    const rows: SessionRow[] = [];
    if (!includesStored(scope)) return { rows, isWhole: true };
    const { backend, parent, name, cwd, prefix } = scope;
    const filter: RowFilter = defined({ backend, parent, name, cwd, prefix });
    const step = Math.min(STEP, limit + 1 + table.live.size);
    let after = place;
    for (let cold = 0; cold <= limit; ) {
      const page = await store.rows({ ...filter, ...defined({ after }), limit: step });
      for (const row of page) {
        if (!isMeant({ row }, scope)) continue;
        rows.push(row);
        if (!table.live.has(row.session_id)) cold += 1;
      }
      if (page.length < step) return { rows, isWhole: true };
      const last = page.at(-1);
      after = last === undefined ? undefined : toPlace(last);
    }
    return { rows, isWhole: false };
  }

  #toScope(filter: ViewFilter): ViewFilter {
    const { backend } = filter;
    return backend === undefined ? filter : { ...filter, backend: this.#parts.table.backend(backend).name };
  }

  #toParts(row: SessionRow): ViewParts {
    const session = this.#parts.table.live.get(row.session_id);
    if (session === undefined) return { row };
    const { activity, isTurnActive, isRunning, owner, last_event_at_ms, held, quotaWait } = session;
    return {
      row,
      live: {
        ...{ activity, isTurnActive, isRunning, last_event_at_ms, held, quotaWait },
        attached: owner !== undefined,
      },
    };
  }

  #world(children: ChildrenIndex): ViewWorld {
    const { table, ledger, observer, quota, budgets, stallMs } = this.#parts;
    const pending = countPending(ledger.pending());
    return {
      pending,
      familyPending: sumFamilyPending(pending, (session_id) => this.above(session_id)),
      children,
      lastAction: (session_id) => observer.lastAction(session_id),
      quota: (row) => quota.list(row),
      budgets: (session_id) => budgets.view(session_id),
      provider: (backend) => table.provider(backend),
      stallMs,
      nowMs: Date.now(),
    };
  }
}

/** Sessions that are not in memory are stopped; some have failed. */
function includesStored({ live, state }: ViewFilter): boolean {
  if (live === true) return false;
  return state === undefined || state.includes("stopped") || state.includes("failed");
}

function toPlace({ last_active_at_ms, started_at_ms, session_id }: SessionRow): RowPlace {
  return { last_active_at_ms, started_at_ms, session_id };
}

function toCursor({ last_active_at_ms, started_at_ms, session_id }: RowPlace): string {
  return `${last_active_at_ms}.${started_at_ms}.${session_id}`;
}

function parseCursor(cursor: string): RowPlace {
  const [, active, started, session_id] = /^(\d{1,15})\.(\d{1,15})\.(\S{1,128})$/.exec(cursor) ?? [];
  if (session_id === undefined) {
    throw new CodedError("invalid_message", "/after: not a `next` value of an earlier page");
  }
  return { last_active_at_ms: Number(active), started_at_ms: Number(started), session_id };
}
