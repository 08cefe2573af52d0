// The requests shown as cards: pending ones and, for a moment, settled ones with their outcome.
import type { HttpApi } from "../../../src/client/http/api.ts";
import type { RequestRow } from "../../../src/client/view/types.ts";

/** How long an outcome is shown. */
const OUTCOME_MS = 6_000;

export class Cards {
  readonly #api: Pick<HttpApi, "request">;
  readonly #changed: () => void;
  readonly #shown = new Map<string, RequestRow>();
  readonly #timers = new Map<string, ReturnType<typeof setTimeout>>();

  constructor(api: Pick<HttpApi, "request">, changed: () => void) {
    this.#api = api;
    this.#changed = changed;
  }

  /** Oldest first; settled ones keep their place. */
  rows(): RequestRow[] {
    return [...this.#shown.values()];
  }

  /** Sets all pending requests. */
  set(pending: readonly RequestRow[]): void {
    const waiting = new Set(pending.map(({ request_id }) => request_id));
    for (const row of pending) {
      // Our own answer may arrive before the list.
      if (!this.#timers.has(row.request_id)) this.#shown.set(row.request_id, row);
    }
    for (const row of this.#shown.values()) {
      if (waiting.has(row.request_id) || this.#timers.has(row.request_id)) continue;
      this.#leave(row);
      void this.#ask(row);
    }
  }

  settle(row: RequestRow): void {
    this.#shown.set(row.request_id, row);
    if (!this.#timers.has(row.request_id)) this.#leave(row);
    this.#changed();
  }

  /** The user works with the settled card: it stays until `release`. */
  keep(request_id: string): void {
    clearTimeout(this.#timers.get(request_id));
  }

  /** Shows it for a moment longer. */
  release(request_id: string): void {
    const row = this.#shown.get(request_id);
    if (row !== undefined) this.#leave(row);
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

  /** Reads the outcome; until then the request is shown as withdrawn. */
  async #ask(row: RequestRow): Promise<void> {
    this.#shown.set(row.request_id, { ...row, status: "withdrawn" });
    try {
      const now = await this.#api.request(row.session_id, row.request_id);
      if (this.#shown.has(row.request_id) && now.status !== "pending") this.#shown.set(row.request_id, now);
    } catch {
      // The session is gone.
    }
    this.#changed();
  }
}
