// search.db itself: what is found, in which order, and what is left after texts are removed.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { tempDir } from "../material.ts";
import {
  agent,
  delivered,
  delta,
  dump,
  find,
  HOUR_MS,
  look,
  NOON_MS,
  openSearch,
  output,
  tidy,
  toPart,
  user,
} from "./material.ts";

describe("finding", () => {
  test("texts that have all words, newest first", async () => {
    const search = await openSearch();
    search.index(
      toPart("a", [user("rotate the tokens"), user("tokens only"), user("rotate the tokens again")]),
    );
    expect(find(search, "rotate tokens")).toEqual(["a 3", "a 1"]);
    expect(find(search, "rotate missing")).toEqual([]);
  });

  test.each([
    ["the start of a word", "toke"],
    ["the middle of a word", "oken"],
    ["the middle of an identifier", "dpagefr"],
    ["a part of an identifier", "disk"],
    ["another case", "READPAGE"],
    ["accents", "uber"],
    ["Chinese", "全文检"],
    ["one character", "索"],
    ["Japanese", "ください"],
    ["Korean", "색창"],
    ["a path", "src/app.ts"],
    ["the start of a hash", "785e05a6c4"],
    ["a number", "4711"],
  ])("%s finds a text", async (_, text) => {
    const search = await openSearch();
    const said =
      "über tokens: readPageFromDisk in src/app.ts 全文检索 して下さい 検索してください 검색창 785e05a6c4d1e2f3a4b5c6d7e8f90123456789ab 4711";
    search.index(toPart("a", [user("something else"), user(said)]));
    expect(find(search, text)).toEqual(["a 2"]);
  });

  test("what the user wrote comes before what a tool returned, unless that is much newer", async () => {
    const search = await openSearch();
    const days = (count: number) => ({ at_ms: NOON_MS - count * 24 * HOUR_MS });
    search.index(toPart("old", [user("tokens"), agent("tokens")], days(3)));
    search.index(toPart("new", [output("tokens")], { at_ms: NOON_MS - HOUR_MS }));
    search.index(toPart("older", [output("tokens")], days(1)));
    expect(find(search, "tokens")).toEqual(["new 1", "old 1", "old 2", "older 1"]);
  });

  test("the order is by time, whenever a session was indexed", async () => {
    const search = await openSearch();
    search.index(toPart("late", [user("tokens")], { at_ms: NOON_MS }));
    search.index(toPart("early", [user("tokens")], { at_ms: NOON_MS - 40 * HOUR_MS }));
    expect(find(search, "tokens")).toEqual(["late 1", "early 1"]);
  });

  test("only sessions, roles and times that are asked for", async () => {
    const search = await openSearch();
    search.index({
      ...toPart("a", [user("tokens"), output("tokens")]),
      agent: "claude",
      project: "/home/me/shop",
    });
    search.index({
      ...toPart("b", [user("tokens")], { at_ms: NOON_MS - 5 * HOUR_MS }),
      agent: "codex",
      project: "/w_b",
    });
    expect(find(search, "tokens", { session_ids: ["b", "unknown"] })).toEqual(["b 1"]);
    expect(find(search, "tokens", { session_ids: [] })).toEqual([]);
    expect(find(search, "tokens", { roles: ["tool"] })).toEqual(["a 2"]);
    expect(find(search, "tokens", { agent: "codex" })).toEqual(["b 1"]);
    for (const project of ["/home/me/shop", "shop"])
      expect(find(search, "tokens", { project })).toEqual(["a 1", "a 2"]);
    for (const project of ["hop", "/shop", "w%b", "xb"])
      expect(find(search, "tokens", { project })).toEqual([]);
    expect(find(search, "tokens", { to_ms: NOON_MS - HOUR_MS })).toEqual(["b 1"]);
    expect(find(search, "tokens", { from_ms: NOON_MS - HOUR_MS, roles: ["user"] })).toEqual(["a 1"]);
  });

  test("messages as they were delivered, calls of tools, and results of any shape", async () => {
    const search = await openSearch();
    const input = { command: "grep -rn xylophone", more: [{ deep: "quixotic" }] };
    const call = { type: "tool_use", id: "1", name: "Bash", input };
    const image = { type: "image", source: { media_type: "image/png", data: "secretpixels" } };
    search.index(
      toPart("a", [
        delivered("tokens"),
        {
          type: "agent.message",
          backend: "fake",
          role: "assistant",
          content: [{ type: "text", text: "pondering" }, call],
        },
        {
          type: "agent.tool_use",
          backend: "fake",
          tool_use_id: "2",
          name: "Read",
          input: { path: "src/deltaType.ts" },
        },
        {
          type: "agent.tool_result",
          backend: "fake",
          tool_use_id: "2",
          output: [{ type: "text", text: "harpsichord" }, image],
        },
        {
          type: "agent.tool_use",
          backend: "fake",
          tool_use_id: "3",
          name: "Raw",
          input: { type: "agent.delta" },
        },
      ]),
    );
    expect(find(search, "tokens", { roles: ["user"] })).toEqual(["a 1"]);
    expect(find(search, "pondering", { roles: ["agent"] })).toEqual(["a 2"]);
    for (const text of ["xylophone", "quixotic", "bash"])
      expect(find(search, text, { roles: ["tool"] })).toEqual(["a 2"]);
    expect(find(search, "src/deltatype.ts")).toEqual(["a 3"]);
    expect(find(search, "harpsichord")).toEqual(["a 4"]);
    expect(find(search, "raw")).toEqual(["a 5"]);
    for (const text of ["secretpixels", "command", "image"]) expect(find(search, text)).toEqual([]);
  });

  test("among many sessions, too", async () => {
    const search = await openSearch();
    const ids = Array.from({ length: 300 }, (_, at) => `s${at}`);
    for (const id of ids) search.index(toPart(id, [user("tokens")]));
    expect(find(search, "tokens", { session_ids: ids.slice(10, 290), limit: 1_000 })).toHaveLength(280);
  });

  test("deltas, damaged lines and frames without text are skipped", async () => {
    const search = await openSearch();
    const part = toPart("a", [delta("tokens"), user("tokens"), { type: "agent.notice", text: "tokens" }]);
    const bytes = Buffer.concat([part.bytes, Buffer.from("{tokens\n")]);
    expect(search.index({ ...part, bytes, last_seq: 4 })).toEqual({
      session_id: "a",
      indexed_seq: 4,
      first_seq: 1,
    });
    expect(find(search, "tokens")).toEqual(["a 2"]);
  });

  test("a part that was indexed before changes nothing", async () => {
    const search = await openSearch();
    search.index(toPart("a", [user("tokens")]));
    search.index(toPart("a", [user("tokens"), user("more tokens")]));
    expect(find(search, "tokens")).toEqual(["a 2", "a 1"]);
  });

  test("an hour can have more texts than ids", async () => {
    const search = await openSearch();
    const frames = Array.from({ length: 66_000 }, () => user("x"));
    search.index(toPart("a", frames));
    search.index(toPart("a", [user("tokens")], { first_seq: 66_001 }));
    expect(find(search, "tokens")).toEqual(["a 66001"]);
  });
});

describe("removing", () => {
  test("a deleted session leaves no term", async () => {
    const path = join(tempDir(), "search.db");
    const search = await openSearch(path);
    search.index(toPart("kept", [user("common tokens"), output("sharedWord")]));
    search.index(
      toPart("gone", [user("common xylophonesecret readQuixoticPage 机密文件"), output("sharedWord")]),
    );
    search.index({
      ...toPart("gone", [user("common")], { first_seq: 2 }),
      project: "/home/me/harpsichord",
    });
    search.remove({ session_id: "gone" });
    expect(find(search, "xylophonesecret")).toEqual([]);
    expect(find(search, "common")).toEqual(["kept 1"]);
    tidy(search);
    expect(find(search, "sharedword")).toEqual(["kept 2"]);
    search.close();
    const { words, terms } = await dump(path);
    expect([...words, ...terms].filter((word) => /xylo|quixotic|机密|gone/.test(word))).toEqual([]);
    expect(terms).toEqual(["common", "shared", "sharedword", "tokens", "word"]);
    // Nor a trace of it in the file: SQLite overwrites what it frees.
    const bytes = readFileSync(path);
    for (const trace of ["xylophone", "ophonesec", "quixotic", "机密", "harpsichord"])
      expect(bytes.includes(trace)).toBe(false);
    const db = await look(path);
    db.exec("CREATE VIRTUAL TABLE temp.thirds USING fts5vocab(main, parts, row)");
    const thirds = db.prepare("SELECT term FROM temp.thirds").all() as { term: string }[];
    expect(thirds.map(({ term }) => term).filter((term) => ["xyl", "uix"].includes(term))).toEqual([]);
  });

  test("old texts of a session go, the others stay", async () => {
    const search = await openSearch();
    search.index(toPart("a", [user("tokens"), user("tokens"), user("tokens")]));
    search.remove({ session_id: "a", before_seq: 3 });
    expect(find(search, "tokens")).toEqual(["a 3"]);
    expect(search.positions()).toEqual([{ session_id: "a", indexed_seq: 3, first_seq: 3 }]);
    tidy(search);
    expect(find(search, "toke")).toEqual(["a 3"]);
  });

  test("an index that was never tidied up is, by the next daemon", async () => {
    const path = join(tempDir(), "search.db");
    const before = await openSearch(path);
    before.index(toPart("gone", [user("xylophonesecret")]));
    before.remove({ session_id: "gone" });
    before.close();
    const search = await openSearch(path);
    expect(search.tidy()).toBe(true);
    tidy(search);
    search.close();
    expect(await dump(path)).toEqual({ words: [], terms: [] });
  });

  test("words return with a session that has them again", async () => {
    const search = await openSearch();
    search.index(toPart("gone", [user("xylophone")]));
    search.remove({ session_id: "gone" });
    tidy(search);
    search.index(toPart("a", [user("xylophone")]));
    expect(find(search, "lopho")).toEqual(["a 1"]);
  });
});

test("a damaged file is replaced by an empty one, and not kept", async () => {
  const path = join(tempDir(), "search.db");
  writeFileSync(path, "not a database, but xylophonesecret");
  const search = await openSearch(path);
  expect(search.positions()).toEqual([]);
  search.index(toPart("a", [user("tokens")]));
  expect(find(search, "tokens")).toEqual(["a 1"]);
});

test("an index of the version before transcripts is kept, and takes transcripts", async () => {
  const path = join(tempDir(), "search.db");
  const before = await openSearch(path);
  before.index(toPart("a", [user("rotate the tokens")]));
  before.close();
  const old = await look(path);
  old.exec("ALTER TABLE sessions DROP COLUMN mark; ALTER TABLE texts DROP COLUMN at; PRAGMA user_version=1");
  old.close();
  const search = await openSearch(path);
  search.indexTranscript({
    ...{ key: "claude/t", agent: "claude", indexed_seq: 1, mark: "9 1" },
    texts: [{ seq: 1, at: 70, at_ms: NOON_MS + HOUR_MS, role: "user", text: "the tokens" }],
  });
  expect(find(search, "tokens")).toEqual(["claude/t 1", "a 1"]);
  expect(search.positions().map(({ session_id }) => session_id)).toEqual(["a"]);
  expect(search.transcripts()).toEqual([{ key: "claude/t", indexed_seq: 1, mark: "9 1" }]);
});
