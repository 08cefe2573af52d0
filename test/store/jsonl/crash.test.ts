// Simulated crashes of the JSONL files: random appends, deletes and retention, random disk faults, then a kill or a
// power cut at a random moment, and the same again on what remains. In every case the files end up matching the
// database. `CHAOS_SEEDS=20000` for the long run.
import { join } from "node:path";
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { closeDatabase, type Database, openDatabase } from "../../../src/base/sqlite/database.ts";
import { JsonlExport } from "../../../src/store/jsonl/export.ts";
import { importDirectory } from "../../../src/store/jsonl/import.ts";
import { SqliteDriver } from "../../../src/store/sqlite/driver.ts";
import type { Place } from "../../../src/store/sqlite/exports.ts";
import { migrate } from "../../../src/store/sqlite/migrations.ts";
import type { Recovery } from "../../../src/store/types.ts";
import { FakeDisk, type Fault } from "../disk/fake-disk.ts";
import { frame, NO_LIMITS, row, tempDir } from "../material.ts";
import { forEachSeed, type Random, seedCount } from "../random.ts";

const LONG = { timeout: 600_000 };
const SESSIONS = ["a", "b"];
const DIR = "/log";

/** The snapshots that a power cut restores, losing everything stored after them. */
interface Snapshot {
  exports: (Place & { session_id: string })[];
  lastSeqs: Map<string, number>;
}

interface World {
  db: Database;
  driver: SqliteDriver;
  disk: FakeDisk;
  random: Random;
  jsonl: JsonlExport;
  found: Recovery[];
  snapshot: Snapshot;
  texts: number;
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("after any crash and any fault the files match the database", LONG, async () => {
  const seen = { failed: 0, resumed: 0, rewritten: 0, imported: 0, deleted: 0, pruned: 0, tornTails: 0 };
  const db = await openDatabase({
    path: join(tempDir(), "log.db"),
    prepare: migrate,
    now: Date.now,
    onRecovery: () => undefined,
  });
  onTestFinished(() => closeDatabase(db));
  db.exec("PRAGMA synchronous=OFF");
  forEachSeed(seedCount(300), (random) => {
    for (const table of ["batches", "sessions", "exports"]) db.exec(`DELETE FROM ${table}`);
    const world = start({ db, disk: new FakeDisk(), random });
    for (let round = 0; round < 3; round += 1) {
      world.disk.fault = () => pickFault(random);
      for (let step = random(12); step > 0; step -= 1) play(world, seen);
      crash(world);
      seen.tornTails += Number(countTorn(world) > 0);
      Object.assign(world, start(world));
      expectFilesToMatch(world);
    }
    for (const { event, message = "" } of world.found) {
      seen.imported += Number(event === "imported");
      seen.rewritten += Number(message.includes("written again"));
      seen.failed += Number(event === "export_failed");
      seen.resumed += Number(event === "export_resumed");
    }
  });
  // Control: the events that this test is about did happen.
  for (const [what, count] of Object.entries(seen)) expect(`${what} ${count > 0}`).toBe(`${what} true`);
});

test("a crash test on files that do not follow would notice", async () => {
  const db = await openDatabase({
    path: join(tempDir(), "log.db"),
    prepare: migrate,
    now: Date.now,
    onRecovery: () => undefined,
  });
  onTestFinished(() => closeDatabase(db));
  const world = start({ db, disk: new FakeDisk(), random: () => 0 });
  appendTo(world, "a");
  world.jsonl.flush(["a"]);
  expectFilesToMatch(world);
  world.disk.put(`${DIR}/a.jsonl`, Buffer.from(frame("a", 1, "another")));
  world.jsonl.flush = () => undefined;
  expect(() => expectFilesToMatch(world)).toThrow(/a\.jsonl/);
});

/** A daemon's start on the existing files. */
function start(parts: Pick<World, "db" | "disk" | "random"> & Partial<World>): World {
  const { db, disk, random, texts = 0, found = [] } = parts;
  const driver = new SqliteDriver(db, () => 0);
  const exports = driver.exportsTo(DIR);
  const options = {
    now: () => 0,
    onRecovery: (one: Recovery) => found.push(one),
    fs: disk,
    dir: DIR,
    exports,
  };
  const skip = importDirectory({ ...options, driver });
  const jsonl = new JsonlExport({ ...options, source: driver, skip });
  driver.onStored = (session_id) => jsonl.add(session_id);
  return { db, driver, disk, random, jsonl, found, texts, snapshot: takeSnapshot(db, driver) };
}

function pickFault(random: Random): Fault | undefined {
  const pick = random(40);
  if (pick === 0) return { errno: "EIO", part: random(100) };
  if (pick === 1) return { errno: "ENOSPC", part: random(100) };
  return pick === 2 ? { part: 1 + random(30) } : undefined;
}

function play(world: World, seen: { deleted: number; pruned: number }): void {
  const { random, driver, jsonl } = world;
  const session_id = SESSIONS[random(SESSIONS.length)] ?? "a";
  const pick = random(20);
  if (pick === 0) {
    driver.delete(session_id);
    jsonl.flush([session_id]);
    seen.deleted += 1;
    world.snapshot = takeSnapshot(world.db, driver);
  } else if (pick === 1) {
    seen.pruned += driver.prune({ ...NO_LIMITS, maxRowsPerSession: 1 + random(6) }, 0).events;
    jsonl.checkAll();
    world.snapshot = takeSnapshot(world.db, driver);
  } else appendTo(world, session_id);
  if (random(3) === 0) vi.advanceTimersToNextTimer();
  if (random(4) === 0) jsonl.flush([session_id]);
  if (random(6) === 0) world.snapshot = takeSnapshot(world.db, driver);
}

function appendTo(world: World, session_id: string): void {
  const { random, driver } = world;
  const first_seq = driver.highestSeq(session_id) + 1;
  const last_seq = first_seq + random(5);
  let text = "";
  for (let seq = first_seq; seq <= last_seq; seq += 1) {
    world.texts += 1;
    text += frame(session_id, seq, `${world.texts} é🜁 ${"x".repeat(random(60))}`);
  }
  const batch = { session_id, first_seq, last_seq, bytes: Buffer.from(text) };
  const rows = random(2) === 0 ? [row(session_id, { turns: world.texts, last_seq })] : [];
  expect(driver.append({ batches: [batch], rows, sync: false })[0]).toBeUndefined();
}

function crash(world: World): void {
  vi.clearAllTimers();
  if (world.random(2) === 0) {
    world.disk.kill();
    return;
  }
  world.disk.powerCut(world.random);
  if (world.random(2) === 0) restore(world);
}

function takeSnapshot(db: Database, driver: SqliteDriver): Snapshot {
  const exports = db.prepare("SELECT * FROM exports").all() as unknown as Snapshot["exports"];
  return { exports, lastSeqs: new Map(SESSIONS.map((id) => [id, driver.newestSeq(id) ?? 0])) };
}

/** The database loses everything after the snapshot, which is never older than a delete or retention. */
function restore({ db, snapshot }: World): void {
  const place = "UPDATE exports SET first_seq = ?, last_seq = ?, bytes = ? WHERE session_id = ?";
  for (const { session_id, first_seq, last_seq, bytes } of snapshot.exports) {
    const end = snapshot.lastSeqs.get(session_id) ?? 0;
    db.prepare("DELETE FROM batches WHERE session_id = ? AND first_seq > ?").run(session_id, end);
    db.prepare(place).run(first_seq, last_seq, bytes, session_id);
  }
}

function countTorn({ disk }: World): number {
  return SESSIONS.filter((id) => !/(^|\n)$/.test(disk.content(`${DIR}/${id}.jsonl`) ?? "")).length;
}

function expectFilesToMatch({ disk, driver, jsonl }: World): void {
  jsonl.flush([...SESSIONS]);
  for (const id of SESSIONS) {
    let stored = "";
    for (let after = 0; ; ) {
      const part = driver.read(id, after, 1_000);
      if (part === undefined) break;
      stored += Buffer.from(part.bytes).toString("utf8");
      after = part.last_seq;
    }
    if ((disk.content(`${DIR}/${id}.jsonl`) ?? "") !== stored)
      throw new Error(`${id}.jsonl is not what is stored`);
    const text = driver.rowText(id);
    const sidecar = text === undefined ? undefined : `${text}\n`;
    if (disk.content(`${DIR}/${id}.usage.json`) !== sidecar)
      throw new Error(`${id}.usage.json is not the row`);
  }
}
