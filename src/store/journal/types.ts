// What the writer of the journal (the daemon's thread) and its reader (the store thread) say to each other.
import type { Recovery } from "../types.ts";
import type { Content } from "../units.ts";

/** One append, as it stands in the journal. */
export interface JournalRecord extends Content {
  at_ms: number;
}

/** Everything in front of byte `offset` of file `n`, and all files before it. */
export interface JournalPlace {
  n: number;
  offset: number;
}

/** Where the good records end. */
export interface JournalEnd extends JournalPlace {
  /** Nothing more will be written to file `n`: it goes once it is stored. */
  isDone: boolean;
}

/** Where records go from the journal. */
export interface FoldTarget {
  /** What is stored already; files are numbered from 1. */
  place(): JournalPlace;
  /**
   * Stores the records and `place` in one transaction, or throws and stores nothing. `sync`: on the disk, with all
   * that was stored before. A record that can never be stored is told, and does not block the others.
   */
  fold(records: JournalRecord[], place: JournalPlace, sync: boolean): Recovery[];
}
