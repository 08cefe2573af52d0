// Types shared by the journal's writer (main thread) and reader (store thread).
import type { Recovery } from "../types.ts";
import type { Content } from "../units.ts";

/** One append in the journal. */
export interface JournalRecord extends Content {
  at_ms: number;
}

/** Everything before byte `offset` of file `n`, and all files before it. */
export interface JournalPlace {
  n: number;
  offset: number;
}

/** Where the valid records end. */
export interface JournalEnd extends JournalPlace {
  /** Nothing more will be written to file `n`; it is removed once it is stored. */
  isDone: boolean;
}

/** The database that records are moved into. */
export interface FoldTarget {
  /** How far records are stored; files are numbered from 1. */
  place(): JournalPlace;
  /**
   * Stores the records and `place` in one transaction, or throws and stores nothing. `sync` also syncs everything stored
   * before. A record that can never be stored is reported and does not block the others.
   */
  fold(records: JournalRecord[], place: JournalPlace, sync: boolean): Recovery[];
}
