// The last seq of the sessions that are appended to. The database checks it too, but only later, when nobody can be
// told any more.
import { findBatchFault, sequenceFault } from "../frames.ts";
import type { AppendOutcome } from "../types.ts";
import { type Content, markUnit, toUnits } from "../units.ts";

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

/** Rows and requests go with the last batch of their session, so they are refused with it. */
function withoutRefused(order: Content, outcome: AppendOutcome): Content {
  const { batches, rows, requests } = order;
  for (const unit of toUnits(order)) {
    if (unit.batch !== undefined) markUnit(outcome, unit, outcome[unit.batch.index]);
  }
  const kept = <T>(values: T[], from: number) => values.filter((_, at) => outcome[from + at] === undefined);
  return {
    batches: kept(batches, 0),
    rows: kept(rows, batches.length),
    ...(requests !== undefined && { requests: kept(requests, batches.length + rows.length) }),
  };
}
