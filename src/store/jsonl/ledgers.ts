// `<id>.requests.json`: the session's rows of the ledger. It is written before the frames that belong to them, and
// what it says anew counts only once the log has those frames: so both are stored, or neither, whatever dies between.
import { CodedError } from "../../base/coded-error.ts";
import { isObject } from "../../base/json.ts";
import type { RequestRow } from "../../protocol/requests.ts";
import { syncDirectory, unlinkIfThere } from "../disk/whole.ts";
import { byAge, isMeant, isOpen, upsert } from "../ledger.ts";
import type { RequestFilter } from "../types.ts";
import { type JsonFileOptions, readJsonFile, writeJsonFile } from "./json-file.ts";
import { ledgerOwner, ledgerPath } from "./paths.ts";

interface LedgerFile {
  rows: RequestRow[];
  /** Rows that stand in the place of those above once the log ends with `last_seq` or behind it. */
  next?: { last_seq: number; rows: RequestRow[] };
}

export interface LedgerOptions extends JsonFileOptions {
  /** Where the log of a session ends. */
  lastSeq(session_id: string): number;
  flushLog(session_id: string): void;
}

const MAX_CLEAN = 4096;

export class Ledgers {
  readonly #options: LedgerOptions;
  /** Sessions whose file has no `next` that other frames than its own could make count. */
  readonly #clean = new Set<string>();
  /** The true rows of sessions whose file holds refused ones, because the disk did not even take these back. */
  readonly #unwritten = new Map<string, RequestRow[]>();

  constructor(options: LedgerOptions) {
    this.#options = options;
  }

  find(filter: RequestFilter): RequestRow[] {
    const ids = filter.session_id === undefined ? this.#owners() : [filter.session_id];
    const rows = ids.flatMap((session_id) => this.#rows(session_id));
    return rows.filter((row) => isMeant(row, filter)).sort(byAge);
  }

  load(session_id: string, request_id: string): RequestRow | undefined {
    return this.#rows(session_id).find((row) => row.request_id === request_id);
  }

  /** Before frames go into a log: drops rows whose own frames never came, and those that were refused. */
  mend(session_id: string): void {
    if (this.#clean.has(session_id)) return;
    const file = this.#read(session_id);
    const isStray = file?.next !== undefined && !this.#counts(session_id, file.next);
    if (isStray || this.#unwritten.has(session_id)) this.#write(session_id, this.#rows(session_id));
    this.keep(session_id);
  }

  /** With `last_seq` they count once the log is there; until it is known whether it came, `keep` must not be called. */
  save(session_id: string, changed: RequestRow[], last_seq?: number): void {
    const rows = this.#rows(session_id);
    this.#clean.delete(session_id);
    this.#flushNext(session_id);
    try {
      if (last_seq === undefined) this.#write(session_id, upsert(rows, changed));
      else this.#write(session_id, rows, { last_seq, rows: changed });
    } catch (error) {
      this.#restore(session_id, rows);
      throw error;
    }
  }

  /** What was saved is stored with its frames. */
  keep(session_id: string): void {
    if (this.#clean.size >= MAX_CLEAN) this.#clean.clear();
    this.#clean.add(session_id);
  }

  /** Settled rows that are older go. */
  prune(beforeMs: number): void {
    for (const session_id of this.#owners()) {
      const rows = this.#rows(session_id);
      const kept = rows.filter((row) => row.requested_at_ms >= beforeMs || isOpen(row));
      if (kept.length === rows.length) continue;
      this.#flushNext(session_id);
      this.#write(session_id, kept);
    }
  }

  /** The session's files are gone. */
  forget(session_id: string): void {
    this.#clean.delete(session_id);
    this.#unwritten.delete(session_id);
  }

  #owners(): string[] {
    const { fs, dir } = this.#options;
    return fs
      .readdirSync(dir)
      .map(ledgerOwner)
      .filter((session_id) => session_id !== undefined);
  }

  #rows(session_id: string): RequestRow[] {
    const unwritten = this.#unwritten.get(session_id);
    if (unwritten !== undefined) return unwritten;
    const { rows = [], next } = this.#read(session_id) ?? {};
    return next !== undefined && this.#counts(session_id, next) ? upsert(rows, next.rows) : rows;
  }

  /** Rows that count because of frames that a power cut can still take would outlive them. */
  #flushNext(session_id: string): void {
    const next = this.#read(session_id)?.next;
    if (next !== undefined && this.#counts(session_id, next)) this.#options.flushLog(session_id);
  }

  #counts(session_id: string, next: { last_seq: number }): boolean {
    return this.#options.lastSeq(session_id) >= next.last_seq;
  }

  #read(session_id: string): LedgerFile | undefined {
    const path = ledgerPath(this.#options.dir, session_id);
    return readJsonFile(this.#options, { path, session_id }, (value) => toFile(value, session_id));
  }

  #write(session_id: string, rows: RequestRow[], next?: LedgerFile["next"]): void {
    const { fs, dir } = this.#options;
    const path = ledgerPath(dir, session_id);
    if (rows.length > 0 || next !== undefined) {
      writeJsonFile(this.#options, path, { rows, ...(next !== undefined && { next }) });
    } else {
      unlinkIfThere(fs, path);
      syncDirectory(fs, dir);
    }
    this.#unwritten.delete(session_id);
  }

  /** The file may have been replaced although its sync failed. */
  #restore(session_id: string, rows: RequestRow[]): void {
    try {
      this.#write(session_id, rows);
    } catch {
      // The first error is told; this is tried again before the next frames come.
      this.#unwritten.set(session_id, rows);
    }
  }
}

function toFile(value: unknown, session_id: string): LedgerFile | undefined {
  if (!isObject(value) || !isRows(value["rows"])) return undefined;
  const { rows, next } = value as { rows: RequestRow[]; next?: unknown };
  checkOwner(rows, session_id);
  if (next === undefined) return { rows };
  if (!isObject(next) || typeof next["last_seq"] !== "number" || !isRows(next["rows"])) return undefined;
  checkOwner(next["rows"], session_id);
  return { rows, next: { last_seq: next["last_seq"], rows: next["rows"] } };
}

/** Only what this file's own rules need; the rest is trusted, as only we write it. */
function isRows(value: unknown): value is RequestRow[] {
  return Array.isArray(value) && value.every(isRow);
}

function isRow(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { request_id, session_id, status, requested_at_ms } = value;
  if (typeof request_id !== "string" || typeof session_id !== "string") return false;
  return typeof status === "string" && typeof requested_at_ms === "number";
}

/** A file system that ignores case gives two ids one file: see `checkOwner` of scan.ts. */
function checkOwner(rows: RequestRow[], session_id: string): void {
  const other = rows.find((row) => row.session_id !== session_id);
  if (other === undefined) return;
  throw new CodedError(
    "internal",
    `the requests of ${session_id} are those of ${other.session_id}; use ids that differ by more than case`,
  );
}
