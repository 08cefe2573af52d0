// What clients see of an unexpected error: its code, and where to look.
import { CodedError } from "../base/coded-error.ts";
import type { Log } from "../base/log.ts";
import { isErrorCode } from "../protocol/errors.ts";

export function toCoded(error: unknown, log: Log): CodedError {
  if (error instanceof CodedError && isErrorCode(error.code)) return error;
  log.error("internal", { stack: error instanceof Error ? error.stack : String(error) });
  return new CodedError("internal", "unexpected error in the daemon; see its log", {
    cause: error,
  });
}
