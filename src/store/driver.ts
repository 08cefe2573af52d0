// Opens the driver a configuration asks for.
import { openJsonlDriver } from "./jsonl/driver.ts";
import { openSqliteDriver } from "./sqlite/driver.ts";
import type { Driver, DriverOptions, StoreConfig } from "./types.ts";

export async function openDriver(config: StoreConfig, options: DriverOptions): Promise<Driver> {
  if (config.kind === "jsonl") return openJsonlDriver(config.path, options);
  return openSqliteDriver(config.path, options);
}
