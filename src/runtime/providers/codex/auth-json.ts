// The login of Codex as it stores it (auth.json, or the same text in a keyring), measured with 0.166.0. What we do not know
// stays in it when it is written back.
import { CodedError } from "../../../base/coded-error.ts";
import { isObject, type JsonObject } from "../../../base/json.ts";
import { expiryOf, identityOf, isSendable } from "./jwt.ts";

export interface Login {
  accessToken: string;
  refreshToken?: string;
  idToken?: string;
  accountId?: string;
  isFedramp: boolean;
  /** Undefined: the token does not say. */
  expiresAtMs?: number;
  /** Everything that was stored. */
  whole: JsonObject;
}

export type Stored = { login: Login } | { apiKey: string };

/** What a renewal may bring; what it leaves out stays. */
export interface NewTokens {
  accessToken: string;
  refreshToken?: string;
  idToken?: string;
}

/** Undefined: nobody is logged in. Throws `bad_login`, whose message holds nothing of the text. */
export function readAuthJson(text: string, where: string): Stored | undefined {
  let whole: unknown;
  try {
    whole = JSON.parse(text);
  } catch {
    // Its message would quote the text, and that is a secret.
    throw badLogin(where, "is no JSON");
  }
  if (!isObject(whole)) throw badLogin(where, "is no JSON object");
  const login = loginOf(whole);
  if (login !== undefined) return { login };
  const apiKey = textOf(whole["OPENAI_API_KEY"]);
  if (apiKey !== undefined) return { apiKey };
  for (const other of ["personal_access_token", "agent_identity", "bedrock_api_key"]) {
    if (whole[other] !== undefined && whole[other] !== null) {
      throw badLogin(where, `holds a login of a kind that demian cannot use (${other})`);
    }
  }
  return undefined;
}

/** The login as it is after a renewal, and as it is to be stored. The tokens can be sent (exchange.ts). */
export function renewedLogin(login: Login, tokens: NewTokens, now: Date): Login {
  const before = isObject(login.whole["tokens"]) ? login.whole["tokens"] : {};
  const whole = {
    ...login.whole,
    tokens: {
      ...before,
      access_token: tokens.accessToken,
      ...(tokens.refreshToken === undefined ? {} : { refresh_token: tokens.refreshToken }),
      ...(tokens.idToken === undefined ? {} : { id_token: tokens.idToken }),
    },
    last_refresh: now.toISOString(),
  };
  return loginOf(whole) ?? login;
}

export function secretsIn({ accessToken, refreshToken, idToken }: Login): string[] {
  return [accessToken, refreshToken, idToken].filter((token) => token !== undefined);
}

function loginOf(whole: JsonObject): Login | undefined {
  const tokens = isObject(whole["tokens"]) ? whole["tokens"] : {};
  const accessToken = textOf(tokens["access_token"]);
  if (accessToken === undefined) return undefined;
  const refreshToken = textOf(tokens["refresh_token"]);
  const idToken = textOf(tokens["id_token"]);
  const { accountId: claimed, isFedramp } = identityOf([...(idToken ? [idToken] : []), accessToken]);
  const accountId = textOf(tokens["account_id"]) ?? claimed;
  const expiresAtMs = expiryOf(accessToken);
  return {
    accessToken,
    ...(refreshToken === undefined ? {} : { refreshToken }),
    ...(idToken === undefined ? {} : { idToken }),
    ...(accountId === undefined ? {} : { accountId }),
    isFedramp,
    ...(expiresAtMs === undefined ? {} : { expiresAtMs }),
    whole,
  };
}

function textOf(value: unknown): string | undefined {
  return isSendable(value) ? value : undefined;
}

function badLogin(where: string, what: string): CodedError {
  return new CodedError("bad_login", `${where} ${what}; log in again with \`codex login\``);
}
