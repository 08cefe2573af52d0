// Searches of conversations that were started outside: a fake agent's transcripts, in a real index.
import { appendFileSync, rmSync, statSync } from "node:fs";
import { expect, test, vi } from "vitest";
import { silentLog } from "../../../src/base/log.ts";
import { noObserver, type Observer, type TranscriptIndex } from "../../../src/observe/index.ts";
import type { SearchDatabase } from "../../../src/observe/search/database.ts";
import type { SearchReply } from "../../../src/protocol/search.ts";
import type { Caller } from "../../../src/sessions/index.ts";
import { type SearchLimits, TranscriptSearch } from "../../../src/sessions/transcripts/search-index.ts";
import { Transcripts } from "../../../src/sessions/transcripts/transcripts.ts";
import { type SearchOrder, searchHistory } from "../../../src/sessions/views/search.ts";
import { openSearch } from "../../observe/search/material.ts";
import { PATIENT } from "../../support/patience.ts";
import { FakeBackend, settle } from "../fakes.ts";
import { spawn, type World, world } from "../system.ts";
import { answered, DONE, FakeTranscripts, said } from "./fake-transcripts.ts";

const AGENT: Caller = { actor: "agent:lead", isAgent: true, isProven: true, wire: "http" };
const PERSON: Caller = { actor: "person", isAgent: false, isProven: true, wire: "http" };

interface Outside extends World {
  files: FakeTranscripts;
  index: { [Name in keyof TranscriptIndex]: ReturnType<typeof vi.fn<TranscriptIndex[Name]>> };
  /** Once the files are as they are now, and everything of them was indexed. */
  search(query: string, over?: Partial<SearchOrder>, limits?: Partial<SearchLimits>): Promise<SearchReply>;
}

async function outside(over: Parameters<typeof world>[0] = {}): Promise<Outside> {
  const database = await openSearch();
  const index = spyOn(database);
  const observer: Observer = {
    ...noObserver,
    findTexts: async (order) => ({ found: database.find(order), unindexed: 0 }),
    transcripts: index,
  };
  const backend = Object.assign(new FakeBackend(), { transcripts: new FakeTranscripts() });
  const on = await world({ ...over, observer, backends: [backend] });
  const search: Outside["search"] = async (query, order = {}, limits = {}) => {
    // As after a restart: nothing is remembered but the index.
    const transcripts = new Transcripts(on.hub.table, [backend]);
    const parts = { index, transcripts, log: silentLog, limits: { listMs: 60_000, ...limits } };
    const searched = new TranscriptSearch(parts);
    await searched.refresh();
    await vi.waitFor(() => expect(searched.unindexed).toBe(0), PATIENT);
    return searchHistory({ observer, store: on.store, outside: searched }, { query, limit: 20, ...order });
  };
  return { ...on, backend, files: backend.transcripts, index, search };
}

function spyOn(database: SearchDatabase): Outside["index"] {
  return {
    positions: vi.fn(async () => database.transcripts()),
    index: vi.fn(async (order) => void database.indexTranscript(order) as undefined),
    remove: vi.fn(async (key) => database.remove({ session_id: key })),
  };
}

const foundBy = ({ hits }: SearchReply) => hits.map(({ session_id, seq }) => `${session_id} ${seq}`);
const keysOf = (on: Outside) => on.index.index.mock.calls.map(([{ key }]) => key);

test("a hit has its text, its place, and the conversation", async () => {
  const on = await outside();
  on.files.put("t1", [said("rotate the tokens"), answered("höre: rotated"), DONE], { preview: "the first" });
  const { hits, unindexed } = await on.search("rotated");
  expect(unindexed).toBeUndefined();
  expect(hits).toEqual([
    {
      ...{ session_id: "t1", seq: 2, role: "agent", at_ms: 1_000, outside: true },
      ...{ name: "the first", agent: "fake", project: "/srv/app", text: "höre: rotated", marks: [[6, 13]] },
    },
  ]);
  expect(foundBy(await on.search("tokens", { agent: "fake", project: "app" }))).toEqual(["t1 1"]);
  expect(foundBy(await on.search("tokens", { agent: "other" }))).toEqual([]);
  expect(foundBy(await on.search("tokens", { project: "other" }))).toEqual([]);
});

test("a hit far into a file with other scripts is found at its place", async () => {
  const on = await outside();
  const long = "検索ü ".repeat(40_000);
  on.files.put("t1", [said(long), answered(long), said("the xylophone"), answered(long)]);
  const { hits } = await on.search("xylophone");
  expect(hits).toMatchObject([{ session_id: "t1", seq: 3, text: "the xylophone", at_ms: 2_000 }]);
});

test("nothing is listed or read before a search; the first one says what is still to be read", async () => {
  const on = await outside();
  for (let at = 0; at < 40; at += 1) on.files.put(`t${at}`, [said(`tokens ${at}`)], {}, 1_000 + at);
  await settle();
  expect([on.files.lists, on.files.described, on.index.positions.mock.calls]).toEqual([0, [], []]);
  const first = await on.manager.search({ query: "tokens", limit: 50 });
  expect(first.unindexed).toBeGreaterThan(0);
  await vi.waitFor(async () => {
    const later = await on.manager.search({ query: "tokens", limit: 50 });
    expect(later).not.toHaveProperty("unindexed");
    expect(later.hits).toHaveLength(40);
  }, PATIENT);
  expect(on.files.lists).toBe(1);
  expect([...new Set(keysOf(on))].slice(0, 2)).toEqual(["fake/t39", "fake/t38"]);
});

test("only what is new or has changed is read again, from where the index ends", async () => {
  const on = await outside();
  on.files.put("t1", [said("tokens one")]);
  on.files.put("t2", [said("tokens two")]);
  await on.search("tokens");
  on.index.index.mockClear();
  await on.search("tokens");
  expect(keysOf(on)).toEqual([]);
  on.files.put("t2", [said("tokens two"), answered("tokens three")], {}, 2_000);
  expect(foundBy(await on.search("tokens")).toSorted()).toEqual(["t1 1", "t2 1", "t2 2"]);
  expect(new Set(keysOf(on))).toEqual(new Set(["fake/t2"]));
});

test("a file that was replaced is indexed from its start", async () => {
  const on = await outside();
  on.files.put("t1", [said("xylophone"), answered("a much longer text that makes the file large")]);
  await on.search("xylophone");
  on.files.put("t1", [said("quartz")], {}, 2_000);
  expect(foundBy(await on.search("xylophone"))).toEqual([]);
  expect(foundBy(await on.search("quartz"))).toEqual(["t1 1"]);
});

test("deleted files and conversations that became sessions leave the index", async () => {
  const on = await outside();
  for (const id of ["gone", "ours", "kept"]) on.files.put(id, [said("xylophone")]);
  expect((await on.search("xylophone")).hits).toHaveLength(3);
  rmSync(on.files.files[0]?.path ?? "");
  on.files.files.shift();
  await on.manager.spawn({ backend: "fake", transcript: "ours" });
  await settle();
  expect(foundBy(await on.search("xylophone"))).toEqual(["kept 1"]);
  expect(on.index.remove.mock.calls.flat().toSorted()).toEqual(["fake/gone", "fake/ours"]);
});

test("a file that is deleted after it was listed has no hits, and fails no search", async () => {
  const on = await outside();
  on.files.put("t1", [said("xylophone")]);
  await on.search("xylophone");
  rmSync(on.files.files[0]?.path ?? "");
  expect(foundBy(await on.search("xylophone"))).toEqual([]);
});

test("what is no conversation of the user is opened once and never found", async () => {
  const on = await outside();
  on.files.put("sub", [said("tokens")], { isOther: true } as object);
  expect((await on.search("tokens")).hits).toEqual([]);
  await on.search("tokens");
  expect(on.files.described).toHaveLength(1);
});

test("of a long file the start is searched, and it is not read again when it grows", async () => {
  const on = await outside();
  on.files.put("t1", [said("xylophone"), said("y".repeat(500)), said("quartz")]);
  const limits = { fileBytes: 300 };
  expect(foundBy(await on.search("xylophone", {}, limits))).toEqual(["t1 1"]);
  expect(foundBy(await on.search("quartz", {}, limits))).toEqual([]);
  on.index.index.mockClear();
  const [file] = on.files.files;
  if (file === undefined) throw new Error("no file");
  appendFileSync(file.path, "\n\n");
  on.files.files.splice(0, 1, { ...file, mtime_ms: 9_000_000, size: statSync(file.path).size });
  await on.search("quartz", {}, limits);
  expect(keysOf(on)).toEqual([]);
});

test("above the limit for all files, the newest count, and older ones leave the index", async () => {
  const on = await outside();
  for (const [at, id] of ["old", "mid"].entries()) on.files.put(id, [said("tokens")], {}, 1_000 + at);
  const [{ size } = { size: 0 }] = on.files.files;
  const limits = { allBytes: 2 * size };
  expect(foundBy(await on.search("tokens", {}, limits)).toSorted()).toEqual(["mid 1", "old 1"]);
  on.files.put("new", [said("tokens")], {}, 2_000);
  expect(foundBy(await on.search("tokens", {}, limits)).toSorted()).toEqual(["mid 1", "new 1"]);
});

test.each(["none", "all"] as const)("agents that see %s of what is not theirs", async (sight) => {
  const on = await outside({ agentsSee: sight === "all" ? "all" : "subtree" });
  on.files.put("t1", [said("tokens")]);
  await spawn(on, "lead");
  await settle();
  const order = { query: "tokens", limit: 5 };
  // Without sight it learns nothing, and starts nothing.
  const first = await on.manager.as(AGENT).search(order);
  expect([first.unindexed, on.files.lists]).toEqual(sight === "all" ? [1, 1] : [undefined, 0]);
  await on.search("tokens");
  const outsideOf = ({ hits }: SearchReply) =>
    hits.filter((hit) => hit.outside).map(({ session_id }) => session_id);
  expect(outsideOf(await on.manager.as(AGENT).search(order))).toEqual(sight === "all" ? ["t1"] : []);
  expect(outsideOf(await on.manager.as(PERSON).search(order))).toEqual(["t1"]);
  expect(outsideOf(await on.manager.as(PERSON).search({ ...order, session_id: "lead" }))).toEqual([]);
});
