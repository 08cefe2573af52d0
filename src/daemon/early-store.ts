// Starts the store's thread before the daemon's own code is loaded, if agents are probably waiting for this daemon: they
// cannot be adopted before the store is open, and a thread takes as long to start as all the rest.
import { readdirSync } from "node:fs";
import type { Worker } from "node:worker_threads";
import { startThread } from "../base/worker-thread.ts";
import { getDefaultStateDir, getRunsDir } from "./places.ts";

/** Undefined without run directories. A guess: the configuration is not known yet. It touches no file before it is opened. */
export function startStoreEarly(url: URL, env: NodeJS.ProcessEnv): Worker | undefined {
  const state_dir = env["BLEMEESD_STATE_DIR"] || getDefaultStateDir(env);
  if (!hasEntries(getRunsDir(state_dir))) return undefined;
  const worker = startThread({ name: "store", url, workerData: {} });
  // A program that only shows its help ends without it.
  worker.unref();
  return worker;
}

function hasEntries(directory: string): boolean {
  try {
    return readdirSync(directory).length > 0;
  } catch {
    return false;
  }
}
