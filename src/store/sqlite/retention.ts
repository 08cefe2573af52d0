// Removes old frames from `batches`: everything up to one seq per session, so that the rest has no gap. A batch across
// the cut is replaced by its tail.

import { type Database, runInTransaction, type Statement } from "../../base/sqlite/database.ts";
import { countLines, findLine } from "../frames.ts";
import type { PruneCounts, PruneStep, Retention } from "../types.ts";
import type { StoredBatch } from "./events.ts";

interface Size {
  first_seq: number;
  last_seq: number;
  size: number;
}

/** Sessions looked at in one step: some milliseconds. */
const STEP = 100;

/**
 * Every batch that may be removed, oldest first: not the newest of its session, nothing of a running turn, and nothing
 * since an open request.
 */
const OLDEST_REMOVABLE = `
  WITH kept AS (
    SELECT session_id, min(at_ms) AS at_ms FROM (
      SELECT session_id, json_extract(row, '$.turn.started_at_ms') AS at_ms FROM sessions
      UNION ALL
      SELECT session_id, requested_at_ms FROM pending_requests WHERE is_open = 1
    ) WHERE at_ms IS NOT NULL GROUP BY session_id
  )
  SELECT b.session_id, b.first_seq, b.last_seq, length(b.bytes) AS size FROM batches b
  LEFT JOIN kept USING (session_id)
  WHERE (kept.at_ms IS NULL OR b.at_ms < kept.at_ms)
    AND b.first_seq < (SELECT max(n.first_seq) FROM batches n WHERE n.session_id = b.session_id)
  ORDER BY b.at_ms, b.first_seq`;

export class Pruner {
  readonly #db: Database;
  readonly #nextSession: Statement;
  readonly #oldest: Statement;
  readonly #newest: Statement;
  readonly #firstYoung: Statement;
  readonly #sizes: Statement;
  readonly #bytes: Statement;
  readonly #totals: Statement;
  readonly #delete: Statement;
  readonly #shorten: Statement;
  readonly #used: Statement;

  constructor(db: Database) {
    this.#db = db;
    this.#nextSession = db.prepare(
      "SELECT session_id FROM batches WHERE session_id > ? ORDER BY session_id LIMIT 1",
    );
    this.#oldest = db.prepare(
      "SELECT first_seq, at_ms FROM batches WHERE session_id = ? ORDER BY first_seq LIMIT 1",
    );
    this.#newest = db.prepare(
      "SELECT last_seq FROM batches WHERE session_id = ? ORDER BY first_seq DESC LIMIT 1",
    );
    this.#firstYoung = db.prepare(
      "SELECT min(first_seq) AS first_seq FROM batches WHERE session_id = ? AND at_ms >= ?",
    );
    this.#sizes = db.prepare(
      "SELECT first_seq, last_seq, length(bytes) AS size FROM batches WHERE session_id = ? ORDER BY first_seq DESC",
    );
    this.#bytes = db.prepare(
      "SELECT first_seq, last_seq, bytes FROM batches WHERE session_id = ? AND first_seq <= ? AND last_seq >= ?",
    );
    this.#totals = db.prepare(
      "SELECT total(count) AS events, total(length(bytes)) AS bytes FROM batches WHERE session_id = ?",
    );
    this.#delete = db.prepare(
      "DELETE FROM batches WHERE session_id = ? AND first_seq <= ? AND last_seq <= ?",
    );
    this.#shorten = db.prepare(
      "UPDATE batches SET first_seq = ?, count = ?, bytes = ? WHERE session_id = ? AND first_seq = ?",
    );
    this.#used = db.prepare(
      `SELECT (page_count - freelist_count) * page_size AS used
       FROM pragma_page_count(), pragma_freelist_count(), pragma_page_size()`,
    );
  }

  prune(limits: Retention, nowMs: number, after = ""): PruneStep {
    const counts: PruneCounts = { sessions: 0, events: 0, bytes: 0, over_total: 0 };
    let last = after;
    for (let looked = 0; looked < STEP; looked += 1) {
      const found = this.#nextSession.get(last) as { session_id: string } | undefined;
      if (found === undefined) {
        if (limits.maxTotalBytes > 0) this.#keepTotal(limits.maxTotalBytes, counts);
        return counts;
      }
      last = found.session_id;
      this.#pruneOne(last, limits, nowMs, counts);
    }
    return { ...counts, next: last };
  }

  #pruneOne(session_id: string, limits: Retention, nowMs: number, counts: PruneCounts): void {
    const { first_seq, at_ms } = this.#oldest.get(session_id) as { first_seq: number; at_ms: number };
    const { last_seq } = this.#newest.get(session_id) as { last_seq: number };
    // Most sessions are young, which the oldest batch alone tells.
    const maxAgeMs = at_ms < nowMs - limits.maxAgeMs ? limits.maxAgeMs : 0;
    const cut = Math.min(this.#cutSeq(session_id, last_seq, { ...limits, maxAgeMs }, nowMs), last_seq - 1);
    if (cut < first_seq) return;
    // One transaction per session: a failure leaves the others pruned and this one intact.
    const gone = runInTransaction(this.#db, () => this.#removeUpTo(session_id, cut));
    counts.sessions += 1;
    counts.events += gone.events;
    counts.bytes += gone.bytes;
  }

  /** Removes the oldest frames of all sessions until the rest fits. */
  #keepTotal(maxBytes: number, counts: PruneCounts): void {
    let excess = this.#usedBytes() - maxBytes;
    if (excess <= 0) return;
    const cuts = new Map<string, number>();
    for (const found of this.#db.prepare(OLDEST_REMOVABLE).iterate()) {
      const { session_id, last_seq, size } = found as unknown as Size & { session_id: string };
      cuts.set(session_id, last_seq);
      excess -= size;
      if (excess <= 0) break;
    }
    for (const [session_id, cut] of cuts) {
      const gone = runInTransaction(this.#db, () => this.#removeUpTo(session_id, cut));
      counts.sessions += 1;
      counts.events += gone.events;
      counts.bytes += gone.bytes;
      counts.over_total += gone.events;
    }
  }

  /** The size of the database without free pages. */
  #usedBytes(): number {
    const { used } = this.#used.get() as { used: number };
    return used;
  }

  #cutSeq(session_id: string, last_seq: number, limits: Retention, nowMs: number): number {
    let cut = 0;
    if (limits.maxRowsPerSession > 0) cut = Math.max(cut, last_seq - limits.maxRowsPerSession);
    if (limits.maxAgeMs > 0) cut = Math.max(cut, this.#oldSeq(session_id, last_seq, nowMs - limits.maxAgeMs));
    if (limits.maxBytesPerSession > 0) {
      cut = Math.max(cut, this.#beyondBytes(session_id, limits.maxBytesPerSession));
    }
    return cut;
  }

  /** Up to the first recent batch: after a clock jump this keeps too much rather than too little. */
  #oldSeq(session_id: string, last_seq: number, beforeMs: number): number {
    const young = this.#firstYoung.get(session_id, beforeMs) as { first_seq: number | null };
    return young.first_seq === null ? last_seq : young.first_seq - 1;
  }

  #beyondBytes(session_id: string, maxBytes: number): number {
    if (this.#total(session_id).bytes <= maxBytes) return 0;
    let room = maxBytes;
    for (const found of this.#sizes.all(session_id)) {
      const { first_seq, last_seq, size } = found as unknown as Size;
      if (size > room) return last_seq - this.#linesFitting(session_id, last_seq, room);
      room -= size;
      if (room === 0) return first_seq - 1;
    }
    return 0;
  }

  /** How many of the newest frames of the batch that ends with `last_seq` fit into `room`. */
  #linesFitting(session_id: string, last_seq: number, room: number): number {
    const batch = this.#batchWith(session_id, last_seq);
    if (batch === undefined) return 0;
    const from = batch.bytes.length - room;
    // The newline before the first frame that fits may be the last byte that does not.
    const start = batch.bytes.indexOf(0x0a, from - 1) + 1;
    return countLines(batch.bytes.subarray(start));
  }

  #removeUpTo(session_id: string, cut: number): { events: number; bytes: number } {
    const before = this.#total(session_id);
    this.#delete.run(session_id, cut, cut);
    const astride = this.#batchWith(session_id, cut);
    if (astride !== undefined) {
      const { first_seq, last_seq, bytes } = astride;
      const tail = bytes.subarray(findLine(bytes, cut + 1 - first_seq));
      this.#shorten.run(cut + 1, last_seq - cut, tail, session_id, first_seq);
    }
    const after = this.#total(session_id);
    return { events: before.events - after.events, bytes: before.bytes - after.bytes };
  }

  #batchWith(session_id: string, seq: number): StoredBatch | undefined {
    return this.#bytes.get(session_id, seq, seq) as StoredBatch | undefined;
  }

  #total(session_id: string): { events: number; bytes: number } {
    return this.#totals.get(session_id) as { events: number; bytes: number };
  }
}
