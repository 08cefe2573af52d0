// Opens a database file: with the engine of this Node version, private permissions, and an exclusive lock. A broken file is
// moved aside, not used or deleted. Knows no tables.
import { chmodSync, closeSync, existsSync, mkdirSync, openSync, renameSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import type { DatabaseSyncInstance } from "@photostructure/sqlite";
import { CodedError, toMessage } from "../coded-error.ts";
import { formatTimestamp } from "../timestamp.ts";

export type Database = DatabaseSyncInstance;
export type Statement = ReturnType<Database["prepare"]>;

/** A broken file that was moved aside. */
export interface MovedAside {
  kept_seq: 0;
  cut_bytes: number;
  aside: string;
}

interface Opening {
  path: string;
  /** Reads enough of the file to detect that it is broken. */
  prepare(db: Database): void;
  now(): number;
  onRecovery(recovery: MovedAside): void;
  /** Other programs may read the file while it is open. */
  isShared?: boolean;
}

const SQLITE_BUSY = 5;
const SQLITE_CORRUPT = 11;
const SQLITE_TOOBIG = 18;
const SQLITE_CONSTRAINT = 19;
const SQLITE_MISMATCH = 20;
const SQLITE_NOTADB = 26;

export async function openDatabase(opening: Opening): Promise<Database> {
  const engine = await loadEngine();
  createPrivately(opening.path);
  try {
    return connect(engine, opening);
  } catch (cause) {
    if (isBusy(cause)) throw inUse(opening.path, cause);
    if (!isBroken(cause)) throw cause;
    moveAside(opening);
    createPrivately(opening.path);
    return connect(engine, opening);
  }
}

/**
 * Releases the lock explicitly: with @photostructure/sqlite 1.2.1, a closed database stays locked until its statements are
 * garbage-collected. SQLite releases it only outside WAL mode, which also merges the WAL into the file.
 */
export function closeDatabase(db: Database): void {
  if (!db.isOpen) return;
  try {
    db.exec("PRAGMA journal_mode=DELETE; PRAGMA locking_mode=NORMAL; SELECT count(*) FROM sqlite_schema");
  } catch {
    // The file is broken, full or not ours: the WAL stays, and the next open reads it.
  } finally {
    db.close();
  }
}

/** Runs `work` in a transaction, which is rolled back if it throws. */
export function runInTransaction<T>(db: Database, work: () => T): T {
  db.exec("BEGIN IMMEDIATE");
  try {
    const result = work();
    db.exec("COMMIT");
    return result;
  } catch (cause) {
    // SQLite rolls back on its own on some errors (full disk); a second ROLLBACK would hide the cause.
    if (db.isTransaction) db.exec("ROLLBACK");
    throw cause;
  }
}

/** Whether the values are invalid and can never be stored, unlike with a full disk. */
export function isRefusal(error: unknown): boolean {
  const code = resultCode(error);
  return code === SQLITE_TOOBIG || code === SQLITE_CONSTRAINT || code === SQLITE_MISMATCH;
}

type Engine = new (path: string) => Database;

/** node:sqlite needs a flag before Node 24, so older versions get its backport. Only the one needed is loaded. */
export async function loadEngine(): Promise<Engine> {
  if (Number.parseInt(process.versions.node, 10) >= 24) {
    const builtin = process.getBuiltinModule("node:sqlite") as unknown as { DatabaseSync: Engine };
    return builtin.DatabaseSync;
  }
  // Not `import`: it would load Node's other module loader too, which takes longer than the engine itself.
  const engine = createRequire(import.meta.url)("@photostructure/sqlite") as { DatabaseSync: Engine };
  return engine.DatabaseSync;
}

/** Never opens an existing file: closing any handle on it would drop SQLite's locks in this process. */
function createPrivately(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  if (!existsSync(path)) closeSync(openSync(path, "wx", 0o600));
  else if ((statSync(path).mode & 0o077) !== 0) chmodSync(path, 0o600);
}

function connect(engine: Engine, opening: Opening): Database {
  const db = new engine(opening.path);
  try {
    // The first access takes and keeps the lock, so a second daemon fails here and not in a write.
    if (opening.isShared !== true) db.exec("PRAGMA locking_mode=EXCLUSIVE");
    db.exec("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL");
    // Without a limit, the WAL keeps the size of the largest transaction forever.
    db.exec("PRAGMA journal_size_limit=16777216; PRAGMA foreign_keys=OFF; PRAGMA temp_store=MEMORY");
    // Overwrites deleted content, such as secrets, in the database pages.
    db.exec("PRAGMA secure_delete=ON");
    db.exec("BEGIN EXCLUSIVE; COMMIT");
    opening.prepare(db);
    return db;
  } catch (cause) {
    closeDatabase(db);
    throw cause;
  }
}

/** The WAL moves with its database: replayed into a new file, it would break that one too. */
function moveAside({ path, now, onRecovery }: Opening): void {
  const aside = `${path}.corrupt-${formatTimestamp(now())}`;
  const cut_bytes = statSync(path).size;
  renameSync(path, aside);
  for (const suffix of ["-wal", "-shm", "-journal"]) {
    if (existsSync(path + suffix)) renameSync(path + suffix, aside + suffix);
  }
  onRecovery({ kept_seq: 0, cut_bytes, aside });
}

function inUse(path: string, cause: unknown): CodedError {
  return new CodedError("internal", `${path} is in use by another process, probably another blemeesd`, {
    cause,
  });
}

function isBusy(error: unknown): boolean {
  return resultCode(error) === SQLITE_BUSY || /database is locked/.test(toMessage(error));
}

/** Whether the file itself is damaged, so that retrying cannot help. */
export function isBroken(error: unknown): boolean {
  const code = resultCode(error);
  if (code === SQLITE_CORRUPT || code === SQLITE_NOTADB) return true;
  return /file is not a database|disk image is malformed/.test(toMessage(error));
}

/** The primary result code; the upper bits have details. */
function resultCode(error: unknown): number | undefined {
  const code = (error as { errcode?: unknown }).errcode;
  return typeof code === "number" ? code & 0xff : undefined;
}
