// Orders and replies of the search index, and what it follows.
import type { SearchRole } from "../../protocol/search.ts";
import type { QueryTerm } from "./query.ts";

/** Frames of one session, gapless, as NDJSON, with the times they were stored. */
export interface HistoryPart {
  first_seq: number;
  last_seq: number;
  bytes: Uint8Array;
  stamps?: { first_seq: number; at_ms: number }[];
}

/** The history that the index follows. */
export interface History {
  read(session_id: string, after_seq: number, max_bytes: number): Promise<HistoryPart | undefined>;
  earliest(session_id: string): Promise<number | undefined>;
  /** Newest first. */
  rows(filter: { limit: number; after?: HistoryRow }): Promise<HistoryRow[]>;
}

/** What searches are filtered by. */
export interface SessionFacts {
  backend?: string | undefined;
  project?: string | undefined;
  worktree?: { repository: string } | undefined;
  cwd?: string | undefined;
}

export interface HistoryRow extends SessionFacts {
  session_id: string;
  last_seq: number;
  last_active_at_ms: number;
  started_at_ms: number;
}

export interface IndexOrder extends HistoryPart {
  session_id: string;
  agent?: string;
  project?: string;
}

/** How far a session is indexed. */
export interface IndexedUpTo {
  session_id: string;
  indexed_seq: number;
  first_seq: number;
}

/** Texts of a transcript, which is no session of ours. */
export interface TranscriptOrder {
  /** Not the id of a session. */
  key: string;
  agent: string;
  project?: string;
  texts: readonly TranscriptText[];
  indexed_seq: number;
  /** The version of the file, once all of it is indexed. */
  mark?: string;
}

export interface TranscriptText {
  seq: number;
  at_ms: number;
  /** Where in the file its record is, in bytes. */
  at: number;
  role: SearchRole;
  text: string;
}

/** Transcripts in the index. Calls reject if the thread fails. */
export interface TranscriptIndex {
  positions(): Promise<TranscriptPosition[]>;
  /** Adds what follows the last call for this transcript. */
  index(order: TranscriptOrder): Promise<undefined>;
  remove(key: string): Promise<void>;
}

/** How far a transcript is indexed. */
export interface TranscriptPosition {
  key: string;
  indexed_seq: number;
  mark?: string;
}

/** Where a search continues: for each role, before this id. */
export interface SearchPlace {
  /** The hour that ages are counted from, so that the order stays the same. */
  now: number;
  before: Record<SearchRole, number>;
}

export interface FindOrder {
  terms: readonly QueryTerm[];
  roles: readonly SearchRole[];
  /** Only of these sessions. */
  session_ids?: readonly string[];
  agent?: string;
  /** A project's directory, or its name. */
  project?: string;
  from_ms?: number;
  /** Exclusive. */
  to_ms?: number;
  place: SearchPlace;
  limit: number;
}

export interface Candidate {
  id: number;
  role: SearchRole;
  /** For a text of a transcript: its key. */
  session_id: string;
  seq: number;
  /** In the file of a transcript. */
  at?: number;
}
