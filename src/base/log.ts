// Structured logs: one JSON object per line, starting with `level ts`. Prompts, deltas and tokens are never logged at info;
// at debug, a body is written as `<redacted N chars>`.
import { mkdirSync, openSync, writeSync } from "node:fs";
import { dirname } from "node:path";

export type LogFields = Record<string, unknown>;

export interface Log {
  debug(event: string, fields?: LogFields): void;
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  error(event: string, fields?: LogFields): void;
  /** A log that adds these fields to every line. */
  with(fields: LogFields): Log;
}

export const LOG_LEVELS = ["debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Lines wait while the disk is full or the reader is slow, up to this many bytes; more are dropped. */
const MAX_WAITING_BYTES = 1024 * 1024;
const STDERR = 2;

/**
 * Writes to the given file, or to stderr. Synchronous: lines before a crash are not lost. Never throws after it is opened: a
 * failing log must not stop the daemon.
 */
export function createLog(level: LogLevel, file?: string): Log {
  if (level === "silent") return silentLog;
  return createLeveledLog(LOG_LEVELS.indexOf(level), {}, createWriter(file));
}

export function redact(text: string): string {
  return `<redacted ${text.length} chars>`;
}

export const silentLog: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  with: () => silentLog,
};

function createLeveledLog(least: number, common: LogFields, write: (line: string) => void): Log {
  const at = (level: LogLevel) => (event: string, fields?: LogFields) => {
    if (LOG_LEVELS.indexOf(level) < least) return;
    const ts = new Date().toISOString();
    write(
      `${stringify({ level, ts, ...common, ...fields, event }) ?? JSON.stringify({ level, ts, event })}\n`,
    );
  };
  return {
    debug: at("debug"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
    with: (fields) => createLeveledLog(least, { ...common, ...fields }, write),
  };
}

function stringify(line: LogFields): string | undefined {
  try {
    return JSON.stringify(line);
  } catch {
    return undefined; // a field with a cycle or a BigInt
  }
}

/** Keeps what cannot be written now, and tries again with the next line. */
function createWriter(file: string | undefined): (line: string) => void {
  const fd = file === undefined ? STDERR : openFile(file);
  let waiting = "";
  return (line) => {
    if (waiting.length + line.length > MAX_WAITING_BYTES) return;
    let rest = Buffer.from(waiting + line);
    try {
      while (rest.length > 0) rest = rest.subarray(writeSync(fd, rest));
    } catch {
      // A full disk, a slow reader, or nobody who reads.
    }
    waiting = rest.toString();
  };
}

function openFile(file: string): number {
  mkdirSync(dirname(file), { recursive: true });
  return openSync(file, "a", 0o600);
}
