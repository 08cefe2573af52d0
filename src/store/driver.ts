// Opens the driver a configuration asks for. A SQLite one comes with what folds the journal into it.
import { nodeFileSystem } from "./disk/file-system.ts";
import { Folder } from "./journal/folder.ts";
import { openJsonlDriver } from "./jsonl/driver.ts";
import { tryOpenMarks } from "./open-marks.ts";
import { openSqliteDriver } from "./sqlite/driver.ts";
import type { Driver, DriverOptions, StoreConfig } from "./types.ts";

export interface OpenDriver {
  driver: Driver;
  folder?: Folder;
}

export async function openDriver(config: StoreConfig, options: DriverOptions): Promise<OpenDriver> {
  if (config.kind === "jsonl") {
    const marks = tryOpenMarks(config, options.onRecovery);
    return { driver: openJsonlDriver(config.path, { ...options, marks }) };
  }
  const driver = await openSqliteDriver(config.path, options);
  try {
    // Only now: the database is locked, so no other daemon writes these files.
    const parts = { target: driver, databasePath: config.path, fs: nodeFileSystem };
    const folder = new Folder({ ...options, ...parts });
    folder.recover();
    // Only now: what the journal had is not lost. The daemon's own thread goes on writing the marks (thread.ts).
    const marks = tryOpenMarks(config, options.onRecovery);
    driver.follow(marks?.all() ?? new Map());
    marks?.close();
    return { driver, folder };
  } catch (error) {
    driver.close();
    throw error;
  }
}
