// Opens the store that the configuration asks for. A place that cannot be used is named with the reason and with what to
// do; descriptors that have run out are waited for, because the clients that hold them will go.
import { accessSync, closeSync, constants, openSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { CodedError, errnoOf, messageOf } from "../base/coded-error.ts";
import type { Log } from "../base/log.ts";
import { createMemoryStore, openThreadStore, type Store } from "../store/index.ts";
import type { Config } from "./config.ts";

const RETRY_MS = 200;
/** What a store needs to open: its thread, the native module, the database with its journal. */
const NEEDED_DESCRIPTORS = 24;
const OUT_OF_DESCRIPTORS = /EMFILE|ENFILE|too many open files/i;
const REASONS: Readonly<Record<string, string>> = {
  EROFS: "it is on a read-only file system",
  EACCES: "this user may not write there",
  EPERM: "this user may not write there",
  ENOTDIR: "a part of the path is not a directory",
  ENOSPC: "there is no space left on the device",
  EDQUOT: "the disk quota is used up",
};

/** Where the history goes, and the flag that moves it; undefined when it stays in memory. */
function placeOf(config: Config): { path: string; flag: string } | undefined {
  if (config.event_log_dir !== undefined) return { path: config.event_log_dir, flag: "--event-log-dir" };
  return config.store === "memory" ? undefined : { path: config.state_dir, flag: "--state-dir" };
}

/** Throws when the place of the history cannot work. Only looks: nothing is made or changed. */
export function checkStorePlace(config: Config): void {
  const place = placeOf(config);
  if (place === undefined) return;
  const fault = findFault(place.path);
  if (fault !== undefined) throw unusable(config, fault);
}

function findFault(path: string): string | undefined {
  let found: ReturnType<typeof statSync>;
  try {
    found = statSync(path, { throwIfNoEntry: false });
    // What is not there yet is made, as far as its nearest parent lets us.
    if (found === undefined) return dirname(path) === path ? undefined : findFault(dirname(path));
    if (!found.isDirectory()) return `${path} is not a directory`;
    accessSync(path, constants.W_OK | constants.X_OK);
  } catch (error) {
    return `${reasonOf(error)} (${path})`;
  }
  return undefined;
}

/** Stops waiting for descriptors when `closing` is aborted. */
export async function openStore(
  config: Config,
  { worker, log, closing }: { worker: URL; log: Log; closing: AbortSignal },
): Promise<Store> {
  for (let isFirst = true; ; isFirst = false) {
    try {
      return await open(config, worker, log);
    } catch (error) {
      if (closing.aborted || !isOutOfDescriptors(error)) throw unusable(config, reasonOf(error), error);
      if (isFirst) log.warn("store.waits_for_descriptors", { message: messageOf(error) });
    }
    await delay(RETRY_MS, undefined, { signal: closing }).catch(() => undefined);
  }
}

function open(config: Config, worker: URL, log: Log): Promise<Store> {
  const onRecovery = (recovery: object) => log.warn("store.recovered", { ...recovery });
  if (config.event_log_dir !== undefined) {
    const marks = join(config.state_dir, "event-log.seqs");
    return openThreadStore({ kind: "jsonl", path: config.event_log_dir, marks }, worker, { onRecovery });
  }
  if (config.store === "memory") return Promise.resolve(createMemoryStore());
  const path = join(config.state_dir, "blemees.db");
  const marks = join(config.state_dir, "blemees.seqs");
  return openThreadStore({ kind: "sqlite", path, marks }, worker, { onRecovery });
}

/** SQLite only says that it cannot open the file, so we see for ourselves. */
function isOutOfDescriptors(error: unknown): boolean {
  if (OUT_OF_DESCRIPTORS.test(messageOf(error))) return true;
  const opened: number[] = [];
  try {
    for (let n = 0; n < NEEDED_DESCRIPTORS; n += 1) opened.push(openSync("/dev/null", "r"));
    return false;
  } catch (fault) {
    return OUT_OF_DESCRIPTORS.test(errnoOf(fault) ?? "");
  } finally {
    for (const descriptor of opened) closeSync(descriptor);
  }
}

function reasonOf(error: unknown): string {
  const message = messageOf(error);
  // The store's thread reports in words; SQLite has its own for a full disk.
  const code = /disk is full/.test(message) ? "ENOSPC" : /\b(E[A-Z]{3,})\b/.exec(message)?.[1];
  return REASONS[code ?? ""] ?? message;
}

function unusable(config: Config, reason: string, cause?: unknown): CodedError {
  const { path, flag } = placeOf(config) ?? { path: config.state_dir, flag: "--state-dir" };
  const message = `cannot keep the history in ${path}: ${reason}. Fix this, use another directory with ${flag} DIR, or keep the history in memory with BLEMEESD_STORE=memory`;
  return new CodedError("internal", message, { cause });
}
