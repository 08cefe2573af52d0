// Removes the words of deleted texts from search.db for good. FTS5 only marks a deleted text; its words leave the file when
// the index is merged, which takes seconds for a large one: it is done in steps. Then, words that no text has are removed.
import { type Database, runInTransaction, type Statement } from "../../base/sqlite/database.ts";

/** Pages merged in a step: some milliseconds. */
const MERGE_PAGES = 64;
const TERMS_AT_ONCE = 500;
/** Retention removes a little every hour: the rest of the index is not rewritten for that. */
const DUE_SHARE = 0.1;

/** Words of three characters or less have no other parts. */
export function isInParts(term: string): boolean {
  return term.length > 3;
}

interface Tidying {
  removed: number;
  /** 1: merging is due; 2: it has begun; 3: the terms are next. */
  is_due: number;
  after_term: string;
}

export class Tidier {
  readonly #db: Database;
  readonly #get: Statement;
  readonly #set: Statement;
  readonly #merge: Statement;
  readonly #changes: Statement;

  constructor(db: Database) {
    this.#db = db;
    this.#get = db.prepare("SELECT removed, is_due, after_term FROM tidying");
    this.#set = db.prepare("UPDATE tidying SET removed = ?, is_due = ?, after_term = ?");
    this.#merge = db.prepare("INSERT INTO words (words, rank) VALUES ('merge', ?)");
    this.#changes = db.prepare("SELECT total_changes() AS changes");
  }

  /** In the transaction that removed the texts. */
  note(removed: number, isDeletion: boolean): void {
    const before = this.#read();
    const total = before.removed + removed;
    const isDue = isDeletion || total > this.#countTexts() * DUE_SHARE;
    // Also if it is in progress: what was merged has words of these texts.
    this.#set.run(total, isDue ? 1 : before.is_due, isDue ? "" : before.after_term);
  }

  step(): boolean {
    return runInTransaction(this.#db, () => this.#step());
  }

  #step(): boolean {
    const { removed, is_due, after_term } = this.#read();
    if (is_due === 0) return false;
    if (is_due < 3) {
      // A negative number begins to merge everything into one; positive ones continue that.
      const isDone = this.#mergePages(is_due === 1 ? -MERGE_PAGES : MERGE_PAGES);
      this.#set.run(removed, isDone ? 3 : 2, "");
      return true;
    }
    const last = this.#removeUnused(after_term);
    if (last === undefined) this.#removeUnusedProjects();
    this.#set.run(last === undefined ? 0 : removed, last === undefined ? 0 : 3, last ?? "");
    return last !== undefined;
  }

  #mergePages(pages: number): boolean {
    const before = this.#countChanges();
    this.#merge.run(pages);
    return this.#countChanges() - before < 2;
  }

  #countChanges(): number {
    return (this.#changes.get() as { changes: number }).changes;
  }

  /** Looks at some terms after the given one; returns the last of them. */
  #removeUnused(after: string): string | undefined {
    const terms = this.#db
      .prepare(`SELECT id, term FROM terms WHERE term > ? ORDER BY term LIMIT ${TERMS_AT_ONCE}`)
      .all(after) as { id: number; term: string }[];
    const isUsed = this.#db.prepare("SELECT 1 FROM words WHERE words MATCH ? LIMIT 1");
    const removePart = this.#db.prepare("INSERT INTO parts (parts, rowid, term) VALUES ('delete', ?, ?)");
    const remove = this.#db.prepare("DELETE FROM terms WHERE id = ?");
    for (const { id, term } of terms) {
      if (isUsed.get(`"${term}"`) !== undefined) continue;
      if (isInParts(term)) removePart.run(id, term);
      remove.run(id);
    }
    return terms.at(-1)?.term;
  }

  #removeUnusedProjects(): void {
    const isUsed = this.#db.prepare("SELECT 1 FROM words WHERE words MATCH ? LIMIT 1");
    for (const { num } of this.#db.prepare("SELECT num FROM projects").all() as { num: number }[]) {
      if (isUsed.get(`"p:${num}"`) === undefined)
        this.#db.prepare("DELETE FROM projects WHERE num = ?").run(num);
    }
  }

  #countTexts(): number {
    return (this.#db.prepare("SELECT count(*) AS texts FROM texts").get() as { texts: number }).texts;
  }

  #read(): Tidying {
    return this.#get.get() as unknown as Tidying;
  }
}
