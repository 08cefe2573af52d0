// Reads and writes search.db: which texts of which sessions have which words. Synchronous; runs in the worker thread.
import { rmSync } from "node:fs";
import {
  closeDatabase,
  type Database,
  isBroken,
  openDatabase,
  runInTransaction,
  type Statement,
} from "../../base/sqlite/database.ts";
import { Finder, HOUR_MS, IDS_PER_HOUR } from "./find.ts";
import { type FoundText, isSearched, readFrameText } from "./frame-text.ts";
import { migrateSearch } from "./schema.ts";
import { isInParts, Tidier } from "./tidy.ts";
import type {
  Candidate,
  FindOrder,
  IndexedUpTo,
  IndexOrder,
  TranscriptOrder,
  TranscriptPosition,
} from "./types.ts";
import { isCode, listWords } from "./words.ts";

export interface SearchOptions {
  path: string;
  now(): number;
}

const LF = 0x0a;
/** Most frames are deltas: they are recognized without parsing, by the first of these. */
const TYPE = Buffer.from('"type":"');
const DELTA = Buffer.from('agent.delta"');
/** Words that are known to be in `terms`. */
const MAX_KNOWN = 200_000;
/** The mark of a transcript that is not indexed to its end. */
const UNFINISHED = "";

export class SearchDatabase {
  readonly #options: SearchOptions;
  #db: Database;
  #parts: Parts;

  static async open(options: SearchOptions): Promise<SearchDatabase> {
    return new SearchDatabase(options, await open(options));
  }

  private constructor(options: SearchOptions, db: Database) {
    this.#options = options;
    this.#db = db;
    this.#parts = prepareParts(db);
  }

  /** Adds what follows the last call for this session. What was added before is skipped, so that calls can be repeated. */
  index(order: IndexOrder): IndexedUpTo {
    return runInTransaction(this.#db, () => this.#index(order));
  }

  find(order: FindOrder): Candidate[] {
    return this.#parts.finder.find(order);
  }

  positions(): IndexedUpTo[] {
    return this.#db
      .prepare("SELECT session_id, indexed_seq, first_seq FROM sessions WHERE mark IS NULL")
      .all() as unknown as IndexedUpTo[];
  }

  /** As `index`, for texts of a transcript. */
  indexTranscript(order: TranscriptOrder): void {
    runInTransaction(this.#db, () => this.#indexTranscript(order));
  }

  transcripts(): TranscriptPosition[] {
    const found = this.#db
      .prepare("SELECT session_id AS key, indexed_seq, mark FROM sessions WHERE mark IS NOT NULL")
      .all() as { key: string; indexed_seq: number; mark: string }[];
    return found.map(({ mark, ...position }) => (mark === UNFINISHED ? position : { ...position, mark }));
  }

  /** Removes what the history no longer has. Without a seq: all of the session. */
  remove({ session_id, before_seq }: { session_id: string; before_seq?: number }): void {
    runInTransaction(this.#db, () => this.#remove(session_id, before_seq));
  }

  /** Does a part of the work of removing words from the file for good. Returns whether there is more. */
  tidy(): boolean {
    const isMore = this.#parts.tidier.step();
    if (!isMore) this.#parts.known.clear();
    return isMore;
  }

  close(): void {
    closeDatabase(this.#db);
  }

  /** After an error that suggests damage: starts with an empty file. */
  async repair(error: unknown): Promise<boolean> {
    if (!isBroken(error)) return false;
    closeDatabase(this.#db);
    for (const suffix of ["", "-wal", "-shm"]) rmSync(this.#options.path + suffix, { force: true });
    this.#db = await open(this.#options);
    this.#parts = prepareParts(this.#db);
    return true;
  }

  #index({ session_id, agent, project, first_seq, last_seq, bytes, stamps = [] }: IndexOrder): IndexedUpTo {
    const parts = this.#parts;
    const before = parts.session.get(session_id) as (IndexedUpTo & { num: number }) | undefined;
    const num = before?.num ?? Number(parts.addSession.run(session_id, first_seq).lastInsertRowid);
    const indexed = before?.indexed_seq ?? 0;
    const labels = this.#label(num, project);
    let hour = 0;
    let stamp = 0;
    let seq = first_seq;
    for (let at = 0; at < bytes.length; seq += 1) {
      const end = bytes.indexOf(LF, at);
      const stop = end < 0 ? bytes.length : end;
      while (stamps[stamp] !== undefined && (stamps[stamp]?.first_seq ?? 0) <= seq) {
        hour = Math.floor((stamps[stamp]?.at_ms ?? 0) / HOUR_MS);
        stamp += 1;
      }
      if (seq > indexed && !isDelta(bytes.subarray(at, stop)))
        this.#addFrame(bytes.subarray(at, stop), { num, seq, hour, labels });
      at = stop + 1;
    }
    const indexed_seq = Math.max(indexed, last_seq);
    parts.moveTo.run(indexed_seq, agent ?? null, num);
    return { session_id, indexed_seq, first_seq: before?.first_seq ?? first_seq };
  }

  #addFrame(line: Uint8Array, place: Place): void {
    const frame = parseLine(line);
    if (frame === undefined || !isSearched(frame)) return;
    for (const found of readFrameText(frame)) this.#addText(found, place);
  }

  #indexTranscript({ key, agent, project, texts, indexed_seq, mark = UNFINISHED }: TranscriptOrder): void {
    const parts = this.#parts;
    const before = parts.session.get(key) as (IndexedUpTo & { num: number }) | undefined;
    const num = before?.num ?? Number(parts.addSession.run(key, 1).lastInsertRowid);
    const indexed = before?.indexed_seq ?? 0;
    const labels = this.#label(num, project);
    for (const { seq, at_ms, at, ...found } of texts) {
      if (seq > indexed) this.#addText(found, { num, seq, hour: Math.floor(at_ms / HOUR_MS), labels, at });
    }
    parts.moveTo.run(Math.max(indexed, indexed_seq), agent, num);
    parts.setMark.run(mark, num);
  }

  #label(num: number, project: string | undefined): string {
    return `s:${num}${project === undefined ? "" : ` p:${this.#numberProject(project)}`}`;
  }

  #addText({ role, text }: FoundText, place: Place): void {
    const words = listWords(text);
    const id = this.#nextId(place.hour);
    this.#parts.addWords.run(id, `${place.labels} r:${role} ${[...words].join(" ")}`);
    this.#parts.addText.run(id, place.num, place.seq, place.at ?? null);
    for (const word of words) this.#addTerm(word);
  }

  #numberProject(project: string): number {
    this.#db.prepare("INSERT OR IGNORE INTO projects (project) VALUES (?)").run(project);
    const found = this.#db.prepare("SELECT num FROM projects WHERE project = ?").get(project);
    return (found as { num: number }).num;
  }

  #nextId(hour: number): number {
    const start = hour * IDS_PER_HOUR;
    const { id } = this.#parts.lastId.get(start, start + IDS_PER_HOUR) as { id: number | null };
    if (id === null) return start + 1;
    // A full hour continues in the next one.
    return id + 1 < start + IDS_PER_HOUR ? id + 1 : this.#nextId(hour + 1);
  }

  #addTerm(word: string): void {
    const { known, addTerm, addPart } = this.#parts;
    if (isCode(word) || known.has(word)) return;
    if (known.size >= MAX_KNOWN) known.clear();
    known.add(word);
    const { changes, lastInsertRowid } = addTerm.run(word);
    if (Number(changes) > 0 && isInParts(word)) addPart.run(lastInsertRowid, word);
  }

  #remove(session_id: string, before_seq?: number): void {
    const { session, removeWords, removeText } = this.#parts;
    const found = session.get(session_id) as { num: number } | undefined;
    if (found === undefined) return;
    const ids = this.#db
      .prepare("SELECT id FROM texts WHERE id IN (SELECT rowid FROM words WHERE words MATCH ?) AND seq < ?")
      .all(`"s:${found.num}"`, before_seq ?? Number.MAX_SAFE_INTEGER) as { id: number }[];
    for (const { id } of ids) {
      removeWords.run(id);
      removeText.run(id);
    }
    if (before_seq === undefined) this.#db.prepare("DELETE FROM sessions WHERE num = ?").run(found.num);
    else this.#db.prepare("UPDATE sessions SET first_seq = ? WHERE num = ?").run(before_seq, found.num);
    this.#parts.tidier.note(ids.length, before_seq === undefined);
  }
}

interface Place {
  /** Of its session. */
  num: number;
  seq: number;
  hour: number;
  /** What it is found by besides its words. */
  labels: string;
  /** In the file of a transcript. */
  at?: number;
}

interface Parts {
  finder: Finder;
  tidier: Tidier;
  known: Set<string>;
  session: Statement;
  addSession: Statement;
  moveTo: Statement;
  setMark: Statement;
  lastId: Statement;
  addWords: Statement;
  addText: Statement;
  addTerm: Statement;
  addPart: Statement;
  removeWords: Statement;
  removeText: Statement;
}

function prepareParts(db: Database): Parts {
  return {
    finder: new Finder(db),
    tidier: new Tidier(db),
    known: new Set(),
    session: db.prepare("SELECT num, session_id, indexed_seq, first_seq FROM sessions WHERE session_id = ?"),
    addSession: db.prepare("INSERT INTO sessions (session_id, indexed_seq, first_seq) VALUES (?, 0, ?)"),
    moveTo: db.prepare("UPDATE sessions SET indexed_seq = ?, agent = coalesce(?, agent) WHERE num = ?"),
    setMark: db.prepare("UPDATE sessions SET mark = ? WHERE num = ?"),
    lastId: db.prepare("SELECT max(id) AS id FROM texts WHERE id >= ? AND id < ?"),
    addWords: db.prepare("INSERT INTO words (rowid, list) VALUES (?, ?)"),
    addText: db.prepare("INSERT INTO texts (id, session, seq, at) VALUES (?, ?, ?, ?)"),
    addTerm: db.prepare("INSERT OR IGNORE INTO terms (term) VALUES (?)"),
    addPart: db.prepare("INSERT INTO parts (rowid, term) VALUES (?, ?)"),
    removeWords: db.prepare("DELETE FROM words WHERE rowid = ?"),
    removeText: db.prepare("DELETE FROM texts WHERE id = ?"),
  };
}

/** A broken file is not kept: everything in it can be made again, and it has words of deleted sessions. */
function open({ path, now }: SearchOptions): Promise<Database> {
  return openDatabase({
    path,
    now,
    onRecovery: ({ aside }) => {
      for (const suffix of ["", "-wal", "-shm", "-journal"]) rmSync(aside + suffix, { force: true });
    },
    prepare: migrateSearch,
  });
}

function isDelta(line: Uint8Array): boolean {
  const buffer = Buffer.from(line.buffer, line.byteOffset, line.byteLength);
  const start = buffer.indexOf(TYPE) + TYPE.length;
  return buffer.subarray(start, start + DELTA.length).equals(DELTA);
}

function parseLine(line: Uint8Array): Record<string, unknown> | undefined {
  try {
    const text = Buffer.from(line.buffer, line.byteOffset, line.byteLength).toString("utf8");
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return undefined; // damaged on disk
  }
}
