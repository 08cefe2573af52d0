// The last seq of each session being appended to. The database checks it too, but too late to report it to the caller.
import { findBatchFault, findSequenceFault } from "../frames.ts";
import type { AppendOutcome } from "../types.ts";
import { type Content, markUnit, toUnits } from "../units.ts";

const MAX_KNOWN = 4096;

export class KnownSeqs {
  readonly #last = new Map<string, number>();

  /** Sessions whose last seq must be read from the database first. */
  listUnknown({ batches }: Content): string[] {
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

  /** Keeps the table small; sessions still in use are learned again. */
  forgetMany(): void {
    if (this.#last.size > MAX_KNOWN) this.#last.clear();
  }

  /** Admits batches that follow and marks the others in `outcome`; returns what is left to write. */
  admit(order: Content, outcome: AppendOutcome): Content {
    let isWhole = true;
    for (let at = 0; at < order.batches.length; at += 1) {
      const batch = order.batches[at];
      if (batch === undefined) continue;
      const fault = findBatchFault(batch) ?? findSequenceFault(batch, this.#last.get(batch.session_id) ?? 0);
      if (fault === undefined) this.#last.set(batch.session_id, batch.last_seq);
      else isWhole = false;
      outcome[at] = fault;
    }
    for (const row of order.rows) this.#follow(row.session_id, row.last_seq, order);
    return isWhole ? order : dropRefused(order, outcome);
  }

  /** Undoes `admit`: the order could not be written. */
  takeBack({ batches }: Content): void {
    for (const { session_id, first_seq } of batches.toReversed()) this.#last.set(session_id, first_seq - 1);
  }

  /** A row sets where seq continues in a session without frames; only the database knows whether it has any. */
  #follow(session_id: string, last_seq: number, { batches }: Content): void {
    const known = this.#last.get(session_id);
    if (known === undefined || known === last_seq) return;
    if (!batches.some((batch) => batch.session_id === session_id)) this.#last.delete(session_id);
  }
}

/** Rows and requests belong to the last batch of their session and are rejected with it. */
function dropRefused(order: Content, outcome: AppendOutcome): Content {
  const { batches, rows, requests } = order;
  for (const unit of toUnits(order)) {
    if (unit.batch !== undefined) markUnit(outcome, unit, outcome[unit.batch.index]);
  }
  const keepAccepted = <T>(values: T[], from: number) =>
    values.filter((_, at) => outcome[from + at] === undefined);
  return {
    batches: keepAccepted(batches, 0),
    rows: keepAccepted(rows, batches.length),
    ...(requests !== undefined && { requests: keepAccepted(requests, batches.length + rows.length) }),
  };
}
