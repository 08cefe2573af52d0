// Opens the database with its journal, its seq marks and, where configured, the JSONL files.
import { existsSync, mkdirSync, realpathSync, renameSync } from "node:fs";
import { nodeFileSystem } from "./disk/file-system.ts";
import { Folder } from "./journal/folder.ts";
import { JsonlExport } from "./jsonl/export.ts";
import { importDirectory } from "./jsonl/import.ts";
import { tryOpenMarks } from "./open-marks.ts";
import type { SeqMarks } from "./seq-marks.ts";
import { openSqliteDriver, type SqliteDriver } from "./sqlite/driver.ts";
import type { DriverOptions, JsonlConfig, StoreConfig } from "./types.ts";

export interface OpenDriver {
  driver: SqliteDriver;
  folder: Folder;
  jsonl?: JsonlExport;
}

export async function openDriver(config: StoreConfig, options: DriverOptions): Promise<OpenDriver> {
  const driver = await openSqliteDriver(config.path, options);
  try {
    // Only now: the database is locked, so no other daemon writes these files.
    const parts = { target: driver, databasePath: config.path, fs: nodeFileSystem };
    const folder = new Folder({ ...options, ...parts });
    folder.recover();
    const marks = tryOpenMarks(config.marks, options.onRecovery);
    const jsonl =
      config.jsonl === undefined ? undefined : openJsonl(config.jsonl, driver, { ...options, marks });
    // Only now: frames in the journal and in imported files are not lost. The main thread opens the marks again.
    driver.follow(marks?.all() ?? new Map());
    marks?.close();
    return { driver, folder, ...(jsonl !== undefined && { jsonl }) };
  } catch (error) {
    driver.close();
    throw error;
  }
}

function openJsonl(
  { dir: configured, oldMarks }: JsonlConfig,
  driver: SqliteDriver,
  options: DriverOptions & { marks: SeqMarks | undefined },
): JsonlExport {
  const { marks, ...rest } = options;
  mkdirSync(configured, { recursive: true, mode: 0o700 });
  // Places are stored by directory: a trailing slash or a link must not make it another one.
  const dir = realpathSync(configured);
  const exports = driver.exportsTo(dir);
  const skip = importDirectory({ ...rest, fs: nodeFileSystem, dir, driver, exports });
  if (marks !== undefined && oldMarks !== undefined && existsSync(oldMarks)) {
    const old = tryOpenMarks(oldMarks, options.onRecovery);
    for (const [session_id, seq] of old?.all() ?? []) marks.raise(session_id, seq);
    old?.close();
    renameSync(oldMarks, `${oldMarks}.imported`);
  }
  const jsonl = new JsonlExport({ ...rest, fs: nodeFileSystem, dir, source: driver, exports, skip });
  driver.onStored = (session_id) => jsonl.add(session_id);
  return jsonl;
}
