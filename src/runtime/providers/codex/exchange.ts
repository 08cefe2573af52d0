// One renewal of the login: the question to the vendor, and what its refusal means.
import { isObject } from "../../../base/json.ts";
import { readStart } from "../chunks.ts";
import { answerFailure, type Place, transportError } from "../failure.ts";
import { type Fetch, guardFetch } from "../guarded-fetch.ts";
import { ProviderError } from "../types.ts";
import { jsonIn } from "../vendor-error.ts";
import type { NewTokens } from "./auth-json.ts";
import { isSendable } from "./jwt.ts";

const REFRESH_FAULTS = [
  "refresh_token_expired",
  "refresh_token_invalidated",
  "refresh_token_reused",
  "other",
] as const;
export type RefreshFault = (typeof REFRESH_FAULTS)[number];

export interface ExchangeOrder {
  place: Place;
  clientId: string;
  refreshToken: string;
  fetch: Fetch | undefined;
  signal: AbortSignal;
}

/** The token was refused, for good: only a new login helps. */
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

/** Throws `RefreshRefused`, and `ProviderError` for what may pass. */
export async function exchangeTokens(order: ExchangeOrder): Promise<NewTokens> {
  const { place, clientId, refreshToken, signal } = order;
  const send = guardFetch({ fetch: order.fetch, place, idleTimeoutMs: IDLE_TIMEOUT_MS });
  const body = JSON.stringify({
    client_id: clientId,
    grant_type: "refresh_token",
    refresh_token: refreshToken,
  });
  const headers = { "content-type": "application/json", originator: "demian", "user-agent": "demian" };
  const response = await send(place.url, { method: "POST", headers, body, signal }).catch(
    (error: unknown) => {
      throw transportError(place, error, signal);
    },
  );
  const text = await readStart(response.body, MAX_ANSWER_CHARS);
  if (response.ok) return readTokens(text, place);
  const fault = classifyRefusal(response.status, text);
  if (fault !== undefined) throw new RefreshRefused(fault);
  throw new ProviderError(answerFailure(place, { status: response.status, headers: response.headers, text }));
}

/** Undefined: it is no refusal of the token. */
function classifyRefusal(status: number, text: string): RefreshFault | undefined {
  const code = codeOf(text);
  const known = REFRESH_FAULTS.find((fault) => fault === code);
  if (status === 401) return known ?? "other";
  // As OAuth has it: a token that does not count any more is a bad request.
  if (status === 400 && (known !== undefined || code === "invalid_grant")) return known ?? "other";
  return undefined;
}

function readTokens(text: string, place: Place): NewTokens {
  const body = jsonIn(text);
  const field = (name: string) => (isObject(body) && isSendable(body[name]) ? body[name] : undefined);
  const accessToken = field("access_token");
  if (accessToken === undefined) {
    const text = `the provider ${place.key} was to renew the login and answered without an access token; check providers.${place.key}.refresh.url`;
    throw new ProviderError({ kind: "protocol", message: text });
  }
  const refreshToken = field("refresh_token");
  const idToken = field("id_token");
  return {
    accessToken,
    ...(refreshToken === undefined ? {} : { refreshToken }),
    ...(idToken === undefined ? {} : { idToken }),
  };
}

/** `{error: {code}}`, `{error: "code"}` or `{code}`. */
function codeOf(text: string): string | undefined {
  const body = jsonIn(text);
  if (!isObject(body)) return undefined;
  const { error } = body;
  const code = isObject(error) ? error["code"] : (error ?? body["code"]);
  return typeof code === "string" ? code.toLowerCase() : undefined;
}
