import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { closeDatabase, type Database, openDatabase } from "../../../src/base/sqlite/database.ts";
import type { RowFilter } from "../../../src/store/index.ts";
import { SqliteDriver } from "../../../src/store/sqlite/driver.ts";
import { MIGRATIONS, migrate } from "../../../src/store/sqlite/migrations.ts";
import { selectRows } from "../../support/row-queries.ts";
import { batch, frames, MARKED, mark, marked, request, row, tempDir, text } from "../material.ts";

const path = () => join(tempDir(), "log.db");

async function open(file: string, prepare: (db: Database) => void): Promise<Database> {
  const db = await openDatabase({ path: file, prepare, now: Date.now, onRecovery: () => undefined });
  onTestFinished(() => closeDatabase(db));
  return db;
}

function version(db: Database): number {
  return (db.prepare("PRAGMA user_version").get() as { user_version: number }).user_version;
}

/** A database as version 1 left it, with a log in it. */
async function versionOne(file: string): Promise<void> {
  const db = await open(file, (found) => migrate(found, MIGRATIONS.slice(0, 1)));
  new SqliteDriver(db, Date.now).append({ batches: [batch("s", 1, 3)], rows: [], sync: true });
  closeDatabase(db);
}

test("a new database gets every step", async () => {
  const db = await open(path(), migrate);
  expect(version(db)).toBe(MIGRATIONS.length);
  migrate(db);
  expect(version(db)).toBe(MIGRATIONS.length);
});

test("an older database gets the steps it lacks and keeps its log", async () => {
  const file = path();
  await versionOne(file);
  const next = "ALTER TABLE sessions ADD COLUMN note TEXT";
  const db = await open(file, (found) => migrate(found, [...MIGRATIONS.slice(0, 1), next]));
  expect(version(db)).toBe(2);
  expect(db.prepare("SELECT count(note) AS n FROM sessions").get()).toEqual({ n: 0 });
  expect(text(new SqliteDriver(db, Date.now).read("s", 0, 1_000))).toBe(frames("s", 1, 3));
});

test("a database from before the ledger gets it, empty, and keeps its log", async () => {
  const file = path();
  await versionOne(file);
  closeDatabase(await open(file, (found) => migrate(found, MIGRATIONS.slice(0, 2))));
  const driver = new SqliteDriver(await open(file, migrate), Date.now);
  expect(driver.requests({})).toEqual([]);
  const order = { batches: [batch("s", 4)], rows: [], requests: [request("s", "r1")], sync: true };
  expect(driver.append(order)).toEqual([undefined, undefined]);
  expect(text(driver.read("s", 0, 1_000))).toBe(frames("s", 1, 4));
  expect(driver.request("s", "r1")).toEqual(request("s", "r1"));
});

test("a database from before run marks gets their table, empty, and keeps its log", async () => {
  const file = path();
  await versionOne(file);
  closeDatabase(await open(file, (found) => migrate(found, MIGRATIONS.slice(0, 4))));
  const driver = new SqliteDriver(await open(file, migrate), Date.now);
  expect(driver.runMarks(MARKED)).toEqual([]);
  const order = { batches: [marked(batch("s", 4), "r", 10)], rows: [], sync: true };
  expect(driver.append(order)).toEqual([undefined]);
  expect(text(driver.read("s", 0, 1_000))).toBe(frames("s", 1, 4));
  expect(driver.runMarks(MARKED)).toEqual([mark("s", "r", 10)]);
});

test("rows from before the columns of queries are found by them", async () => {
  const file = path();
  const old = await open(file, (found) => migrate(found, MIGRATIONS.slice(0, 5)));
  const save = old.prepare(
    "INSERT INTO sessions (session_id, backend, last_active_at_ms, last_seq, row) VALUES (?, ?, ?, ?, ?)",
  );
  const rows = [
    row("a", { name: "lead", cwd: "/w", spawn: { key: "k", hash: "h" }, native_session_id: "n" }),
    row("b", { parent: "a", turn: { turn_id: "t", started_at_ms: 1 } }),
    row("c", { parent: "a", queue: [], wakes: [{ wake_id: "w", kind: "finished", at_ms: 1, text: "x" }] }),
    row("d", { queue: [] }),
  ];
  for (const one of rows) {
    save.run(one.session_id, one.backend, one.last_active_at_ms, one.last_seq, JSON.stringify(one));
  }
  closeDatabase(old);
  const driver = new SqliteDriver(await open(file, migrate), Date.now);
  const filters: RowFilter[] = [
    {},
    { unfinished: true },
    { name: "lead" },
    { cwd: "/w" },
    { parent: "a" },
    { family: "a" },
    { spawn_key: "k" },
    { native_ids: ["n"] },
  ];
  for (const filter of filters) {
    expect([filter, driver.rows(filter)]).toEqual([filter, selectRows(rows, filter)]);
  }
});

test("a step that fails leaves the database at the version before", async () => {
  const file = path();
  await versionOne(file);
  const steps = [...MIGRATIONS.slice(0, 1), "CREATE TABLE half (x); INSERT INTO nowhere VALUES (1)"];
  await expect(open(file, (found) => migrate(found, steps))).rejects.toThrow(/nowhere/);
  const db = await open(file, () => undefined);
  expect(version(db)).toBe(1);
  expect(db.prepare("SELECT name FROM sqlite_schema WHERE name = 'half'").get()).toBeUndefined();
});

test("a database of a newer program is refused with what to do, and is not touched", async () => {
  const file = path();
  await versionOne(file);
  const newer = await open(file, (db) => db.exec("PRAGMA user_version=99"));
  closeDatabase(newer);
  const refused = expect(open(file, migrate)).rejects;
  await refused.toMatchObject({
    code: "internal",
    message: expect.stringMatching(/version 99.*install a newer/),
  });
  expect(version(await open(file, () => undefined))).toBe(99);
});
