// Converts failures to JSON-RPC errors for editors.
import { RequestError } from "@agentclientprotocol/sdk";
import { CodedError, toMessage } from "../../base/coded-error.ts";

const AUTH_REQUIRED = -32000;
const NOT_FOUND = -32002;
const INVALID_REQUEST = -32600;
const INVALID_PARAMS = -32602;
const INTERNAL = -32603;
const REQUEST_CANCELLED = -32800;

/** Codes of the daemon that the editor caused, or can act on. */
const CODES: Readonly<Record<string, number>> = {
  auth_failed: AUTH_REQUIRED,
  session_unknown: NOT_FOUND,
  session_busy: INVALID_REQUEST,
  pending_structured_request: INVALID_REQUEST,
  queue_full: INVALID_REQUEST,
  invalid_message: INVALID_PARAMS,
  oversize_message: INVALID_PARAMS,
};

export function toRequestError(error: unknown): RequestError {
  if (error instanceof RequestError) return error;
  if (!(error instanceof CodedError)) return new RequestError(INTERNAL, toMessage(error));
  const { code, message } = error;
  return new RequestError(CODES[code] ?? INTERNAL, message, {
    code,
    ...(CODES[code] === AUTH_REQUIRED && { authMethods: [] }),
  });
}

export function invalidParamsError(message: string): RequestError {
  return new RequestError(INVALID_PARAMS, message);
}

/** The message left the queue before the agent got it. */
export function cancelledError(): RequestError {
  return new RequestError(REQUEST_CANCELLED, "the prompt was cancelled before it was delivered");
}

/** The turn of a prompt failed: `code` is one of docs/errors.md or of the agent's failures. */
export function toTurnError({ code, message }: { code: string; message: string }): RequestError {
  return toRequestError(new CodedError(code, message));
}
