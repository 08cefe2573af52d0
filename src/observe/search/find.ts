// Finds the texts that have all words of a query, best first. Within a role newer texts come first; between roles, age is
// weighed. Texts are found by words only: the caller checks their order (snippet.ts).
import type { Database } from "../../base/sqlite/database.ts";
import type { SearchRole } from "../../protocol/search.ts";
import type { QueryTerm, QueryWord } from "./query.ts";
import type { Candidate, FindOrder } from "./types.ts";
import { isCode } from "./words.ts";

/** An id is the hour of a text, and its number in that hour: ids have the order of time, whenever a text is indexed. */
export const IDS_PER_HOUR = 65_536;
export const HOUR_MS = 3_600_000;

/** A text of a tool competes with what a user wrote 16 times as long ago. */
const HANDICAPS: Record<SearchRole, number> = { user: 0, agent: 1.5, tool: 4 };
/** Longer words that a word of the query is the start or a part of; the shortest. */
const MAX_LONGER = 20;
const MAX_SCANNED = 3_000;
const MIN_PART_CHARS = 3;
/** Above this, the sessions of texts are compared one by one. */
const MAX_SESSION_WORDS = 64;
/** Texts that are compared at once. */
const MANY = 1_000;
const LAST_CHAR = "\u{10ffff}";

interface Found {
  id: number;
  session: number;
  seq: number;
  at: number | null;
}

export class Finder {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  find(order: FindOrder): Candidate[] {
    const sessions = this.#listSessions(order);
    if (sessions?.size === 0) return [];
    const projects = order.project === undefined ? undefined : this.#listProjects(order.project);
    if (projects?.length === 0) return [];
    const inProjects = projects === undefined ? "" : ` AND (${joinAlternatives("p", projects)})`;
    const match = this.#toMatch(order.terms) + inProjects;
    const lanes = order.roles.map((role) => ({
      role,
      found: this.#findOfRole(`${match} AND "r:${role}"`, order, order.place.before[role], sessions),
    }));
    const best = mergeLanes(lanes, order.place.now, order.limit);
    const names = this.#nameSessions(best.map(({ session }) => session));
    return best.flatMap(({ id, role, session, seq, at }) => {
      const session_id = names.get(session);
      return session_id === undefined ? [] : [{ id, role, session_id, seq, ...(at !== null && { at }) }];
    });
  }

  #findOfRole(match: string, order: FindOrder, before: number, sessions: Set<number> | undefined): Found[] {
    const { from_ms = 0, to_ms, limit } = order;
    const from = Math.floor(from_ms / HOUR_MS) * IDS_PER_HOUR;
    const to = to_ms === undefined ? before : Math.min(before, Math.ceil(to_ms / HOUR_MS) * IDS_PER_HOUR);
    const isFew = sessions !== undefined && sessions.size <= MAX_SESSION_WORDS;
    const scope = isFew ? ` AND (${joinAlternatives("s", [...sessions])})` : "";
    const query = this.#db.prepare(
      `SELECT rowid AS id FROM words WHERE words MATCH ? AND rowid >= ? AND rowid < ? ORDER BY rowid DESC LIMIT ?`,
    );
    const text = this.#db.prepare("SELECT id, session, seq, at FROM texts WHERE id = ?");
    const found: Found[] = [];
    const atOnce = sessions === undefined || isFew ? limit : MANY;
    for (let end = to; found.length < limit; ) {
      const ids = query.all(`${match}${scope}`, from, end, atOnce) as { id: number }[];
      for (const { id } of ids) {
        const row = text.get(id) as Found | undefined;
        if (row !== undefined && (sessions === undefined || sessions.has(row.session))) found.push(row);
      }
      const last = ids.at(-1);
      if (last === undefined || ids.length < atOnce) break;
      end = last.id;
    }
    return found.slice(0, limit);
  }

  #toMatch(terms: readonly QueryTerm[]): string {
    const words = new Map<string, QueryWord>();
    for (const word of terms.flatMap((term) => term.words)) words.set(`${word.fit} ${word.word}`, word);
    return [...words.values()].map((word) => `(${this.#toAlternatives(word)})`).join(" AND ");
  }

  /** FTS5 itself finds the starts of codes: each of them has few texts. */
  #toAlternatives(word: QueryWord): string {
    const isStart = word.fit !== "exact" && isCode(word.word) && word.word.length >= MIN_PART_CHARS;
    return this.#expand(word)
      .map((one) => (isStart ? `"${one}" *` : `"${one}"`))
      .join(" OR ");
  }

  /** The word, and longer ones that it fits. */
  #expand({ word, fit }: QueryWord): string[] {
    const longer = new Set([word]);
    if (fit === "exact" || isCode(word)) return [...longer];
    for (const one of this.#listStarting(word)) longer.add(one);
    if (fit === "part" && word.length >= MIN_PART_CHARS) {
      for (const one of this.#listContaining(word)) longer.add(one);
    }
    return [...longer];
  }

  #listStarting(word: string): string[] {
    const found = this.#db
      .prepare(
        `SELECT term FROM (SELECT term FROM terms WHERE term > ? AND term < ? LIMIT ${MAX_SCANNED})
         ORDER BY length(term), term LIMIT ${MAX_LONGER}`,
      )
      .all(word, word + LAST_CHAR) as { term: string }[];
    return found.map(({ term }) => term);
  }

  #listContaining(word: string): string[] {
    const found = this.#db
      .prepare(`SELECT term FROM parts WHERE term GLOB ? LIMIT ${MAX_SCANNED}`)
      .all(`*${word}*`) as { term: string }[];
    return found
      .map(({ term }) => term)
      .toSorted((a, b) => a.length - b.length || (a < b ? -1 : 1))
      .slice(0, MAX_LONGER);
  }

  /** Undefined: all. */
  #listSessions({ session_ids, agent }: FindOrder): Set<number> | undefined {
    if (session_ids === undefined && agent === undefined) return undefined;
    const conditions: [string, string | undefined][] = [
      ["session_id IN (SELECT value FROM json_each(?))", session_ids && JSON.stringify(session_ids)],
      ["agent = ?", agent],
    ];
    const meant = conditions.flatMap(([sql, value]) => (value === undefined ? [] : [{ sql, value }]));
    const found = this.#db
      .prepare(`SELECT num FROM sessions WHERE ${meant.map(({ sql }) => sql).join(" AND ")}`)
      .all(...meant.map(({ value }) => value)) as { num: number }[];
    return new Set(found.map(({ num }) => num));
  }

  /** By directory, or by name: then there may be several. */
  #listProjects(project: string): number[] {
    const found = this.#db
      .prepare("SELECT num, project FROM projects WHERE instr(project, ?) > 0")
      .all(project) as { num: number; project: string }[];
    const isName = !project.includes("/");
    return found
      .filter((one) => one.project === project || (isName && one.project.endsWith(`/${project}`)))
      .map(({ num }) => num);
  }

  #nameSessions(nums: readonly number[]): Map<number, string> {
    const found = this.#db
      .prepare("SELECT num, session_id FROM sessions WHERE num IN (SELECT value FROM json_each(?))")
      .all(JSON.stringify(nums)) as { num: number; session_id: string }[];
    return new Map(found.map(({ num, session_id }) => [num, session_id]));
  }
}

function joinAlternatives(kind: "s" | "p", nums: readonly number[]): string {
  return nums.map((num) => `"${kind}:${num}"`).join(" OR ");
}

interface Lane {
  role: SearchRole;
  /** Newest first. */
  found: Found[];
}

function mergeLanes(lanes: readonly Lane[], now: number, limit: number): (Found & { role: SearchRole })[] {
  return lanes
    .flatMap(({ role, found }) => found.map((one) => ({ ...one, role, rank: rankText(one.id, role, now) })))
    .toSorted((a, b) => a.rank - b.rank || b.id - a.id)
    .slice(0, limit)
    .map(({ rank: _, ...one }) => one);
}

function rankText(id: number, role: SearchRole, now: number): number {
  const hours = Math.max(0, now - Math.floor(id / IDS_PER_HOUR));
  return Math.log2(hours + 2) + HANDICAPS[role];
}
