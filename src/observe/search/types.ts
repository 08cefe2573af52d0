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
  session_id: string;
  seq: number;
}
