// A search.db in a temporary directory, and histories to fill it with.
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { closeDatabase, type Database, openDatabase } from "../../../src/base/sqlite/database.ts";
import { SearchDatabase } from "../../../src/observe/search/database.ts";
import { parseQuery } from "../../../src/observe/search/query.ts";
import type { FindOrder, IndexOrder } from "../../../src/observe/search/types.ts";
import { SEARCH_ROLES } from "../../../src/protocol/search.ts";
import { tempDir } from "../material.ts";

export const HOUR_MS = 3_600_000;
/** Some day, at noon. */
export const NOON_MS = Date.UTC(2026, 0, 15, 12);
const NOW = NOON_MS / HOUR_MS;

export const user = (text: string) => ({
  type: "agent.user_echo",
  backend: "fake",
  message: { role: "user", content: text },
});
export const agent = (text: string) => ({
  type: "agent.message",
  backend: "fake",
  role: "assistant",
  content: [{ type: "text", text }],
});
export const output = (text: string) => ({
  type: "agent.tool_result",
  backend: "fake",
  tool_use_id: "t1",
  output: text,
});
export const delivered = (text: string) => ({
  type: "agent.notice",
  backend: "fake",
  category: "input_delivered",
  text,
});
export const delta = (text: string) => ({ type: "agent.delta", backend: "fake", kind: "text", text });

export function toPart(
  session_id: string,
  frames: readonly object[],
  { first_seq = 1, at_ms = NOON_MS } = {},
): IndexOrder {
  const bytes = Buffer.from(
    frames.map((frame, at) => `${JSON.stringify({ session_id, seq: first_seq + at, ...frame })}\n`).join(""),
  );
  const last_seq = first_seq + frames.length - 1;
  return { session_id, first_seq, last_seq, bytes, stamps: [{ first_seq, at_ms }] };
}

export async function openSearch(path = join(tempDir(), "search.db")): Promise<SearchDatabase> {
  const search = await SearchDatabase.open({ path, now: Date.now });
  onTestFinished(() => search.close());
  return search;
}

/** `SESSION SEQ` of what is found, best first. */
export function find(search: SearchDatabase, text: string, over: Partial<FindOrder> = {}): string[] {
  const before = {
    user: Number.MAX_SAFE_INTEGER,
    agent: Number.MAX_SAFE_INTEGER,
    tool: Number.MAX_SAFE_INTEGER,
  };
  const place = { now: NOW, before };
  return search
    .find({ terms: parseQuery(text), roles: SEARCH_ROLES, limit: 50, place, ...over })
    .map(({ session_id, seq }) => `${session_id} ${seq}`);
}

export function tidy(search: SearchDatabase): void {
  while (search.tidy());
}

/** The closed file, as another program sees it. */
export async function look(path: string): Promise<Database> {
  const db = await openDatabase({
    path,
    prepare: () => undefined,
    now: Date.now,
    onRecovery: () => undefined,
  });
  onTestFinished(() => closeDatabase(db));
  return db;
}

/** Every word of every text, and every term: equal for indexes that find the same. */
export async function dump(path: string): Promise<{ words: string[]; terms: string[] }> {
  const db = await look(path);
  db.exec("CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab(main, words, instance)");
  const words = db
    .prepare(
      `SELECT session_id, seq, term FROM temp.vocabulary
       JOIN texts ON texts.id = doc JOIN sessions ON sessions.num = texts.session WHERE term NOT LIKE 's:%' AND term NOT LIKE 'p:%'`,
    )
    .all() as { session_id: string; seq: number; term: string }[];
  const terms = db.prepare("SELECT term FROM terms ORDER BY term").all() as { term: string }[];
  closeDatabase(db);
  return {
    words: words.map(({ session_id, seq, term }) => `${session_id} ${seq} ${term}`).sort(),
    terms: terms.map(({ term }) => term),
  };
}
