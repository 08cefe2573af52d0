// Converts failures to JSON-RPC errors. Error codes are chosen only here.

import { RequestError } from "@agentclientprotocol/sdk";
import { CodedError, toMessage } from "../../base/coded-error.ts";
import { defined } from "../../base/values.ts";
import { ProviderError, type ProviderFailure } from "../providers/types.ts";

const AUTH_REQUIRED = -32000;
const NOT_FOUND = -32002;
const INVALID_REQUEST = -32600;
const INVALID_PARAMS = -32602;
const INTERNAL = -32603;

/** Runtime codes caused by the request. */
const REQUEST_FAULTS: Readonly<Record<string, number>> = {
  unknown_agent: INVALID_PARAMS,
  unknown_provider: INVALID_PARAMS,
  bad_cwd: INVALID_PARAMS,
  session_locked: INVALID_REQUEST,
  session_busy: INVALID_REQUEST,
  session_closed: NOT_FOUND,
  no_plan: INVALID_PARAMS,
  bad_name: INVALID_PARAMS,
  missing_key: AUTH_REQUIRED,
};

export function toRequestError(error: unknown): RequestError {
  if (error instanceof RequestError) return error;
  if (error instanceof ProviderError) return toFailureError(error.failure);
  if (error instanceof CodedError) {
    const code = REQUEST_FAULTS[error.code] ?? INTERNAL;
    if (code === AUTH_REQUIRED) return authRequiredError(error.message, { code: error.code });
    return new RequestError(code, error.message, { code: error.code });
  }
  return new RequestError(INTERNAL, `demian failed: ${toMessage(error)}`);
}

/** `spent`: usage of the failed turn. */
export function toFailureError(failure: ProviderFailure, spent: object = {}): RequestError {
  const { kind, status, requestId, retryAfterMs, message } = failure;
  const data = {
    kind,
    ...defined({ status, requestId, retryAfterMs }),
    ...spent,
  };
  if (kind === "auth") return authRequiredError(message, data);
  return new RequestError(INTERNAL, message, data);
}

/** No login is offered; the message names the variable for the key. */
export function authRequiredError(message: string, data: object = {}): RequestError {
  return new RequestError(AUTH_REQUIRED, message, { ...data, authMethods: [] });
}

export function unknownSessionError(sessionId: string): RequestError {
  return new RequestError(NOT_FOUND, `no session "${sessionId}"`, { sessionId });
}

export function promptRunningError(what: string): RequestError {
  return new RequestError(
    INVALID_REQUEST,
    `a prompt is running in this session; ${what} after it ends, or send session/cancel`,
  );
}

export function invalidParamsError(message: string): RequestError {
  return new RequestError(INVALID_PARAMS, message);
}
