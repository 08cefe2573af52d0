// The table `batches`: the frames of all sessions, one row per batch. Callers open the transaction.

import type { Database, Statement } from "../../base/sqlite/database.ts";
import { countLines, findBatchFault, findLine, findSequenceFault, measureWholeLines } from "../frames.ts";
import type { LogBatch } from "../types.ts";

export interface StoredBatch {
  first_seq: number;
  last_seq: number;
  bytes: Uint8Array;
}

interface TimedBatch extends StoredBatch {
  at_ms: number;
}

/** A session's seqs as known outside its frames. */
interface KnownSeqs {
  /** Where a session without frames continues. */
  rowSeq(session_id: string): number;
  /** The highest seq given out before this start. */
  getMark(session_id: string): number;
}

const MAX_CACHED = 4096;

export class Events {
  readonly #insert: Statement;
  readonly #newest: Statement;
  readonly #oldest: Statement;
  readonly #floor: Statement;
  readonly #at: Statement;
  readonly #delete: Statement;
  readonly #known: KnownSeqs;
  /** Caches what the next append must follow, to save a query per batch. */
  readonly #lastSeq = new Map<string, number>();

  constructor(db: Database, known: KnownSeqs) {
    this.#known = known;
    this.#insert = db.prepare("INSERT INTO batches VALUES (?, ?, ?, ?, ?, ?)");
    this.#newest = db.prepare(
      "SELECT last_seq FROM batches WHERE session_id = ? ORDER BY first_seq DESC LIMIT 1",
    );
    this.#oldest = db.prepare("SELECT min(first_seq) AS first_seq FROM batches WHERE session_id = ?");
    this.#floor = db.prepare(
      "SELECT max(first_seq) AS first_seq FROM batches WHERE session_id = ? AND first_seq <= ?",
    );
    this.#at = db.prepare(
      "SELECT first_seq, last_seq, at_ms, bytes FROM batches WHERE session_id = ? AND first_seq >= ? ORDER BY first_seq LIMIT 1",
    );
    this.#delete = db.prepare("DELETE FROM batches WHERE session_id = ?");
  }

  /** Inserts the batch, or returns why it must not be stored. Throws on database errors. */
  insert(batch: LogBatch, nowMs: number): string | undefined {
    const fault = findBatchFault(batch) ?? findSequenceFault(batch, this.lastSeq(batch.session_id));
    if (fault === undefined) this.add(batch, nowMs);
    return fault;
  }

  /** Inserts a batch that the caller has checked. */
  add({ session_id, first_seq, last_seq, bytes }: LogBatch, nowMs: number): void {
    this.#insert.run(session_id, first_seq, last_seq, last_seq - first_seq + 1, nowMs, bytes);
    if (this.#lastSeq.size >= MAX_CACHED) this.#lastSeq.clear();
    this.#lastSeq.set(session_id, last_seq);
  }

  /** Clears the cache after a rollback or a change of the tables. */
  forget(): void {
    this.#lastSeq.clear();
  }

  /** The seq that the next batch must follow. */
  lastSeq(session_id: string): number {
    const cached = this.#lastSeq.get(session_id);
    if (cached !== undefined) return cached;
    const { getMark, rowSeq } = this.#known;
    return Math.max(this.newestSeq(session_id) ?? rowSeq(session_id), getMark(session_id));
  }

  newestSeq(session_id: string): number | undefined {
    return (this.#newest.get(session_id) as { last_seq: number } | undefined)?.last_seq;
  }

  earliestSeq(session_id: string): number | undefined {
    return (this.#oldest.get(session_id) as { first_seq: number | null }).first_seq ?? undefined;
  }

  read(session_id: string, after_seq: number, max_bytes: number): LogBatch | undefined {
    const first = this.#findAfter(session_id, after_seq);
    if (first === undefined) return undefined;
    const parts: Uint8Array[] = [];
    const stamps: { first_seq: number; at_ms: number }[] = [];
    let size = 0;
    let last_seq = first.first_seq - 1;
    for (let next: TimedBatch | undefined = first; next !== undefined; ) {
      // Stops at a gap, so that frames after it are not returned as if they followed.
      if (next.first_seq !== last_seq + 1) break;
      const length = measureWholeLines(next.bytes, max_bytes - size);
      if (parts.length > 0 && size + length > max_bytes) break;
      const whole = length === next.bytes.length;
      const part = next.bytes.subarray(0, length);
      parts.push(part);
      stamps.push({ first_seq: next.first_seq, at_ms: next.at_ms });
      size += length;
      last_seq = whole ? next.last_seq : last_seq + countLines(part);
      if (!whole || size >= max_bytes) break;
      next = this.#batchFrom(session_id, last_seq + 1);
    }
    return { session_id, first_seq: first.first_seq, last_seq, bytes: join(parts, size), stamps };
  }

  delete(session_id: string): void {
    this.#delete.run(session_id);
    this.#lastSeq.delete(session_id);
  }

  /** The first stored batch with frames after `after_seq`, without the frames up to it. */
  #findAfter(session_id: string, after_seq: number): TimedBatch | undefined {
    const floor = this.#floor.get(session_id, after_seq + 1) as { first_seq: number | null };
    let batch = this.#batchFrom(session_id, floor.first_seq ?? 0);
    if (batch !== undefined && batch.last_seq <= after_seq) {
      batch = this.#batchFrom(session_id, after_seq + 1);
    }
    if (batch === undefined || batch.first_seq > after_seq) return batch;
    const skip = after_seq + 1 - batch.first_seq;
    return {
      ...batch,
      first_seq: after_seq + 1,
      bytes: batch.bytes.subarray(findLine(batch.bytes, skip)),
    };
  }

  #batchFrom(session_id: string, first_seq: number): TimedBatch | undefined {
    return this.#at.get(session_id, first_seq) as TimedBatch | undefined;
  }
}

/** Always a copy: the buffer is transferred to another thread. */
function join(parts: Uint8Array[], size: number): Uint8Array {
  const bytes = new Uint8Array(size);
  let offset = 0;
  for (const part of parts) {
    bytes.set(part, offset);
    offset += part.length;
  }
  return bytes;
}
