// What a token says of itself. Nothing is verified: the server is the judge, we only want to know whose it is and until
// when it lasts.
import { isObject, type JsonObject } from "../../../base/json.ts";

const AUTH_CLAIM = "https://api.openai.com/auth";
/** Behind it there are no dates. */
const LAST_DATE_S = 8.64e12;

export interface Identity {
  accountId?: string;
  /** The account lives with the government's cloud, and requests have to say so. */
  isFedramp: boolean;
}

/** Undefined: it is no JWT. */
export function claimsOf(token: string): JsonObject | undefined {
  const parts = token.split(".");
  if (parts.length !== 3 || !parts[1]) return undefined;
  try {
    // Node restores the padding that base64url leaves out.
    const claims: unknown = JSON.parse(Buffer.from(parts[1], "base64url").toString("utf8"));
    return isObject(claims) ? claims : undefined;
  } catch {
    return undefined; // A token may be anything that the server understands.
  }
}

/** When it ends; undefined: it does not say. */
export function expiryOf(token: string): number | undefined {
  const seconds = claimsOf(token)?.["exp"];
  return typeof seconds === "number" && Math.abs(seconds) <= LAST_DATE_S ? seconds * 1000 : undefined;
}

/** The first token that says something wins. */
export function identityOf(tokens: readonly string[]): Identity {
  const auths = tokens.flatMap((token) => {
    const auth = claimsOf(token)?.[AUTH_CLAIM];
    return isObject(auth) ? [auth] : [];
  });
  const accountId = auths.map((auth) => auth["chatgpt_account_id"]).find(isSendable);
  const isFedramp = auths.some((auth) => auth["chatgpt_account_is_fedramp"] === true);
  return { ...(accountId === undefined ? {} : { accountId }), isFedramp };
}

/** Only what a header can carry. */
export function isSendable(value: unknown): value is string {
  return typeof value === "string" && /^[\x21-\x7e]+$/.test(value);
}
