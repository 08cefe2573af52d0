// The SQLite driver's own cases: one daemon per file, damaged files, and statements that fail.
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type Database, openDatabase } from "../../../src/base/sqlite/database.ts";
import type { RequestRow } from "../../../src/protocol/requests.ts";
import { answer } from "../../../src/store/answer.ts";
import { openDriver as openWhole } from "../../../src/store/driver.ts";
import {
  openInProcessStore,
  type Recovery,
  type RequestFilter,
  type RowFilter,
  type Store,
} from "../../../src/store/index.ts";
import { Journal } from "../../../src/store/journal/journal.ts";
import { SqliteDriver } from "../../../src/store/sqlite/driver.ts";
import { migrate } from "../../../src/store/sqlite/migrations.ts";
import { toQuery } from "../../../src/store/sqlite/requests.ts";
import { NEWEST_FIRST, toRowQuery } from "../../../src/store/sqlite/session-query.ts";
import {
  append,
  batch,
  frames,
  MARKED,
  mark,
  marked,
  NO_LIMITS,
  readAll,
  request,
  row,
  tempDir,
  text,
} from "../material.ts";

async function openStore(path: string, found: Recovery[] = []): Promise<Store> {
  const store = await openInProcessStore({ path }, { onRecovery: (one) => found.push(one) });
  onTestFinished(() => store.close());
  return store;
}

async function openDriver(): Promise<{ db: Database; driver: SqliteDriver }> {
  const path = join(tempDir(), "log.db");
  const db = await openDatabase({ path, prepare: migrate, now: Date.now, onRecovery: () => undefined });
  const driver = new SqliteDriver(db, Date.now);
  onTestFinished(() => driver.close());
  return { db, driver };
}

test("the database and its directory are private to the user, the WAL too", async () => {
  const dir = join(tempDir(), "state", "blemees");
  const store = await openStore(join(dir, "log.db"));
  await append(store, batch("s", 1));
  expect(statSync(dir).mode & 0o777).toBe(0o700);
  expect(readdirSync(dir).sort()).toEqual(["log.db", "log.db-wal"]);
  for (const name of readdirSync(dir)) expect(statSync(join(dir, name)).mode & 0o777).toBe(0o600);
});

test("a second opener is refused with the file and what to do, and succeeds when the first is gone", async () => {
  const path = join(tempDir(), "log.db");
  const first = await openStore(path);
  await append(first, batch("s", 1));
  const refused = expect(openInProcessStore({ path })).rejects;
  await refused.toMatchObject({ code: "internal", message: expect.stringContaining(`${path} is in use`) });
  await append(first, batch("s", 2));
  await first.close();
  expect(await readAll(await openStore(path), "s")).toBe(frames("s", 1, 2));
});

test.each([
  ["no database at all", (whole: Buffer) => Buffer.from("x".repeat(whole.length))],
  ["a broken schema page", (whole: Buffer) => Buffer.from(whole).fill(0xff, 100, 4_000)],
  ["broken pages after the first", (whole: Buffer) => Buffer.from(whole).fill(0xff, 4_096)],
])("a file that is %s is moved aside and reported, and a new one is made", async (_name, spoil) => {
  const dir = tempDir();
  const path = join(dir, "log.db");
  const before = await openInProcessStore({ path });
  await before.append({ batches: [batch("s", 1, 50)], rows: [row("s")], sync: true });
  await before.close();
  const spoilt = spoil(readFileSync(path));
  writeFileSync(path, spoilt);
  const found: Recovery[] = [];
  const store = await openStore(path, found);
  expect(found).toEqual([
    { kept_seq: 0, cut_bytes: spoilt.length, aside: expect.stringMatching(/log\.db\.corrupt-\d{8}T\d{9}Z$/) },
  ]);
  // SQLite counts its opens in the first 100 bytes.
  expect(readFileSync(found[0]?.aside ?? "").subarray(100)).toEqual(spoilt.subarray(100));
  await append(store, batch("s", 1));
});

test("the control: a good file is opened unchanged and nothing is reported", async () => {
  const path = join(tempDir(), "log.db");
  const before = await openInProcessStore({ path });
  await append(before, batch("s", 1, 50));
  await before.close();
  const found: Recovery[] = [];
  expect(await readAll(await openStore(path, found), "s")).toBe(frames("s", 1, 50));
  expect(found).toEqual([]);
});

test("one batch that the database refuses does not fail the others", async () => {
  const { db, driver } = await openDriver();
  db.exec(`CREATE TEMP TRIGGER bad BEFORE INSERT ON batches WHEN NEW.session_id = 'bad'
           BEGIN SELECT RAISE(ABORT, 'bad batch'); END`);
  const batches = [batch("a", 1, 2), batch("bad", 1), batch("a", 3)];
  const rows = [row("a", { turns: 4 }), row("bad")];
  const outcome = driver.append({ batches, rows, sync: true });
  expect(outcome).toEqual([undefined, "bad batch", undefined, undefined, "bad batch"]);
  expect(text(driver.read("a", 0, 10_000))).toBe(frames("a", 1, 3));
  expect(driver.loadRow("a")).toMatchObject({ turns: 4, last_seq: 3 });
  expect(driver.loadRow("bad")).toBeUndefined();
  db.exec("DROP TRIGGER bad");
  expect(driver.append({ batches: [batch("bad", 1)], rows: [], sync: false })).toEqual([undefined]);
});

test("a batch whose row fails is not stored, and its seq can be used again", async () => {
  const { db, driver } = await openDriver();
  db.exec(`CREATE TEMP TRIGGER bad BEFORE INSERT ON sessions BEGIN SELECT RAISE(ABORT, 'bad row'); END`);
  expect(driver.append({ batches: [batch("s", 1)], rows: [row("s")], sync: false })).toEqual([
    "bad row",
    "bad row",
  ]);
  expect(driver.read("s", 0, 1_000)).toBeUndefined();
  db.exec("DROP TRIGGER bad");
  expect(driver.append({ batches: [batch("s", 1)], rows: [row("s")], sync: false })).toEqual([
    undefined,
    undefined,
  ]);
});

test("a full disk and a read-only one return outcomes, and nothing of a batch stays", async () => {
  const { db, driver } = await openDriver();
  expect(driver.append({ batches: [batch("s", 1)], rows: [], sync: true })).toEqual([undefined]);
  const pages = db.prepare("PRAGMA page_count").get() as { page_count: number };
  db.exec(`PRAGMA max_page_count=${pages.page_count}`);
  const large = batch("s", 2, 500);
  expect(driver.append({ batches: [large], rows: [], sync: true })).toEqual([expect.stringMatching(/full/)]);
  db.exec("PRAGMA max_page_count=1000000; PRAGMA query_only=ON");
  expect(driver.append({ batches: [large], rows: [], sync: true })).toEqual([
    expect.stringMatching(/readonly/),
  ]);
  db.exec("PRAGMA query_only=OFF");
  expect(text(driver.read("s", 0, 100_000))).toBe(frames("s", 1, 1));
  expect(driver.append({ batches: [large], rows: [], sync: true })).toEqual([undefined]);
});

test("a closed database returns outcomes too", async () => {
  const { driver } = await openDriver();
  driver.close();
  expect(driver.append({ batches: [batch("s", 1)], rows: [row("s")], sync: true })).toEqual([
    expect.any(String),
    expect.any(String),
  ]);
});

test("a sync append commits with synchronous=FULL and goes back to NORMAL", async () => {
  const { db, driver } = await openDriver();
  const level = () => (db.prepare("PRAGMA synchronous").get() as { synchronous: number }).synchronous;
  const during: number[] = [];
  db.function("note_level", () => during.push(level()));
  db.exec("CREATE TEMP TRIGGER note AFTER INSERT ON batches BEGIN SELECT note_level(); END");
  driver.append({ batches: [batch("s", 1)], rows: [], sync: false });
  driver.append({ batches: [batch("s", 2)], rows: [], sync: true });
  expect([...during, level()]).toEqual([1, 2, 1]);
});

test("a read stops before a hole", async () => {
  const { db, driver } = await openDriver();
  for (const seq of [1, 2, 3, 4]) driver.append({ batches: [batch("s", seq)], rows: [], sync: false });
  db.exec("DELETE FROM batches WHERE first_seq = 3");
  expect(text(driver.read("s", 0, 10_000))).toBe(frames("s", 1, 2));
  expect(driver.read("s", 2, 10_000)).toMatchObject({ first_seq: 4, last_seq: 4 });
});

test("retention by age removes batch by batch and stops at the first young one", async () => {
  let now = 1_000;
  const path = join(tempDir(), "log.db");
  const store = await openInProcessStore({ path }, { now: () => now });
  onTestFinished(() => store.close());
  for (const [at, first] of [
    [1_000, 1],
    [2_000, 4],
    [9_000, 7],
    [500, 10],
  ] as const) {
    now = at;
    await append(store, batch("s", first, first + 2));
  }
  now = 10_000;
  const counts = await store.prune({ ...NO_LIMITS, maxAgeMs: 5_000 });
  expect(counts).toMatchObject({ sessions: 1, events: 6 });
  expect(await readAll(store, "s")).toBe(frames("s", 7, 12));
});

test("the WAL stays bounded while the log grows", async () => {
  const path = join(tempDir(), "log.db");
  const store = await openStore(path);
  for (let seq = 1; seq <= 60_000; seq += 1_000)
    await append(store, batch("s", seq, seq + 999, "x".repeat(200)));
  expect(statSync(path).size).toBeGreaterThan(12_000_000);
  expect(statSync(`${path}-wal`).size).toBeLessThan(8_000_000);
});

test("a batch whose request fails is not stored, nor its row, and another session's is", async () => {
  const { db, driver } = await openDriver();
  db.exec(`CREATE TEMP TRIGGER bad BEFORE INSERT ON pending_requests WHEN NEW.request_id = 'bad'
           BEGIN SELECT RAISE(ABORT, 'bad request'); END`);
  const requests = [request("s", "fine"), request("s", "bad"), request("t", "r1")];
  const order = { batches: [batch("s", 1), batch("t", 1)], rows: [row("s")], requests, sync: true };
  const fault = "bad request";
  expect(driver.append(order)).toEqual([fault, undefined, fault, fault, fault, undefined]);
  expect(driver.read("s", 0, 1_000)).toBeUndefined();
  expect(driver.loadRow("s")).toBeUndefined();
  expect(driver.requests({})).toEqual([request("t", "r1")]);
  db.exec("DROP TRIGGER bad");
  expect(driver.append({ ...order, batches: [batch("s", 1)] })).not.toContain(fault);
});

test("a batch whose run mark fails is not stored, and a batch whose row fails leaves no mark", async () => {
  const { db, driver } = await openDriver();
  driver.append({ batches: [marked(batch("s", 1), "r", 10)], rows: [], sync: true });
  for (const table of ["run_marks", "sessions"]) {
    db.exec(`CREATE TEMP TRIGGER bad BEFORE INSERT ON ${table} BEGIN SELECT RAISE(ABORT, 'bad value'); END`);
    const batches = [marked(batch("s", 2), "r", 20), batch("other", driver.highestSeq("other") + 1)];
    const outcome = driver.append({ batches, rows: [row("s")], sync: false });
    expect(outcome).toEqual(["bad value", undefined, "bad value"]);
    db.exec("DROP TRIGGER bad");
    expect(driver.highestSeq("s")).toBe(1);
    expect(driver.runMarks(MARKED)).toEqual([mark("s", "r", 10)]);
  }
  expect(driver.append({ batches: [batch("s", 2)], rows: [], sync: false })).toEqual([undefined]);
});

test("open requests and those of a session are found by an index", async () => {
  const { db } = await openDriver();
  const plan = (where: string) =>
    JSON.stringify(db.prepare(`EXPLAIN QUERY PLAN SELECT row FROM pending_requests ${where}`).all());
  const order = "ORDER BY requested_at_ms, request_id";
  for (const where of [`WHERE is_open = 1 ${order}`, `WHERE session_id = 's' ${order}`]) {
    expect(plan(where)).toMatch(/USING INDEX/);
    expect(plan(where)).not.toMatch(/TEMP B-TREE/);
  }
});

test("the view of Codex' requests has the fields a session manager expects, and no other backend's rows", async () => {
  const { db, driver } = await openDriver();
  const asked = request("s", "r1", {
    thread_id: "th",
    turn_id: "tu",
    item_id: "it",
    path: ["root", "child"],
    requested_at_ms: 1_700_000_000_123,
    expires_at_ms: 1_700_000_060_001,
    resolved_at_ms: 1_700_000_001_999,
    dispatched_at_ms: 1_700_000_002_000,
    status: "resolved",
    answer: { decision: "decline" },
    resolution_source: "tui",
    error_code: "request_expired",
    error_message: "late",
  });
  const requests = [asked, request("s", "r2"), request("s", "r3", { backend: "claude" })];
  driver.append({ batches: [], rows: [], requests, sync: false });
  const rows = db.prepare("SELECT * FROM codex_pending_requests ORDER BY request_id").all();
  expect(rows.map((found) => ({ ...(found as object) }))).toEqual([
    {
      request_id: "r1",
      session_id: "s",
      thread_id: "th",
      turn_id: "tu",
      item_id: "it",
      request_type: "command",
      requested_at: "2023-11-14T22:13:20.123Z",
      expires_at: "2023-11-14T22:14:20.001Z",
      status: "resolved",
      request_payload_json: JSON.stringify(asked.payload),
      resolved_payload_json: '{"decision":"decline"}',
      resolved_at: "2023-11-14T22:13:21.999Z",
      resolution_source: "tui",
      error_code: "request_expired",
      error_message: "late",
      dispatched_at: "2023-11-14T22:13:22.000Z",
      request_path_json: '["root","child"]',
      shown_hash: "ab12",
    },
    expect.objectContaining({ request_id: "r2", resolved_at: null, resolved_payload_json: null }),
  ]);
});

test.each<RequestFilter>([{}, { open: true }, { session_id: "s" }, { session_id: "s", open: true }])(
  "a page of %j is walked to in an index: nothing is sorted, and no table read through",
  async (filter) => {
    const { db } = await openDriver();
    const { sql, values } = toQuery({
      ...filter,
      after: { requested_at_ms: 1, request_id: "r" },
      limit: 9,
    });
    const plan = db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...values) as { detail: string }[];
    const steps = plan.map(({ detail }) => detail).filter((detail) => !/^(MERGE|LEFT|RIGHT)/.test(detail));
    expect(steps).not.toEqual([]);
    for (const step of steps)
      expect(step).toMatch(/^SEARCH .* USING INDEX .*\(requested_at_ms,request_id\)>/);
  },
);

test.each([
  ["", false],
  [", also after retention ran", true],
])("a secret that a row no longer has is not left in the file%s", async (_name, isPruned) => {
  const path = join(tempDir(), "log.db");
  const store = await openStore(path);
  const answered = request("s", "r", {
    status: "resolved",
    answer: { answers: { q: "hunter2 ".repeat(2_000) } },
  });
  const save = (row: RequestRow) => store.append({ batches: [], rows: [], requests: [row], sync: true });
  expect(await save(answered)).toEqual([undefined]);
  if (isPruned) await store.prune({ ...NO_LIMITS, maxRowsPerSession: 5 });
  await save({ ...answered, answer: { answers: { q: "[secret]" } }, dispatched_at_ms: 1 });
  await store.close();
  expect(readFileSync(path, "latin1")).toContain("[secret]");
  expect(readFileSync(path, "latin1")).not.toContain("hunter2");
});

test.each<[RowFilter, RegExp]>([
  [{ limit: 50 }, /sessions_by_activity/],
  [{ after: row("s"), limit: 50 }, /SEARCH .* sessions_by_activity \(last_active_at_ms<\?\)/],
  [{ cwd: "/w", backend: "claude" }, /sessions_by_activity/],
  [{ unfinished: true }, /sessions_unfinished/],
  [{ ids: ["a", "b"] }, /SEARCH s USING INDEX sqlite_autoindex_sessions_1 \(session_id=\?\)/],
  [{ native_ids: ["a", "b"] }, /SEARCH s USING INDEX sessions_by_native_id/],
  [{ family: "a" }, /SEARCH below USING COVERING INDEX sessions_by_parent \(parent=\?\)/],
  [{ spawn_key: "k" }, /SEARCH s USING INDEX sessions_by_spawn_key/],
  [{ name: "n" }, /SEARCH s USING INDEX sessions_by_name/],
  [{ parent: "p" }, /SEARCH s USING INDEX sessions_by_parent/],
  [{ prefix: "p" }, /SEARCH s USING INDEX sqlite_autoindex_sessions_1 \(session_id>\? AND session_id<\?\)/],
])("rows by %j walk one index, and no query reads the whole table", async (filter, index) => {
  const { db } = await openDriver();
  const { from, values } = toRowQuery(filter);
  const plan = db
    .prepare(`EXPLAIN QUERY PLAN SELECT row FROM ${from} ${NEWEST_FIRST} LIMIT 9`)
    .all(...values);
  const steps = plan.map((step) => (step as { detail: string }).detail);
  expect(steps.join("\n")).toMatch(index);
  expect(steps.filter((step) => /^SCAN s( |$)(?!USING)/.test(step))).toEqual([]);
  // A page in the order of the list is not sorted: that would read all rows first.
  if (index.source.includes("activity")) expect(steps.join("\n")).not.toMatch(/B-TREE/);
});

test("pruning looks at some sessions at a time, and reaches all of them", async () => {
  const { driver } = await openDriver();
  const ids = Array.from({ length: 250 }, (_, n) => `s-${n}`);
  driver.append({ batches: ids.map((id) => batch(id, 1, 3)), rows: [], sync: false });
  const pruned: number[] = [];
  for (let after: string | undefined, isFirst = true; isFirst || after !== undefined; isFirst = false) {
    const { sessions, next } = driver.prune({ ...NO_LIMITS, maxRowsPerSession: 1 }, Date.now(), after);
    pruned.push(sessions);
    after = next;
  }
  expect(pruned.reduce((sum, count) => sum + count, 0)).toBe(250);
  expect(Math.max(...pruned)).toBeLessThanOrEqual(100);
  expect(new Set(ids.map((id) => driver.earliest(id)))).toEqual(new Set([3]));
});

/** A database with a broken page of old sessions, which a start does not read; s-3 is one of them. */
async function makeDamaged(): Promise<string> {
  const path = join(tempDir(), "log.db");
  const before = await openInProcessStore({ path });
  for (let n = 0; n < 400; n += 1) {
    await before.saveRow(row(`s-${n}`, { title: `needle ${n} ${"x".repeat(500)}`, last_active_at_ms: n }));
  }
  await before.close();
  const spoilt = readFileSync(path);
  const page = Math.floor(spoilt.indexOf("needle 3 ") / 4_096);
  expect(page).toBeGreaterThan(0);
  writeFileSync(path, spoilt.fill(0xff, page * 4_096, (page + 1) * 4_096));
  return path;
}

test("a leftover journal that meets such damage is stored in a new database", async () => {
  const path = await makeDamaged();
  const journal = new Journal({ databasePath: path, firstNumber: 1 });
  journal.keep(journal.write({ batches: [], rows: [row("s-3", { turns: 9 })], at_ms: 1 }));
  journal.release();
  const found: Recovery[] = [];
  const store = await openStore(path, found);
  expect(found.at(-1)).toMatchObject({ aside: expect.stringMatching(/log\.db\.corrupt-/) });
  expect(await store.rows({})).toMatchObject([{ session_id: "s-3", turns: 9 }]);
});

test("damage that a start does not see is reported when it is met, and the next start moves the database aside", async () => {
  const path = await makeDamaged();
  const found: Recovery[] = [];
  const options = { now: Date.now, onRecovery: (one: Recovery) => void found.push(one) };
  const open = await openWhole({ path }, options);
  const ask = (args: unknown[]) => answer(open, { id: 1, op: "rows", args });
  expect(ask([{ limit: 20 }]).value).toHaveLength(20);
  expect(found).toEqual([]);
  for (let n = 0; n < 2; n += 1) expect(ask([{}]).fault?.message).toMatch(/malformed/);
  expect(found).toMatchObject([{ message: expect.stringMatching(/the next start .* moves it aside/) }]);
  expect(ask([{ limit: 20 }]).value).toHaveLength(20);
  open.driver.close();
  const next = await openStore(path, found);
  expect(found.slice(1)).toMatchObject([{ aside: expect.stringMatching(/log\.db\.corrupt-/) }]);
  expect(await next.rows({})).toEqual([]);
  await next.close();
  // Checked once.
  await openStore(path, found);
  expect(found).toHaveLength(2);
});
