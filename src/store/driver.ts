// Opens the database with its journal, its seq marks and, where configured, the JSONL files.
import { existsSync, mkdirSync, realpathSync, renameSync } from "node:fs";
import { isBroken } from "../base/sqlite/database.ts";
import { nodeFileSystem } from "./disk/file-system.ts";
import { Folder } from "./journal/folder.ts";
import { JsonlExport } from "./jsonl/export.ts";
import { importDirectory } from "./jsonl/import.ts";
import { openOldMarks, tryOpenMarks } from "./open-marks.ts";
import { noteDamage } from "./sqlite/damage.ts";
import { openSqliteDriver, type SqliteDriver } from "./sqlite/driver.ts";
import type { DriverOptions, JsonlConfig, StoreConfig } from "./types.ts";

export interface OpenDriver {
  driver: SqliteDriver;
  folder: Folder;
  jsonl?: JsonlExport;
}

export async function openDriver(config: StoreConfig, options: DriverOptions): Promise<OpenDriver> {
  try {
    return await openOnce(config, options);
  } catch (error) {
    if (!isBroken(error)) throw error;
    // A leftover journal or an import met damage; noted, it is looked for everywhere.
    noteDamage(config.path, error, options);
    return openOnce(config, options);
  }
}

async function openOnce(config: StoreConfig, options: DriverOptions): Promise<OpenDriver> {
  const driver = await openSqliteDriver(config.path, options);
  try {
    // Only now: the database is locked, so no other daemon writes these files.
    const parts = { target: driver, databasePath: config.path, fs: nodeFileSystem };
    const folder = new Folder({ ...options, ...parts });
    folder.recover();
    const jsonl = config.jsonl === undefined ? undefined : openJsonl(config.jsonl, driver, options);
    // Only now: frames in the journal and in imported files are not lost.
    driver.follow(await openOldMarks(config.marks, jsonlMarks(config.jsonl, options), options));
    return { driver, folder, ...(jsonl !== undefined && { jsonl }) };
  } catch (error) {
    driver.close();
    throw error;
  }
}

function openJsonl(
  { dir: configured }: JsonlConfig,
  driver: SqliteDriver,
  options: DriverOptions,
): JsonlExport {
  mkdirSync(configured, { recursive: true, mode: 0o700 });
  // Places are stored by directory: a trailing slash or a link must not make it another one.
  const dir = realpathSync(configured);
  const exports = driver.exportsTo(dir);
  const skip = importDirectory({ ...options, fs: nodeFileSystem, dir, driver, exports });
  const jsonl = new JsonlExport({ ...options, fs: nodeFileSystem, dir, source: driver, exports, skip });
  driver.onStored = (session_id) => jsonl.add(session_id);
  return jsonl;
}

/** Those of versions in which the files were the store; taken once. */
function jsonlMarks(jsonl: JsonlConfig | undefined, { onRecovery }: DriverOptions) {
  const path = jsonl?.oldMarks;
  if (path === undefined || !existsSync(path)) return { read: () => new Map(), taken: () => undefined };
  return {
    read() {
      const old = tryOpenMarks(path, onRecovery);
      const marks = old?.all() ?? new Map<string, number>();
      old?.close();
      return marks;
    },
    taken: () => renameSync(path, `${path}.imported`),
  };
}
