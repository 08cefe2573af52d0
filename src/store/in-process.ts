// A store in the calling thread, for tests and tools. Blocks on disk I/O.
import { CodedError } from "../base/coded-error.ts";
import { type Args, createStore, type Op, perform, type Result } from "./calls.ts";
import { openDriver } from "./driver.ts";
import type { DriverOptions, Store, StoreConfig } from "./types.ts";

export async function openInProcessStore(
  config: StoreConfig,
  options: Partial<DriverOptions> = {},
): Promise<Store> {
  const { now = Date.now, onRecovery = () => undefined } = options;
  const { driver, jsonl } = await openDriver(config, { now, onRecovery });
  let isClosed = false;
  const call = async <K extends Op>(op: K, args: Args<K>): Promise<Result<K>> => {
    if (isClosed) throw new CodedError("internal", "the store is closed");
    const result = perform(driver, op, args) as Result<K>;
    if (op === "delete") jsonl?.flush([args[0] as string]);
    if (op === "prune") jsonl?.checkAll();
    return result;
  };
  const close = async () => {
    if (isClosed) return;
    isClosed = true;
    jsonl?.close();
    driver.close();
  };
  return createStore(call, close, now);
}
