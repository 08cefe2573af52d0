// The schema of search.db, as numbered steps. Everything in it is derived from the history: a change of what is indexed
// (words.ts, frame-text.ts) adds a step that empties it, and it is filled again.
import type { Database } from "../../base/sqlite/database.ts";
import { runMigrations } from "../../base/sqlite/migrate.ts";

/**
 * `words` keeps neither the texts (they are in the history) nor where in a text a word is: a third of the size. Besides the
 * words, each text has `s:SESSION`, `r:ROLE` and `p:PROJECT`. `parts` finds words by any three characters of them.
 */
const MIGRATIONS: readonly string[] = [
  `CREATE TABLE sessions (
     num INTEGER PRIMARY KEY,
     session_id TEXT NOT NULL UNIQUE,
     agent TEXT,
     indexed_seq INTEGER NOT NULL,
     first_seq INTEGER NOT NULL
   ) STRICT;
   CREATE TABLE projects (num INTEGER PRIMARY KEY, project TEXT NOT NULL UNIQUE) STRICT;
   CREATE TABLE texts (id INTEGER PRIMARY KEY, session INTEGER NOT NULL, seq INTEGER NOT NULL) STRICT;
   CREATE VIRTUAL TABLE words USING fts5 (
     list, content='', contentless_delete=1, detail=none, tokenize="ascii tokenchars ':'"
   );
   CREATE TABLE terms (id INTEGER PRIMARY KEY, term TEXT NOT NULL UNIQUE) STRICT;
   CREATE VIRTUAL TABLE parts USING fts5 (
     term, content='terms', content_rowid='id', detail=none, columnsize=0, tokenize='trigram case_sensitive 1'
   );
   INSERT INTO parts (parts, rank) VALUES ('secure-delete', 1);
   CREATE TABLE tidying (removed INTEGER NOT NULL, is_due INTEGER NOT NULL, after_term TEXT NOT NULL) STRICT;
   INSERT INTO tidying VALUES (0, 0, '');`,
  // Transcripts: which version of the file is indexed, and where in it a text is.
  `ALTER TABLE sessions ADD COLUMN mark TEXT;
   ALTER TABLE texts ADD COLUMN at INTEGER;`,
];

export function migrateSearch(db: Database): void {
  runMigrations(db, MIGRATIONS);
}
