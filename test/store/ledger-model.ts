// Valid states of one session's ledger after a crash: exactly the rows of the appends that succeeded, in the state that
// matches the remaining frames.
import { isDeepStrictEqual } from "node:util";
import type { RequestRow } from "../../src/protocol/requests.ts";
import { request } from "./material.ts";
import type { Random } from "./random.ts";

type Rows = Map<string, RequestRow>;

interface State {
  rows: Rows;
  /** It was stored with the frame of this seq, or, without frames, after a state that was. */
  seq: number;
  isTied: boolean;
  isDurable: boolean;
}

const STATUSES = ["pending", "resolved", "expired", "orphaned", "withdrawn"] as const;

export class LedgerModel {
  readonly #session_id: string;
  #states: State[] = [{ rows: new Map(), seq: 0, isTied: true, isDurable: true }];
  /** Rows that may reappear if the disk could not even undo them. */
  #refused: Rows[] = [];
  #offered = 0;

  constructor(session_id: string) {
    this.#session_id = session_id;
  }

  /** Rows, new or replacing older ones; sometimes more than a driver keeps in its first location. */
  offer(random: Random): RequestRow[] {
    return Array.from({ length: random(4) === 0 ? 4 + random(8) : 1 + random(2) }, () => {
      this.#offered += 1;
      const status = STATUSES[random(STATUSES.length)] ?? "pending";
      const request_id = `${this.#session_id}-${random(20)}`;
      return request(this.#session_id, request_id, { status, generation: `${this.#offered}` });
    });
  }

  /** Acknowledged, with the frames up to `seq` or without any. */
  stored(changed: RequestRow[], { seq, isDurable }: { seq: number | undefined; isDurable: boolean }): void {
    this.#states.push({
      rows: upserted(this.#last.rows, changed),
      seq: seq ?? this.#last.seq,
      isTied: seq !== undefined,
      isDurable,
    });
    this.#refused = [];
  }

  refused(changed: RequestRow[]): void {
    this.#refused.push(upserted(this.#last.rows, changed));
  }

  /** Everything so far is synced. */
  synced(): void {
    this.#last.isDurable = true;
  }

  /** Throws if `found` is not a valid state for frames up to `seq`; otherwise accepts it as the current one. */
  check(found: RequestRow[], seq: number, isKill: boolean): "newest" | "older" | "refused" {
    const rows: Rows = new Map(found.map((row) => [row.request_id, row]));
    const top = this.#states.findLastIndex((state) => state.seq <= seq);
    const floor = this.#states.findLastIndex(
      (state, at) => at <= top && (isKill || state.isTied || state.isDurable),
    );
    const at = this.#states.findLastIndex((state, n) => {
      return n >= floor && n <= top && isDeepStrictEqual(state.rows, rows);
    });
    const isRefused = at === -1 && this.#refused.some((state) => isDeepStrictEqual(state, rows));
    if (at === -1 && !isRefused) {
      throw new Error(`${this.#session_id}: not a ledger that was stored: ${JSON.stringify(found)}`);
    }
    const isNewest = at === this.#states.length - 1;
    this.#takeWord(rows, seq, isKill);
    if (isRefused) return "refused";
    return isNewest ? "newest" : "older";
  }

  /** What a power cut left is on disk; what a kill left, or undid, may still be only in memory. */
  #takeWord(rows: Rows, seq: number, isKill: boolean): void {
    if (!isKill) {
      this.#states = [{ rows, seq, isTied: true, isDurable: true }];
      this.#refused = [];
    } else if (!isDeepStrictEqual(this.#last.rows, rows)) {
      this.#states.push({ rows, seq, isTied: true, isDurable: false });
    }
  }

  get #last(): State {
    const last = this.#states.at(-1);
    if (last === undefined) throw new Error("a ledger has always a state");
    return last;
  }
}

function upserted(rows: Rows, changed: RequestRow[]): Rows {
  const next = new Map(rows);
  for (const row of changed) next.set(row.request_id, row);
  return next;
}
