// A journaled store with its journal on a simulated disk and its database in a real file, with the store thread's side
// in this thread. What a process leaves when it dies can be opened again.
import { copyFileSync, existsSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { CodedError } from "../../../src/base/coded-error.ts";
import { closeDatabase, type Database, openDatabase } from "../../../src/base/sqlite/database.ts";
import { answer } from "../../../src/store/answer.ts";
import { takeValue } from "../../../src/store/calls.ts";
import type { OpenDriver } from "../../../src/store/driver.ts";
import type { Recovery, Store } from "../../../src/store/index.ts";
import { Folder } from "../../../src/store/journal/folder.ts";
import { Journal } from "../../../src/store/journal/journal.ts";
import { createJournaledStore, type FoldingThread } from "../../../src/store/journal/store.ts";
import type { FoldTarget } from "../../../src/store/journal/types.ts";
import { SqliteDriver } from "../../../src/store/sqlite/driver.ts";
import { migrate } from "../../../src/store/sqlite/migrations.ts";
import { FakeDisk } from "../disk/fake-disk.ts";
import { tempDir } from "../material.ts";
import type { Random } from "../random.ts";

const JOURNAL = "/log/log.db";
export const FIRST_FILE = "/log/log.journal-1";

export interface World {
  disk: FakeDisk;
  db: Database;
  store: Store;
  driver: SqliteDriver;
  found: Recovery[];
  /** Dies without closing anything; then starts again on the same disks. A power cut loses unsynced data. */
  crash(powerCut?: Random): Promise<World>;
}

export interface Life {
  dir: string;
  generation: number;
  disk: FakeDisk;
  /** How much of the WAL is synced. */
  walBytes: number;
  maxFileBytes?: number;
}

export function firstLife(maxFileBytes?: number): Life {
  const life = { dir: tempDir(), generation: 0, disk: new FakeDisk(), walBytes: 0 };
  return maxFileBytes === undefined ? life : { ...life, maxFileBytes };
}

export async function openWorld(life: Life = firstLife()): Promise<World> {
  const path = databasePath(life);
  const { disk } = life;
  const found: Recovery[] = [];
  const options = { now: Date.now, onRecovery: (one: Recovery) => void found.push(one) };
  const db = await openDatabase({ ...options, path, prepare: migrate });
  const synced = { walBytes: life.walBytes };
  const driver = new SqliteDriver(db, Date.now);
  const target: FoldTarget = {
    place: () => driver.place(),
    fold(records, place, sync) {
      const refused = driver.fold(records, place, sync);
      if (sync) synced.walBytes = statSync(`${path}-wal`).size;
      return refused;
    },
  };
  const folder = new Folder({ ...options, target, databasePath: JOURNAL, fs: disk });
  folder.recover();
  const thread = threadOver({ driver, folder });
  const size = life.maxFileBytes === undefined ? {} : { maxFileBytes: life.maxFileBytes };
  const parts = { databasePath: JOURNAL, firstNumber: folder.nextNumber, fs: disk, ...size };
  onTestFinished(() => thread.die());
  onTestFinished(() => closeDatabase(db));
  return {
    disk,
    db,
    driver,
    found,
    store: createJournaledStore(thread, new Journal(parts)),
    async crash(powerCut) {
      thread.die();
      const next = { ...life, generation: life.generation + 1, walBytes: synced.walBytes };
      if (copyDatabase(path, databasePath(next)) && powerCut !== undefined) cutWal(next, powerCut);
      closeDatabase(db);
      if (powerCut === undefined) disk.kill();
      else disk.powerCut(powerCut);
      return openWorld(next);
    },
  };
}

function databasePath({ dir, generation }: Life): string {
  return join(dir, `${generation}.db`);
}

/** Whether there is a WAL. */
function copyDatabase(from: string, to: string): boolean {
  for (const suffix of ["", "-wal"]) if (existsSync(from + suffix)) copyFileSync(from + suffix, to + suffix);
  return existsSync(`${to}-wal`);
}

/** A power cut removes any part of the WAL after its last sync. */
function cutWal(life: Life, random: Random): void {
  const wal = `${databasePath(life)}-wal`;
  life.walBytes += random(statSync(wal).size - life.walBytes + 1);
  truncateSync(wal, life.walBytes);
}

function threadOver(open: OpenDriver): FoldingThread & { die(): void } {
  let end: CodedError | undefined;
  return {
    get refusal() {
      return end;
    },
    ask: async (call) => {
      if (end !== undefined) throw end;
      return answer(open, { ...call, id: 1 });
    },
    close: async (journal) => {
      const call = { id: 1, op: "close", args: [], ...(journal !== undefined && { journal }) } as const;
      if (end === undefined) takeValue(answer(open, { ...call, args: [] }));
      end = new CodedError("internal", "the store is closed");
    },
    die() {
      end ??= new CodedError("internal", "the thread died");
    },
  };
}
