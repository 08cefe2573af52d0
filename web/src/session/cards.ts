// Which requests stand as cards: those that wait, and for a moment those that were just settled, so that a person sees
// who answered and what. Pure but for asking what became of one.
import type { RequestRow } from "../../../src/client/view/types.ts";
import type { Api } from "../app-types.ts";

/** How long the outcome is shown. */
const OUTCOME_MS = 6_000;

export class Cards {
  readonly #api: Pick<Api, "request">;
  readonly #changed: () => void;
  readonly #shown = new Map<string, RequestRow>();
  readonly #timers = new Map<string, ReturnType<typeof setTimeout>>();

  constructor(api: Pick<Api, "request">, changed: () => void) {
    this.#api = api;
    this.#changed = changed;
  }

  /** Oldest first; settled ones stay where they were. */
  rows(): RequestRow[] {
    return [...this.#shown.values()];
  }

  /** All that waits now. */
  set(pending: readonly RequestRow[]): void {
    const waiting = new Set(pending.map(({ request_id }) => request_id));
    for (const row of pending) {
      // An answer of our own may be known before the list is.
      if (!this.#timers.has(row.request_id)) this.#shown.set(row.request_id, row);
    }
    for (const row of this.#shown.values()) {
      if (waiting.has(row.request_id) || this.#timers.has(row.request_id)) continue;
      this.#leave(row);
      void this.#ask(row);
    }
  }

  settled(row: RequestRow): void {
    this.#shown.set(row.request_id, row);
    if (!this.#timers.has(row.request_id)) this.#leave(row);
    this.#changed();
  }

  close(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
    this.#shown.clear();
  }

  #leave({ request_id }: RequestRow): void {
    const timer = setTimeout(() => {
      this.#timers.delete(request_id);
      this.#shown.delete(request_id);
      this.#changed();
    }, OUTCOME_MS);
    this.#timers.set(request_id, timer);
  }

  /** Until it is known, nobody can answer it: it waits no longer. */
  async #ask(row: RequestRow): Promise<void> {
    this.#shown.set(row.request_id, { ...row, status: "withdrawn" });
    try {
      const now = await this.#api.request(row.session_id, row.request_id);
      if (this.#shown.has(row.request_id) && now.status !== "pending") this.#shown.set(row.request_id, now);
    } catch {
      // Its session is gone: that it waits no longer is all there is to say.
    }
    this.#changed();
  }
}
