// Views of the table's sessions: looks up what view.ts needs. The index of children is kept until a session is added or
// removed, because a busy daemon makes many views per second.
import type { Observer } from "../../observe/types.ts";
import type { SessionView } from "../../protocol/views.ts";
import { unknownSession } from "../core/refusals.ts";
import { ancestors } from "../family/kin.ts";
import type { ViewFilter } from "../manager-types.ts";
import type { Ledger } from "../requests/ledger.ts";
import type { SessionTable } from "../table.ts";
import {
  type ChildrenIndex,
  childrenIndex,
  familyPending,
  listFamily,
  pendingCounts,
  toView,
  toViews,
  type ViewParts,
  type ViewWorld,
} from "./view.ts";

export interface ViewsParts {
  table: SessionTable;
  ledger: Ledger;
  observer: Pick<Observer, "lastAction">;
  stallMs: number;
}

export class Views {
  readonly #parts: ViewsParts;
  #index: { version: number; children: ChildrenIndex } | undefined;

  constructor(parts: ViewsParts) {
    this.#parts = parts;
  }

  /** Throws if the session does not exist. */
  of(session_id: string): SessionView {
    return toView(this.#collectParts(session_id), this.#world());
  }

  find(session_id: string): SessionView | undefined {
    return this.#parts.table.row(session_id) === undefined ? undefined : this.of(session_id);
  }

  list(filter: ViewFilter): SessionView[] {
    const { table } = this.#parts;
    const all = [...table.rows()].map(({ session_id }) => this.#collectParts(session_id));
    const { backend } = filter;
    const known = backend === undefined ? {} : { backend: table.backend(backend).name };
    return toViews(all, this.#world(), { ...filter, ...known });
  }

  family(session_id: string): { depth: number; session: SessionView }[] {
    const world = this.#world();
    return listFamily(session_id, world.children).map((member) => ({
      depth: member.depth,
      session: toView(this.#collectParts(member.session_id), world),
    }));
  }

  /** Its ancestors, nearest first. */
  above(session_id: string): string[] {
    const { table } = this.#parts;
    const row = table.row(session_id);
    return row === undefined ? [] : ancestors(row, (id) => table.row(id)).map((one) => one.session_id);
  }

  #collectParts(session_id: string): ViewParts {
    const { table } = this.#parts;
    const row = table.row(session_id);
    if (row === undefined) throw unknownSession(session_id);
    const session = table.live.get(session_id);
    if (session === undefined) return { row };
    const { activity, isTurnActive, isRunning, owner, last_event_at_ms, held } = session;
    return {
      row,
      live: {
        ...{ activity, isTurnActive, isRunning, last_event_at_ms, held },
        attached: owner !== undefined,
      },
    };
  }

  #world(): ViewWorld {
    const { table, ledger, observer, stallMs } = this.#parts;
    if (this.#index?.version !== table.version) {
      this.#index = { version: table.version, children: childrenIndex(table.rows()) };
    }
    const pending = pendingCounts(ledger.pending());
    return {
      pending,
      familyPending: familyPending(pending, (session_id) => this.above(session_id)),
      children: this.#index.children,
      lastAction: (session_id) => observer.lastAction(session_id),
      provider: (backend) => table.provider(backend),
      stallMs,
      nowMs: Date.now(),
    };
  }
}
