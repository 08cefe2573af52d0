// Opens the driver a configuration asks for. A SQLite one comes with what folds the journal into it.
import { nodeFileSystem } from "./disk/file-system.ts";
import { Folder } from "./journal/folder.ts";
import { openJsonlDriver } from "./jsonl/driver.ts";
import { openSqliteDriver } from "./sqlite/driver.ts";
import type { Driver, DriverOptions, StoreConfig } from "./types.ts";

export interface OpenDriver {
  driver: Driver;
  folder?: Folder;
}

export async function openDriver(config: StoreConfig, options: DriverOptions): Promise<OpenDriver> {
  if (config.kind === "jsonl") return { driver: openJsonlDriver(config.path, options) };
  const driver = await openSqliteDriver(config.path, options);
  try {
    // Only now: the database is locked, so no other daemon writes these files.
    const parts = { target: driver, databasePath: config.path, fs: nodeFileSystem };
    const folder = new Folder({ ...options, ...parts });
    folder.recover();
    return { driver, folder };
  } catch (error) {
    driver.close();
    throw error;
  }
}
