// Codex's stored login (auth.json, or the same text in a keyring), as of Codex 0.166.0. Unknown fields are preserved.

import { CodedError } from "../../../base/coded-error.ts";
import { isObject, type JsonObject } from "../../../base/json.ts";
import { asObject, defined } from "../../../base/values.ts";
import { isSendable, readExpiry, readIdentity } from "./jwt.ts";

export interface Login {
  accessToken: string;
  refreshToken?: string;
  idToken?: string;
  accountId?: string;
  isFedramp: boolean;
  /** Absent if the token has no expiry. */
  expiresAtMs?: number;
  /** The stored object. */
  whole: JsonObject;
}

export type Stored = { login: Login } | { apiKey: string };

/** Result of a renewal; absent tokens keep their old value. */
export interface NewTokens {
  accessToken: string;
  refreshToken?: string;
  idToken?: string;
}

/** Undefined if there is no login. Throws `bad_login`; the message never quotes the text. */
export function readAuthJson(text: string, where: string): Stored | undefined {
  let whole: unknown;
  try {
    whole = JSON.parse(text);
  } catch {
    // The parser's message would quote the text, which is secret.
    throw createLoginError(where, "is not valid JSON");
  }
  if (!isObject(whole)) throw createLoginError(where, "is not a JSON object");
  const login = readLogin(whole);
  if (login !== undefined) return { login };
  const apiKey = asSendable(whole["OPENAI_API_KEY"]);
  if (apiKey !== undefined) return { apiKey };
  for (const other of ["personal_access_token", "agent_identity", "bedrock_api_key"]) {
    if (whole[other] !== undefined && whole[other] !== null) {
      throw createLoginError(where, `contains a type of login that demian does not support (${other})`);
    }
  }
  return undefined;
}

/** The renewed login, ready to be stored. exchange.ts has checked the tokens. */
export function applyTokens(login: Login, tokens: NewTokens, now: Date): Login {
  const before = asObject(login.whole["tokens"]);
  const whole = {
    ...login.whole,
    tokens: {
      ...before,
      access_token: tokens.accessToken,
      ...defined({ refresh_token: tokens.refreshToken, id_token: tokens.idToken }),
    },
    last_refresh: now.toISOString(),
  };
  return readLogin(whole) ?? login;
}

export function listSecrets({ accessToken, refreshToken, idToken }: Login): string[] {
  return [accessToken, refreshToken, idToken].filter((token) => token !== undefined);
}

function readLogin(whole: JsonObject): Login | undefined {
  const tokens = asObject(whole["tokens"]);
  const accessToken = asSendable(tokens["access_token"]);
  if (accessToken === undefined) return undefined;
  const refreshToken = asSendable(tokens["refresh_token"]);
  const idToken = asSendable(tokens["id_token"]);
  const { accountId: claimed, isFedramp } = readIdentity([...(idToken ? [idToken] : []), accessToken]);
  const accountId = asSendable(tokens["account_id"]) ?? claimed;
  const expiresAtMs = readExpiry(accessToken);
  return {
    accessToken,
    ...defined({ refreshToken, idToken, accountId }),
    isFedramp,
    ...defined({ expiresAtMs }),
    whole,
  };
}

function asSendable(value: unknown): string | undefined {
  return isSendable(value) ? value : undefined;
}

function createLoginError(where: string, what: string): CodedError {
  return new CodedError("bad_login", `${where} ${what}; log in again with \`codex login\``);
}
