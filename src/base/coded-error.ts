// Our only error class. The code is part of the API (protocol/errors.ts); the message is for users: what happened, to what,
// and what to do.

export interface CodedErrorDetails {
  cause?: unknown;
  data?: Record<string, unknown>;
}

export class CodedError extends Error {
  readonly code: string;
  readonly data: Record<string, unknown> | undefined;

  constructor(code: string, message: string, details: CodedErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = "CodedError";
    this.code = code;
    this.data = details.data;
  }
}

export function toMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The errno code of a system error ("ENOENT"), or undefined. */
export function readErrno(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | undefined)?.code;
  return typeof code === "string" ? code : undefined;
}
