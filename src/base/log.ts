// Structured logs: one JSON object per line, starting with `ts level event`. Prompts, deltas and tokens are never logged at
// info; at debug, a body is written as `<redacted N chars>`.
import { type Logger as Pino, pino } from "pino";

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

/** Lines wait while the disk is full, up to this many bytes; more are dropped. */
const MAX_WAITING_BYTES = 1024 * 1024;

/**
 * Writes to the given file, or to stderr. Synchronous: lines before a crash are not lost. Never throws: a failing log must not
 * stop the daemon.
 */
export function createLog(level: LogLevel, file?: string): Log {
  const common = { sync: true, maxLength: MAX_WAITING_BYTES };
  const destination = pino.destination(
    file === undefined ? { ...common, fd: 2 } : { ...common, dest: file, mkdir: true, mode: 0o600 },
  );
  // Without a listener, the error would be thrown at the caller.
  destination.on("error", () => undefined);
  const logger = pino(
    {
      level,
      base: null,
      timestamp: () => `,"ts":"${new Date().toISOString()}"`,
      messageKey: "event",
      formatters: { level: (label) => ({ level: label }) },
    },
    destination,
  );
  return wrap(logger);
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

type Logger = Pino<never, boolean>;

function wrap(logger: Logger): Log {
  return {
    debug: (event, fields) => logger.debug(fields ?? {}, event),
    info: (event, fields) => logger.info(fields ?? {}, event),
    warn: (event, fields) => logger.warn(fields ?? {}, event),
    error: (event, fields) => logger.error(fields ?? {}, event),
    with: (fields) => wrap(logger.child(fields)),
  };
}
