// Searches of sessions: what the index finds is checked against the history, and agents find only what they may read.
import { expect, test, vi } from "vitest";
import { noObserver } from "../../src/observe/index.ts";
import type { Candidate, FindOrder } from "../../src/observe/search/types.ts";
import type { Caller } from "../../src/sessions/index.ts";
import { type SearchParts, searchHistory } from "../../src/sessions/views/search.ts";
import { settle } from "./fakes.ts";
import { spawn, world } from "./system.ts";

const LEAD: Caller = { actor: "agent:lead", isAgent: true, isProven: true, wire: "http" };
const PERSON: Caller = { actor: "person", isAgent: false, isProven: true, wire: "http" };

/** Texts of the user: the seq is the place in the list. The newest comes first. */
function partsOf(texts: readonly string[]): SearchParts & { findTexts: ReturnType<typeof vi.fn> } {
  const all = texts.map((_, at): Candidate => ({ id: at + 1, role: "user", session_id: "a", seq: at + 1 }));
  const findTexts = vi.fn(async ({ place, limit }) => ({
    found: all
      .toReversed()
      .filter(({ id }) => id < place.before.user)
      .slice(0, limit),
    unindexed: 2,
  }));
  const read = async (session_id: string, after_seq: number) => {
    const content = texts[after_seq];
    if (content === undefined || content === "gone") return undefined;
    const line = `${JSON.stringify({ type: "agent.user_echo", message: { role: "user", content } })}\n`;
    const seq = after_seq + 1;
    return {
      session_id,
      first_seq: seq,
      last_seq: seq,
      bytes: Buffer.from(line),
      stamps: [{ first_seq: seq, at_ms: 7 }],
    };
  };
  const store = {
    read,
    rows: async () => [{ session_id: "a", name: "alpha", backend: "fake", cwd: "/w/shop" }],
  };
  return { observer: { ...noObserver, findTexts }, store, findTexts } as never;
}

test("a hit has its text, its place and its session", async () => {
  const { hits, unindexed } = await searchHistory(partsOf(["rotate the tokens"]), {
    query: "tokens",
    limit: 5,
  });
  expect(unindexed).toBe(2);
  expect(hits).toEqual([
    {
      ...{
        session_id: "a",
        seq: 1,
        role: "user",
        at_ms: 7,
        name: "alpha",
        agent: "fake",
        project: "/w/shop",
      },
      ...{ text: "rotate the tokens", marks: [[11, 17]] },
    },
  ]);
});

test("texts that are gone, or do not have the phrase, are left out and replaced by others", async () => {
  const parts = partsOf(["the tokens 1", "tokens the", "gone", "the tokens 4", "tokens of the"]);
  const { hits } = await searchHistory(parts, { query: '"the tokens"', limit: 2 });
  expect(hits.map(({ seq }) => seq)).toEqual([4, 1]);
});

test("a message that the agent repeats is one hit", async () => {
  const texts = [
    "rotate the tokens",
    "rotate the tokens",
    ...Array.from({ length: 30 }, () => "x"),
    "rotate the tokens",
  ];
  const { hits } = await searchHistory(partsOf(texts), { query: "tokens", limit: 50 });
  expect(hits.map(({ seq }) => seq)).toEqual([33, 2]);
});

test("pages continue where the last one ended", async () => {
  const parts = partsOf(Array.from({ length: 7 }, (_, at) => `tokens ${at}`));
  const seqs: number[][] = [];
  let after: string | undefined;
  do {
    const page = await searchHistory(parts, { query: "tokens", limit: 3, ...(after && { after }) });
    seqs.push(page.hits.map(({ seq }) => seq));
    after = page.next;
  } while (after !== undefined);
  expect(seqs).toEqual([[7, 6, 5], [4, 3, 2], [1]]);
});

test("the index is asked once for a phrase and twice for words, however many texts do not match; no page skips a text", async () => {
  const texts = Array.from({ length: 60 }, (_, at) => (at % 3 === 0 ? `the tokens ${at}` : "tokens the"));
  const read = async (query: string) => {
    const parts = partsOf(texts);
    const seqs: number[] = [];
    let pages = 0;
    let after: string | undefined;
    do {
      const page = await searchHistory(parts, { query, limit: 5, ...(after && { after }) });
      seqs.push(...page.hits.map(({ seq }) => seq));
      after = page.next;
      pages += 1;
    } while (after !== undefined);
    return { seqs, perPage: parts.findTexts.mock.calls.length / pages };
  };
  const phrase = await read('"the tokens"');
  expect(phrase.seqs).toEqual(Array.from({ length: 20 }, (_, at) => 58 - 3 * at));
  expect(phrase.perPage).toBe(1);
  // A part of a number, say, that the index found by another word.
  const word = await read("tokens 3");
  expect(word.seqs).toEqual([40, 37, 34, 31, 4]);
  expect(word.perPage).toBeLessThanOrEqual(2);
});

test("a page is bounded, also if hardly any text has the phrase", async () => {
  const parts = partsOf([...Array.from({ length: 500 }, () => "tokens the"), "the tokens"]);
  const { hits, next } = await searchHistory(parts, { query: '"the tokens"', limit: 20 });
  expect(hits).toHaveLength(1);
  expect(next).toBeDefined();
  expect(parts.findTexts.mock.calls.reduce((sum, [{ limit }]) => sum + limit, 0)).toBeLessThanOrEqual(120);
});

test.each(["nonsense", "1.2.3", "-1.2.3.4", "1.2.3.4.5"])("the page %s does not exist", async (after) => {
  const search = searchHistory(partsOf(["tokens"]), { query: "tokens", limit: 5, after });
  await expect(search).rejects.toMatchObject({ code: "invalid_message" });
});

test("without a history there is nothing to search, and that is said", async () => {
  const search = searchHistory({ ...partsOf([]), observer: noObserver }, { query: "tokens", limit: 5 });
  await expect(search).rejects.toMatchObject({ code: "search_unavailable" });
});

test("an agent finds only what it may read", async () => {
  const findTexts = vi.fn(async (_: FindOrder) => ({ found: [], unindexed: 0 }));
  const on = await world({ observer: { ...noObserver, findTexts } });
  for (const id of ["lead", "stranger"]) await spawn(on, id);
  await spawn(on, "worker", { parent: "lead" });
  await settle();
  const order = { query: "tokens", limit: 5 };
  const scopes = () => findTexts.mock.calls.map(([one]) => one.session_ids);
  await on.manager.as(LEAD).search(order);
  await on.manager.as(LEAD).search({ ...order, session_id: "worker" });
  const unknown: Caller = { actor: "agent", isAgent: true, isProven: false, wire: "http" };
  await on.manager.as(unknown).search(order);
  await on.manager.as(PERSON).search(order);
  expect(scopes()).toEqual([["lead", "worker"], ["worker"], [], undefined]);
  const refused = on.manager.as(LEAD).search({ ...order, session_id: "stranger" });
  await expect(refused).rejects.toMatchObject({ code: "not_allowed" });
});
