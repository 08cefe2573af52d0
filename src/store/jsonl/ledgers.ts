// `<id>.requests.json`: the session's rows of the ledger that are open, and a few that were settled last; the others
// are in settled.ts. It is written before the frames that belong to the rows, and what it says anew counts only once
// the log has those frames: so both are stored, or neither, whatever dies between.
import { messageOf } from "../../base/coded-error.ts";
import type { RequestRow } from "../../protocol/requests.ts";
import { syncDirectory, unlinkIfThere } from "../disk/whole.ts";
import { isMeant, isOpen, type Place, pageOf, upsert } from "../ledger.ts";
import type { RequestFilter } from "../types.ts";
import { type JsonFileOptions, readJsonFile, writeJsonFile } from "./json-file.ts";
import { hidesAnswer, type LedgerFile, parseLedger, replacesAnswer } from "./ledger-file.ts";
import { ledgerOwner, ledgerPath, settledOwner } from "./paths.ts";
import { mergeRows, rowsOfLog } from "./rebuild.ts";
import { SettledFiles } from "./settled.ts";

export interface LedgerOptions extends JsonFileOptions {
  /** Where the log of a session ends. */
  lastSeq(session_id: string): number;
  flushLog(session_id: string): void;
  /** The whole log of a session, in pieces of whole lines. */
  readLog(session_id: string): Iterable<Uint8Array>;
}

/** A row that a list may show, and where it is. */
interface Candidate extends Place {
  read(): RequestRow;
}

const MAX_CLEAN = 4096;
/** More settled rows than these move on, all at once: a write to another file for each would cost more. */
const MAX_SETTLED = 8;

export class Ledgers {
  readonly #options: LedgerOptions;
  readonly #settled: SettledFiles;
  /** Sessions whose file has no `next` that other frames than its own could make count, and no answer to forget. */
  readonly #clean = new Set<string>();
  /** The true rows of sessions whose file holds others, because the disk did not even take these back. */
  readonly #unwritten = new Map<string, RequestRow[]>();
  /** Sessions whose last save took the place of an answer, which may be a secret. */
  readonly #answered = new Set<string>();
  readonly #reported = new Set<string>();

  constructor(options: LedgerOptions) {
    this.#options = options;
    this.#settled = new SettledFiles(options);
  }

  find(filter: RequestFilter): RequestRow[] {
    const { session_id, open } = filter;
    const found: Candidate[] = [];
    if (session_id !== undefined) found.push(...this.#candidates(session_id, filter));
    else
      this.#forEach(this.#owners(open === true), (owner) => found.push(...this.#candidates(owner, filter)));
    return pageOf(found, filter).map((candidate) => candidate.read());
  }

  load(session_id: string, request_id: string): RequestRow | undefined {
    const row = this.#rows(session_id).find((candidate) => candidate.request_id === request_id);
    return row ?? this.#settled.load(session_id, request_id);
  }

  /** Before frames go into a log: drops rows whose own frames never came, those refused, and answers replaced. */
  mend(session_id: string): void {
    if (this.#clean.has(session_id)) return;
    const file = this.#read(session_id);
    const isStray = file.next !== undefined && !this.#counts(session_id, file);
    if (isStray || hidesAnswer(file) || this.#unwritten.has(session_id)) {
      this.#flushNext(session_id, file);
      this.#write(session_id, this.#current(session_id, file));
    }
    this.#markClean(session_id);
  }

  /** With `last_seq` they count once the log is there; until it is known whether it came, `keep` must not be called. */
  save(session_id: string, changed: RequestRow[], last_seq?: number): void {
    const file = this.#read(session_id);
    const rows = this.#current(session_id, file);
    this.#clean.delete(session_id);
    this.#flushNext(session_id, file);
    const left = this.#moveSettled(session_id, rows);
    try {
      if (last_seq === undefined) this.#write(session_id, upsert(left, changed));
      else this.#write(session_id, left, { last_seq, rows: changed });
    } catch (error) {
      this.#restore(session_id, rows);
      throw error;
    }
    if (last_seq !== undefined && replacesAnswer(left, changed)) this.#answered.add(session_id);
  }

  /** What was saved is stored with its frames. */
  keep(session_id: string): void {
    if (!this.#answered.delete(session_id)) {
      this.#markClean(session_id);
      return;
    }
    try {
      this.mend(session_id);
    } catch {
      // It is stored all the same; this is tried again before the next frames come.
    }
  }

  /** Settled rows that are older go. */
  prune(beforeMs: number): void {
    this.#forEach(this.#owners(false), (session_id) => {
      this.#settled.prune(session_id, beforeMs);
      const file = this.#read(session_id);
      const rows = this.#current(session_id, file);
      const kept = rows.filter((row) => row.requested_at_ms >= beforeMs || isOpen(row));
      if (kept.length === rows.length) return;
      this.#flushNext(session_id, file);
      this.#write(session_id, kept);
    });
  }

  /** The session's files are gone. */
  forget(session_id: string): void {
    this.#clean.delete(session_id);
    this.#unwritten.delete(session_id);
    this.#answered.delete(session_id);
    this.#reported.delete(session_id);
    this.#settled.forget(session_id);
  }

  #owners(isOpenOnly: boolean): Set<string> {
    const { fs, dir } = this.#options;
    const names = fs.readdirSync(dir);
    const owners = names.map((name) => ledgerOwner(name) ?? (isOpenOnly ? undefined : settledOwner(name)));
    return new Set(owners.filter((session_id) => session_id !== undefined));
  }

  /** One session that cannot be read does not hide the others. It is reported once. */
  #forEach(owners: Iterable<string>, work: (session_id: string) => void): void {
    for (const session_id of owners) {
      try {
        work(session_id);
      } catch (error) {
        if (this.#reported.has(session_id)) continue;
        if (this.#reported.size >= MAX_CLEAN) this.#reported.clear();
        this.#reported.add(session_id);
        const message = `its requests are left out: ${messageOf(error)}`;
        this.#options.onRecovery({ session_id, kept_seq: 0, cut_bytes: 0, message });
      }
    }
  }

  #candidates(session_id: string, filter: RequestFilter): Candidate[] {
    const rows = this.#rows(session_id);
    const here = rows
      .filter((row) => isMeant(row, filter))
      .map((row) => ({ ...placeOf(row), read: () => row }));
    if (filter.open === true) return here;
    const ids = new Set(rows.map(({ request_id }) => request_id));
    const entries = this.#settled.entries(session_id).filter(({ request_id }) => !ids.has(request_id));
    const settled = entries.map((entry) => ({
      ...placeOf(entry),
      read: () => this.#settled.read(session_id, entry),
    }));
    return [...here, ...settled];
  }

  #rows(session_id: string): RequestRow[] {
    return this.#current(session_id, this.#read(session_id));
  }

  #current(session_id: string, file: LedgerFile): RequestRow[] {
    const { rows, next } = file;
    return next !== undefined && this.#counts(session_id, file) ? upsert(rows, next.rows) : rows;
  }

  #counts(session_id: string, { next }: LedgerFile): boolean {
    return next !== undefined && this.#options.lastSeq(session_id) >= next.last_seq;
  }

  /** Rows that count because of frames that a power cut can still take would outlive them. */
  #flushNext(session_id: string, file: LedgerFile): void {
    if (this.#counts(session_id, file)) this.#options.flushLog(session_id);
  }

  /** The rows that stay here. */
  #moveSettled(session_id: string, rows: RequestRow[]): RequestRow[] {
    const settled = rows.filter((row) => !isOpen(row));
    if (settled.length <= MAX_SETTLED) return rows;
    this.#settled.add(session_id, settled);
    return rows.filter(isOpen);
  }

  #read(session_id: string): LedgerFile {
    const unwritten = this.#unwritten.get(session_id);
    if (unwritten !== undefined) return { rows: unwritten };
    let good: LedgerFile = { rows: [] };
    const found = readJsonFile(this.#options, {
      path: ledgerPath(this.#options.dir, session_id),
      session_id,
      parse(value) {
        const { file, isWhole } = parseLedger(value, session_id);
        good = file;
        return isWhole ? file : undefined;
      },
      rebuild: () => this.#rebuild(session_id, good),
    });
    return found ?? { rows: [] };
  }

  /** Otherwise a request could stay pending in the history for ever, with no row that says how it ended. */
  #rebuild(session_id: string, good: LedgerFile): LedgerFile {
    const told = rowsOfLog(this.#options.readLog(session_id), session_id);
    const isKnown = (request_id: string) => this.#settled.has(session_id, request_id);
    const rows = mergeRows(this.#current(session_id, good), told, isKnown);
    try {
      this.#options.flushLog(session_id);
      this.#write(session_id, rows);
    } catch {
      // Tried again before the next frames come.
      this.#unwritten.set(session_id, rows);
      this.#clean.delete(session_id);
    }
    return { rows };
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

  #markClean(session_id: string): void {
    if (this.#clean.size >= MAX_CLEAN) this.#clean.clear();
    this.#clean.add(session_id);
  }
}

function placeOf({ requested_at_ms, request_id }: Place): Place {
  return { requested_at_ms, request_id };
}
