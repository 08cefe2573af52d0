// Opens the configured store. If its location cannot be used, the error has the reason and what to do. If file descriptors
// have run out, it waits for clients to release them.
import { accessSync, closeSync, constants, openSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Worker } from "node:worker_threads";
import { CodedError, readErrno, toMessage } from "../base/coded-error.ts";
import type { Log } from "../base/log.ts";
import { defined } from "../base/values.ts";
import {
  createMemoryStore,
  openThreadStore,
  type PreparedStore,
  prepareThreadStore,
  type Recovery,
  type Store,
  type StoreConfig,
  type StoreOptions,
} from "../store/index.ts";
import type { Config } from "./config.ts";

const RETRY_MS = 200;
/** Descriptors that opening a store needs: its thread, the native module, the database and its journal. */
const NEEDED_DESCRIPTORS = 24;
const OUT_OF_DESCRIPTORS = /EMFILE|ENFILE|too many open files/i;
const REASONS: Readonly<Record<string, string>> = {
  EROFS: "it is on a read-only file system",
  EACCES: "this user has no write permission",
  EPERM: "this user has no write permission",
  ENOTDIR: "part of the path is not a directory",
  ENOSPC: "no space is left on the device",
  EDQUOT: "the disk quota is exceeded",
};

/** JSONL files are written from the database, so they need one. */
export function isDurable({ store, event_log_dir }: Config): boolean {
  return store === "sqlite" || event_log_dir !== undefined;
}

/** Directories of the history, and the flags that set them. */
function listDirectories(config: Config): { path: string; flag: string }[] {
  if (!isDurable(config)) return [];
  const state = { path: config.state_dir, flag: "--state-dir" };
  if (config.event_log_dir === undefined) return [state];
  return [state, { path: config.event_log_dir, flag: "--event-log-dir" }];
}

/** Throws if the history cannot be stored there. Read-only: creates and changes nothing. */
export function checkStorePlace(config: Config): void {
  for (const directory of listDirectories(config)) {
    const fault = findFault(directory.path);
    if (fault !== undefined) throw unusable(directory, fault);
  }
}

function findFault(path: string): string | undefined {
  let found: ReturnType<typeof statSync>;
  try {
    found = statSync(path, { throwIfNoEntry: false });
    // A missing directory will be created if the nearest existing parent is writable.
    if (found === undefined) return dirname(path) === path ? undefined : findFault(dirname(path));
    if (!found.isDirectory()) return `${path} is not a directory`;
    accessSync(path, constants.W_OK | constants.X_OK);
  } catch (error) {
    return `${explain(error)} (${path})`;
  }
  return undefined;
}

interface StoreParts extends Pick<StoreOptions, "onFolded"> {
  worker: URL;
  log: Log;
}

interface OpenParts extends StoreParts {
  closing: AbortSignal;
  /** By `prepareStore`. */
  prepared?: PreparedStore | undefined;
}

/** Starts the store's thread, unless there is one (`early`); nothing on disk is touched before `openStore`. */
export function prepareStore(config: Config, parts: StoreParts, early?: Worker): PreparedStore {
  return prepareThreadStore(toStoreConfig(config), parts.worker, toStoreOptions(parts), early);
}

/** Stops waiting for descriptors when `closing` is aborted. */
export async function openStore(config: Config, { closing, prepared, ...parts }: OpenParts): Promise<Store> {
  for (let isFirst = true; ; isFirst = false) {
    try {
      return await (isFirst && prepared !== undefined ? prepared.open() : open(config, parts));
    } catch (error) {
      if (closing.aborted || !isOutOfDescriptors(error))
        throw unusable({ path: config.state_dir, flag: "--state-dir" }, explain(error), error);
      if (isFirst) parts.log.warn("store.waits_for_descriptors", { message: toMessage(error) });
    }
    await delay(RETRY_MS, undefined, { signal: closing }).catch(() => undefined);
  }
}

function open(config: Config, parts: StoreParts): Promise<Store> {
  if (!isDurable(config)) return Promise.resolve(createMemoryStore());
  return openThreadStore(toStoreConfig(config), parts.worker, toStoreOptions(parts));
}

function toStoreOptions({ log, onFolded }: StoreParts): StoreOptions {
  return { onRecovery: (recovery) => logRecovery(log, recovery), onFolded };
}

function toStoreConfig({ state_dir, event_log_dir: dir }: Config): StoreConfig {
  const path = join(state_dir, "blemees.db");
  const marks = join(state_dir, "blemees.seqs");
  const jsonl = dir === undefined ? undefined : { dir, oldMarks: join(state_dir, "event-log.seqs") };
  return { path, marks, ...defined({ jsonl }) };
}

function logRecovery(log: Log, { event, ...fields }: Recovery): void {
  if (event === "imported") log.info("store.imported", fields);
  else if (event === "export_failed") log.warn("store.export_failed", fields);
  else if (event === "export_resumed") log.info("store.export_resumed", fields);
  else log.warn("store.recovered", fields);
}

/** SQLite only reports that it cannot open the file, so we check for ourselves. */
function isOutOfDescriptors(error: unknown): boolean {
  if (OUT_OF_DESCRIPTORS.test(toMessage(error))) return true;
  const opened: number[] = [];
  try {
    for (let n = 0; n < NEEDED_DESCRIPTORS; n += 1) opened.push(openSync("/dev/null", "r"));
    return false;
  } catch (fault) {
    return OUT_OF_DESCRIPTORS.test(readErrno(fault) ?? "");
  } finally {
    for (const descriptor of opened) closeSync(descriptor);
  }
}

function explain(error: unknown): string {
  const message = toMessage(error);
  // The store's thread reports errors as text; SQLite has its own for a full disk.
  const code = /disk is full/.test(message) ? "ENOSPC" : /\b(E[A-Z]{3,})\b/.exec(message)?.[1];
  return REASONS[code ?? ""] ?? message;
}

function unusable(
  { path, flag }: { path: string; flag: string },
  reason: string,
  cause?: unknown,
): CodedError {
  const message = `cannot keep the history in ${path}: ${reason}. Fix this, use another directory with ${flag} DIR, or keep the history in memory with BLEMEESD_STORE=memory`;
  return new CodedError("internal", message, { cause });
}
