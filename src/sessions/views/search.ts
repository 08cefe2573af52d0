// A search over the history of sessions: the index finds texts by their words, the history has the texts.
import { CodedError } from "../../base/coded-error.ts";
import { defined } from "../../base/values.ts";
import {
  type Candidate,
  findProject,
  type Observer,
  parseQuery,
  readFrameText,
  type SearchPlace,
  toPattern,
  toSnippet,
} from "../../observe/index.ts";
import { SEARCH_ROLES, type SearchHit, type SearchReply, type SearchRole } from "../../protocol/search.ts";
import type { Store } from "../../store/types.ts";
import type { TranscriptSearch } from "../transcripts/search-index.ts";

export interface SearchOrder {
  query: string;
  session_id?: string;
  /** Only of these sessions: what the caller may read. */
  session_ids?: ReadonlySet<string>;
  /** A project's directory, or its name. */
  project?: string;
  agent?: string;
  roles?: readonly SearchRole[];
  from_ms?: number;
  /** Exclusive. */
  to_ms?: number;
  limit: number;
  /** `next` of the page before. */
  after?: string;
}

const HOUR_MS = 3_600_000;
/** Texts read for a page: those that have the words, but not as a phrase, are left out. */
const MAX_READ = 100;
const REPEATED_WITHIN = 20;
const AFTER = /^(\d{1,9})((?:\.\d{1,16}){3})$/;

export interface SearchParts {
  observer: Observer;
  store: Store;
  /** Conversations that were started outside. Absent: not searched. */
  outside?: TranscriptSearch | undefined;
}

export async function searchHistory(parts: SearchParts, order: SearchOrder): Promise<SearchReply> {
  const { findTexts } = parts.observer;
  if (findTexts === undefined)
    throw new CodedError(
      "search_unavailable",
      "nothing can be searched: the daemon keeps no history (store = memory)",
    );
  // They are no sessions: nobody finds them who may read only some sessions.
  const isAll = order.session_id === undefined && order.session_ids === undefined;
  const outside = isAll ? parts.outside : undefined;
  await outside?.refresh();
  const terms = parseQuery(order.query);
  const patterns = terms.map(toPattern);
  const { session_id, session_ids, agent, project, from_ms, to_ms, limit } = order;
  const scope = session_id === undefined ? session_ids && [...session_ids] : [session_id];
  const filter = defined({ session_ids: scope, agent, project, from_ms, to_ms });
  const { roles = SEARCH_ROLES } = order;
  const place = order.after === undefined ? startPlace() : parsePlace(order.after);
  const hits: SearchHit[] = [];
  let unindexed = 0;
  let isMore = true;
  // The index knows words, not their order: it may find many texts without the phrase. Asking it again costs more than
  // reading a text.
  const isFound = terms.every(({ words }) => words.length === 1);
  let found: Candidate[] = [];
  for (let read = 0; hits.length < limit && read < MAX_READ; ) {
    if (found.length === 0) {
      if (!isMore) break;
      const wanted = read === 0 && isFound ? Math.min(limit, MAX_READ) : MAX_READ - read;
      const reply = await findTexts({ terms, roles, ...filter, place, limit: wanted });
      ({ found, unindexed } = reply);
      isMore = found.length === wanted;
    }
    const next = found.slice(0, limit - hits.length);
    found = found.slice(next.length);
    read += next.length;
    for (const { role, id } of next) place.before[role] = id;
    const texts = await Promise.all(next.map((one) => readHit(parts, one, patterns)));
    for (const hit of texts) if (hit !== undefined && !isRepeated(hit, hits)) hits.push(hit);
  }
  unindexed += outside?.unindexed ?? 0;
  return {
    hits: await describeSessions(hits, parts.store),
    ...((isMore || found.length > 0) && { next: formatPlace(place) }),
    ...(unindexed > 0 && { unindexed }),
  };
}

/** Undefined if the text does not match, or is gone. */
async function readHit(
  { store, outside }: SearchParts,
  candidate: Candidate,
  patterns: readonly RegExp[],
): Promise<SearchHit | undefined> {
  const { session_id, seq, role, at } = candidate;
  if (at !== undefined) return outside && readOutside(outside, candidate, patterns);
  const batch = await store.read(session_id, seq - 1, 1);
  if (batch === undefined || batch.first_seq !== seq) return undefined;
  const found = readFrameText(parseFirst(batch.bytes)).find((text) => text.role === role);
  const snippet = found && toSnippet(found.text, patterns);
  return snippet && { session_id, seq, role, ...defined({ at_ms: batch.stamps?.[0]?.at_ms }), ...snippet };
}

async function readOutside(
  outside: TranscriptSearch,
  candidate: Candidate,
  patterns: readonly RegExp[],
): Promise<SearchHit | undefined> {
  const found = await outside.read(candidate);
  if (found === undefined) return undefined;
  const { session_id, agent, at_ms, facts, texts } = found;
  const [snippet] = texts.flatMap((text) => toSnippet(text, patterns) ?? []);
  if (snippet === undefined) return undefined;
  const about = defined({ at_ms, name: facts.title, agent, project: facts.project });
  return { session_id, seq: candidate.seq, role: candidate.role, outside: true, ...about, ...snippet };
}

/** A message as it was delivered, and as the agent repeats it. */
function isRepeated(hit: SearchHit, hits: readonly SearchHit[]): boolean {
  return (
    hit.role === "user" &&
    hits.some(
      (one) =>
        one.role === "user" &&
        one.session_id === hit.session_id &&
        one.text === hit.text &&
        Math.abs(one.seq - hit.seq) <= REPEATED_WITHIN,
    )
  );
}

function parseFirst(bytes: Uint8Array): unknown {
  try {
    const end = bytes.indexOf(0x0a);
    return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, end).toString("utf8"));
  } catch {
    return undefined; // damaged on disk
  }
}

async function describeSessions(hits: readonly SearchHit[], store: Store): Promise<SearchHit[]> {
  const ids = [...new Set(hits.flatMap(({ session_id, outside }) => (outside ? [] : [session_id])))];
  const rows = new Map((await store.rows({ ids })).map((row) => [row.session_id, row]));
  return hits.map((hit) => {
    const row = hit.outside ? undefined : rows.get(hit.session_id);
    if (row === undefined) return hit;
    return {
      ...hit,
      ...defined({ name: row.name ?? row.title, agent: row.backend, project: findProject(row) }),
    };
  });
}

function startPlace(): SearchPlace {
  const { MAX_SAFE_INTEGER } = Number;
  const before = { user: MAX_SAFE_INTEGER, agent: MAX_SAFE_INTEGER, tool: MAX_SAFE_INTEGER };
  return { now: Math.floor(Date.now() / HOUR_MS), before };
}

function formatPlace({ now, before }: SearchPlace): string {
  return [now, ...SEARCH_ROLES.map((role) => before[role])].join(".");
}

function parsePlace(after: string): SearchPlace {
  if (!AFTER.test(after)) throw new CodedError("invalid_message", "query: /after: not a `next` of a search");
  const [now = 0, user = 0, agent = 0, tool = 0] = after.split(".").map(Number);
  return { now, before: { user, agent, tool } };
}
