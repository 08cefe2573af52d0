// Whether a failure is about the login. Text counts only where something failed: in the error that ends a turn, and in
// the last lines of a codex that died.

import type { JsonObject } from "../../../base/json.ts";
import { asObject, asString } from "../../../base/values.ts";

export const LOGIN_ADVICE = "Run `codex login` to re-authenticate.";

const CODES: ReadonlySet<unknown> = new Set([-32001, -32002, 401, 403]);
const TYPES: ReadonlySet<string> = new Set(["auth_failed", "unauthorized", "missing_api_key"]);
const WORDS =
  /\b40[13]\b|not authenticated|auth required|please run `?codex login`?|missing api key|openai_api_key|unauthorized/i;
const LAST_WORDS = 5;

/** `error` is what ended the turn: a JSON-RPC error, or a tool's failure. */
export function isAuthError(error: JsonObject): boolean {
  const data = asObject(error["data"]);
  if (CODES.has(error["code"]) || CODES.has(data["code"])) return true;
  if (TYPES.has((asString(data["type"]) ?? "").toLowerCase())) return true;
  return WORDS.test(asString(error["message"]) ?? "");
}

/** `codex_error_info` of an `error` event: "unauthorized", or the HTTP status inside one of its kinds. */
export function isAuthInfo(info: unknown): boolean {
  if (info === "unauthorized") return true;
  return Object.values(asObject(info)).some((kind) => CODES.has(asObject(kind)["http_status_code"]));
}

export function hasAuthError(tail: readonly string[]): boolean {
  return tail.slice(-LAST_WORDS).some((line) => WORDS.test(line));
}
