// Simulated crashes of the SQLite log: the files are copied at random moments, as a kill leaves them, or with the WAL
// cut after its last sync, as a power cut may. The copy is opened and must have everything promised.
import { copyFileSync, existsSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { closeDatabase, type Database, openDatabase } from "../../../src/base/sqlite/database.ts";
import { SqliteDriver } from "../../../src/store/sqlite/driver.ts";
import { migrate } from "../../../src/store/sqlite/migrations.ts";
import { batch, frames, MARKED, marked, request, row, tempDir, text } from "../material.ts";
import { type Random, seedCount, seededRandom } from "../random.ts";

interface Promised {
  last: number;
  synced: number;
  syncedWalBytes: number;
  /** The seqs whose appends changed the ledger. */
  asked: number[];
  /** The seqs whose appends had a run mark. */
  marked: number[];
}

const NORMAL_SEEDS = 1_500;
const LONG = { timeout: 600_000 };

test(
  "a copy of the files at any moment holds every synced frame as a gapless prefix with its requests and run mark, and continues",
  LONG,
  async () => {
    const dir = tempDir();
    // Real files and real syncs: one seed here for every thirty of the simulated disk.
    const seeds = Math.ceil(seedCount(NORMAL_SEEDS) / 30);
    let cuts = 0;
    for (let seed = 1; seed <= seeds; seed += 1) {
      cuts += await crashOnce(join(dir, `${seed}.db`), seededRandom(seed)).catch((cause: unknown) => {
        throw new Error(`seed ${seed}: ${String(cause)}`, { cause });
      });
    }
    // Control: some copies did lose frames that were not synced.
    expect(cuts).toBeGreaterThan(0);
  },
);

/** Fills a log, copies it in the middle, checks the copy; returns how many frames the copy lost. */
async function crashOnce(path: string, random: Random): Promise<number> {
  const db = await open(path);
  // A small WAL is checkpointed constantly, which is a case of its own; it restarts, so it is not cut.
  const isSmall = random(2) === 0;
  if (isSmall) db.exec("PRAGMA wal_autocheckpoint=3");
  const driver = new SqliteDriver(db, Date.now);
  const syncedWalBytes = statSync(`${path}-wal`).size;
  const promised: Promised = { last: 0, synced: 0, syncedWalBytes, asked: [], marked: [] };
  for (let step = 1 + random(15); step > 0; step -= 1) appendOne(driver, promised, random, path);
  const copy = `${path}.copy`;
  for (const suffix of ["", "-wal"]) {
    if (existsSync(path + suffix)) copyFileSync(path + suffix, copy + suffix);
  }
  closeDatabase(db);
  const isCut = !isSmall && random(3) > 0;
  if (isCut) cutWal(`${copy}-wal`, promised.syncedWalBytes, random);
  const safe = isCut ? promised.synced : promised.last;
  return checkCopy(copy, promised, safe);
}

function appendOne(driver: SqliteDriver, promised: Promised, random: Random, path: string): void {
  const sync = random(3) === 0;
  const first = promised.last + 1;
  const last = promised.last + 1 + random(40);
  const rows = random(2) === 0 ? [row("s", { last_seq: last })] : [];
  const requests = random(2) === 0 ? [request("s", "r", { generation: `${last}` })] : [];
  const isMarked = random(2) === 0;
  const plain = batch("s", first, last);
  const batches = [isMarked ? marked(plain, "run", last) : plain];
  const outcome = driver.append({ batches, rows, requests, sync });
  if (outcome.some((entry) => entry !== undefined)) throw new Error(`append: ${outcome.join()}`);
  promised.last = last;
  if (requests.length > 0) promised.asked.push(last);
  if (isMarked) promised.marked.push(last);
  if (!sync) return;
  promised.synced = last;
  promised.syncedWalBytes = statSync(`${path}-wal`).size;
}

function cutWal(wal: string, syncedBytes: number, random: Random): void {
  const { size } = statSync(wal);
  truncateSync(wal, syncedBytes + random(size - syncedBytes + 1));
}

async function checkCopy(copy: string, promised: Promised, safe: number): Promise<number> {
  const { last, asked } = promised;
  const db = await open(copy);
  const driver = new SqliteDriver(db, Date.now);
  const read = driver.read("s", 0, 10_000_000);
  const found = read?.last_seq ?? 0;
  if (found < safe) throw new Error(`${safe} frames promised, ${found} found`);
  if (found > last || text(read) !== (found === 0 ? "" : frames("s", 1, found)))
    throw new Error("not what was stored");
  // A row never refers to frames that were not in the same transaction.
  if ((driver.loadRow("s")?.last_seq ?? 0) !== found) throw new Error("the row and the log differ");
  const askedAt = asked.findLast((seq) => seq <= found)?.toString();
  if (driver.request("s", "r")?.generation !== askedAt) throw new Error("the ledger and the log differ");
  const markedAt = promised.marked.findLast((seq) => seq <= found);
  if (driver.runMarks(MARKED)[0]?.out !== markedAt) throw new Error("the run mark and the log differ");
  const outcome = driver.append({ batches: [batch("s", found + 1)], rows: [], sync: true });
  if (outcome[0] !== undefined) throw new Error(`seq does not go on: ${outcome[0]}`);
  closeDatabase(db);
  return last - found;
}

function open(path: string): Promise<Database> {
  return openDatabase({
    path,
    prepare: migrate,
    now: Date.now,
    onRecovery: () => {
      throw new Error("the copy was taken for a broken file");
    },
  });
}
