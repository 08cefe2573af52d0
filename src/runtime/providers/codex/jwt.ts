// Reads account and expiry from a JWT, without verifying it: the server does that.

import { isObject, type JsonObject, tryParseJson } from "../../../base/json.ts";
import { defined } from "../../../base/values.ts";

const AUTH_CLAIM = "https://api.openai.com/auth";
/** The largest valid Date, in seconds. */
const LAST_DATE_S = 8.64e12;

export interface Identity {
  accountId?: string;
  /** A government-cloud account; sent with each request. */
  isFedramp: boolean;
}

/** Undefined if it is not a JWT. */
export function readClaims(token: string): JsonObject | undefined {
  const parts = token.split(".");
  if (parts.length !== 3 || !parts[1]) return undefined;
  // Node accepts base64url without padding. Not JSON: an opaque token.
  const claims = tryParseJson(Buffer.from(parts[1], "base64url").toString("utf8"));
  return isObject(claims) ? claims : undefined;
}

/** Expiry in ms, if the token has one. */
export function readExpiry(token: string): number | undefined {
  const seconds = readClaims(token)?.["exp"];
  return typeof seconds === "number" && Math.abs(seconds) <= LAST_DATE_S ? seconds * 1000 : undefined;
}

/** The first token with an account id wins. */
export function readIdentity(tokens: readonly string[]): Identity {
  const auths = tokens.flatMap((token) => {
    const auth = readClaims(token)?.[AUTH_CLAIM];
    return isObject(auth) ? [auth] : [];
  });
  const accountId = auths.map((auth) => auth["chatgpt_account_id"]).find(isSendable);
  const isFedramp = auths.some((auth) => auth["chatgpt_account_is_fedramp"] === true);
  return { ...defined({ accountId }), isFedramp };
}

/** A string that is valid in a header. */
export function isSendable(value: unknown): value is string {
  return typeof value === "string" && /^[\x21-\x7e]+$/.test(value);
}
