// The last seq of the sessions that are appended to. The database checks it too, but only later, when nobody can be
// told any more.
import { findBatchFault, sequenceFault } from "../frames.ts";
import type { AppendOrder, AppendOutcome } from "../types.ts";
import { toUnits } from "../units.ts";

type Content = Pick<AppendOrder, "batches" | "rows">;

const MAX_KNOWN = 4096;

export class KnownSeqs {
  readonly #last = new Map<string, number>();

  /** Sessions of which the database must be asked first. */
  unknown({ batches }: Content): string[] {
    const ids: string[] = [];
    for (const { session_id } of batches) if (!this.#last.has(session_id)) ids.push(session_id);
    return ids;
  }

  learn(session_id: string, last_seq: number): void {
    this.#last.set(session_id, last_seq);
  }

  forget(session_id: string): void {
    this.#last.delete(session_id);
  }

  /** Keeps the table small; those that are still in use are learned again. */
  forgetMany(): void {
    if (this.#last.size > MAX_KNOWN) this.#last.clear();
  }

  /** Takes what fits as appended, and marks what does not in `outcome`; what is left to write. */
  admit(order: Content, outcome: AppendOutcome): Content {
    let isWhole = true;
    for (let at = 0; at < order.batches.length; at += 1) {
      const batch = order.batches[at];
      if (batch === undefined) continue;
      const fault = findBatchFault(batch) ?? sequenceFault(batch, this.#last.get(batch.session_id) ?? 0);
      if (fault === undefined) this.#last.set(batch.session_id, batch.last_seq);
      else isWhole = false;
      outcome[at] = fault;
    }
    for (const row of order.rows) this.#follow(row.session_id, row.last_seq, order);
    return isWhole ? order : withoutRefused(order, outcome);
  }

  /** The order could not be written after all. */
  takeBack({ batches }: Content): void {
    for (const { session_id, first_seq } of batches.toReversed()) this.#last.set(session_id, first_seq - 1);
  }

  /** A row tells where the seq of a session without frames goes on; only the database knows whether it has any. */
  #follow(session_id: string, last_seq: number, { batches }: Content): void {
    const known = this.#last.get(session_id);
    if (known === undefined || known === last_seq) return;
    if (!batches.some((batch) => batch.session_id === session_id)) this.#last.delete(session_id);
  }
}

/** A row goes with the last batch of its session, so it is refused with it. */
function withoutRefused(order: Content, outcome: AppendOutcome): Content {
  for (const { batch, row } of toUnits(order)) {
    if (batch !== undefined && row !== undefined) outcome[row.index] = outcome[batch.index];
  }
  return {
    batches: order.batches.filter((_, at) => outcome[at] === undefined),
    rows: order.rows.filter((_, at) => outcome[order.batches.length + at] === undefined),
  };
}
