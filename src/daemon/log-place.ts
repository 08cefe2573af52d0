// Finds where the daemon's log goes, so that clients can show it: a file, the systemd journal, or another stderr.
import { fstatSync, readlinkSync, type Stats, statSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { defined } from "../base/values.ts";
import type { LogPlace } from "../servers/types.ts";
import type { Config, Env } from "./config.ts";

const STDERR = 2;

/** Asked for each time: a log file may be renamed while the daemon runs. */
export function findLog(config: Pick<Config, "log_file" | "state_dir">, env: Env, fd = STDERR): LogPlace {
  if (config.log_file !== undefined) return { to: "file", path: resolve(config.log_file) };
  const stats = readStats(fd);
  if (stats?.isFile() === true) return { to: "file", ...defined({ path: findPath(fd, stats, config, env) }) };
  const isJournal = stats !== undefined && env["JOURNAL_STREAM"] === `${stats.dev}:${stats.ino}`;
  return { to: isJournal ? "journal" : "stderr" };
}

function findPath(fd: number, stats: Stats, config: Pick<Config, "state_dir">, env: Env): string | undefined {
  // Where `sm` and the launchd job let it write: macOS does not say what file a descriptor is.
  const usual = [
    join(config.state_dir, "blemeesd.log"),
    join(env["HOME"] || homedir(), "Library/Logs/blemeesd.log"),
  ];
  return usual.find((path) => isSame(path, stats)) ?? readDescriptor(fd, stats);
}

function readDescriptor(fd: number, stats: Stats): string | undefined {
  try {
    const path = readlinkSync(`/proc/self/fd/${fd}`);
    return isSame(path, stats) ? path : undefined; // it may have been removed
  } catch {
    return undefined; // macOS
  }
}

function isSame(path: string, { dev, ino }: Stats): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  return found?.dev === dev && found.ino === ino;
}

function readStats(fd: number): Stats | undefined {
  try {
    return fstatSync(fd);
  } catch {
    return undefined; // it was closed
  }
}
