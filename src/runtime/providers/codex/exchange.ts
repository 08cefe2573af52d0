// Exchanges a refresh token for new tokens, and classifies refusals.

import { isObject, tryParseJson } from "../../../base/json.ts";
import { defined } from "../../../base/values.ts";
import { readStart } from "../chunks.ts";
import { answerFailure, type Endpoint, transportError } from "../failure.ts";
import { type Fetch, guardFetch } from "../guarded-fetch.ts";
import { ProviderError } from "../types.ts";
import type { NewTokens } from "./auth-json.ts";
import { isSendable } from "./jwt.ts";

const REFRESH_FAULTS = [
  "refresh_token_expired",
  "refresh_token_invalidated",
  "refresh_token_reused",
  "other",
] as const;
export type RefreshFault = (typeof REFRESH_FAULTS)[number];

export interface ExchangeOptions {
  endpoint: Endpoint;
  clientId: string;
  refreshToken: string;
  fetch: Fetch | undefined;
  signal: AbortSignal;
}

/** The token was refused permanently; the user has to log in again. */
export class RefreshRefused extends Error {
  readonly fault: RefreshFault;

  constructor(fault: RefreshFault) {
    super(fault);
    this.name = "RefreshRefused";
    this.fault = fault;
  }
}

const MAX_ANSWER_CHARS = 256 * 1024;
const IDLE_TIMEOUT_MS = 30_000;

/** Throws `RefreshRefused`, or `ProviderError` for other failures. */
export async function exchangeTokens(options: ExchangeOptions): Promise<NewTokens> {
  const { endpoint, clientId, refreshToken, signal } = options;
  const send = guardFetch({ fetch: options.fetch, endpoint, idleTimeoutMs: IDLE_TIMEOUT_MS });
  const body = JSON.stringify({
    client_id: clientId,
    grant_type: "refresh_token",
    refresh_token: refreshToken,
  });
  const headers = { "content-type": "application/json", originator: "demian", "user-agent": "demian" };
  const response = await send(endpoint.url, { method: "POST", headers, body, signal }).catch(
    (error: unknown) => {
      throw transportError(endpoint, error, signal);
    },
  );
  const text = await readStart(response.body, MAX_ANSWER_CHARS);
  if (response.ok) return readTokens(text, endpoint);
  const fault = classifyRefusal(response.status, text);
  if (fault !== undefined) throw new RefreshRefused(fault);
  throw new ProviderError(
    answerFailure(endpoint, { status: response.status, headers: response.headers, text }),
  );
}

/** Undefined if the failure is not about the token. */
function classifyRefusal(status: number, text: string): RefreshFault | undefined {
  const code = readErrorCode(text);
  const known = REFRESH_FAULTS.find((fault) => fault === code);
  if (status === 401) return known ?? "other";
  // OAuth reports an invalid token as 400.
  if (status === 400 && (known !== undefined || code === "invalid_grant")) return known ?? "other";
  return undefined;
}

function readTokens(text: string, endpoint: Endpoint): NewTokens {
  const body = tryParseJson(text);
  const field = (name: string) => (isObject(body) && isSendable(body[name]) ? body[name] : undefined);
  const accessToken = field("access_token");
  if (accessToken === undefined) {
    const text = `the provider ${endpoint.key} renewed the login but returned no access token; check providers.${endpoint.key}.refresh.url`;
    throw new ProviderError({ kind: "protocol", message: text });
  }
  const refreshToken = field("refresh_token");
  const idToken = field("id_token");
  return {
    accessToken,
    ...defined({ refreshToken, idToken }),
  };
}

/** `{error: {code}}`, `{error: "code"}` or `{code}`. */
function readErrorCode(text: string): string | undefined {
  const body = tryParseJson(text);
  if (!isObject(body)) return undefined;
  const { error } = body;
  const code = isObject(error) ? error["code"] : (error ?? body["code"]);
  return typeof code === "string" ? code.toLowerCase() : undefined;
}
