// Turns what went wrong with a model into a sentence for people: what happened, where, and what to do. No key of ours
// leaves in it, and its length is bounded.
import { errnoOf, messageOf } from "../../base/coded-error.ts";
import { excerpt } from "../../base/excerpt.ts";
import { ProviderError, type ProviderFailure, type ProviderFailureKind } from "./types.ts";
import { kindOf, readErrorBody, type VendorError } from "./vendor-error.ts";

const MAX_MESSAGE_CHARS = 600;
const KEY_SHAPES =
  /\b(?:Bearer\s+\S{12,}|(?:sk|gsk|xai|pk|rk)-[\w*-]{8,}|AIza[\w-]{20,}|eyJ[\w-]{16,}(?:\.[\w-]*)*)/g;
const REQUEST_ID_HEADERS = ["x-request-id", "request-id", "apim-request-id", "x-ms-request-id", "cf-ray"];
const CERTIFICATE = /^(CERT_|SELF_SIGNED|UNABLE_TO_|DEPTH_ZERO|ERR_TLS|ERR_SSL)/;

/** The other side of a call, as failures tell of it. */
export interface Place {
  /** The key in the configuration. */
  key: string;
  url: string;
  model: string;
  /** The variable that the key comes from. */
  keyEnv?: string;
  /** What helps when it refuses us, where that is not a key. */
  authAdvice?: string;
  /** Never shown. */
  secrets: readonly string[];
}

/** An answer that is no success. */
export function answerFailure(
  place: Place,
  answer: { status: number; headers: Headers; text: string },
): ProviderFailure {
  // Before anything is cut: half a key is not known as one.
  const vendor = readErrorBody(redact(answer.text, place.secrets));
  const retryAfterMs = readRetryAfter(answer.headers, Date.now());
  const requestId = REQUEST_ID_HEADERS.map((name) => answer.headers.get(name)).find((id) => id !== null);
  return {
    ...vendorFailure(place, vendor, answer.status),
    ...(requestId === undefined || requestId === null
      ? {}
      : { requestId: excerpt(redact(requestId, place.secrets), 100) }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
}

/** What a vendor says is wrong: with a status, or inside of an answer that began well. */
export function vendorFailure(place: Place, vendor: VendorError, status?: number): ProviderFailure {
  const kind = kindOf(vendor, status);
  const shown = status ?? vendor.status;
  const said = vendor.message === "" ? "it gave no reason" : vendor.message;
  const what = `${nameOf(place)} ${HEADLINES[kind]}${shown === undefined ? "" : ` (status ${shown})`}: ${said}`;
  return {
    kind,
    message: told(place, what, adviceFor(kind, place)),
    ...(shown === undefined ? {} : { status: shown }),
  };
}

/** The other side could not be reached, or the connection broke. Keeps what was already understood. */
export function transportError(place: Place, error: unknown, signal: AbortSignal): ProviderError {
  if (signal.aborted) return abortedError();
  const known = findProviderError(error);
  if (known !== undefined) return known;
  const { code, reason } = rootOf(error);
  const what = `the connection to ${nameOf(place)} at ${originOf(place.url)} failed: ${reason}`;
  return new ProviderError(
    { kind: "network", message: told(place, what, networkAdvice(code, place)) },
    error,
  );
}

/** An answer that cannot be understood. */
export function protocolError(place: Place, what: string, cause?: unknown): ProviderError {
  const advice = "check that baseURL is an endpoint of this kind of provider";
  return new ProviderError(
    { kind: "protocol", message: told(place, `${nameOf(place)} ${what}`, advice) },
    cause,
  );
}

/** The connection ended, or went silent, before the answer did. */
export function brokenFailure(place: Place, what: string): ProviderFailure {
  return { kind: "network", message: told(place, `${nameOf(place)} ${what}`, "try again") };
}

export function abortedError(): ProviderError {
  return new ProviderError({ kind: "aborted", message: "the request was aborted" });
}

export function findProviderError(error: unknown): ProviderError | undefined {
  for (let depth = 0, at = error; depth < 5 && at instanceof Error; depth += 1, at = at.cause) {
    if (at instanceof ProviderError) return at;
  }
  return undefined;
}

/** The errno or undici code at the bottom of a failed fetch. */
export function networkCodeOf(error: unknown): string | undefined {
  return rootOf(error).code;
}

/** Seconds, a date, or the milliseconds that some vendors give. */
export function readRetryAfter(headers: Headers, nowMs: number): number | undefined {
  const ms = Number(headers.get("retry-after-ms") ?? Number.NaN);
  if (Number.isFinite(ms) && ms >= 0) return ms;
  const text = headers.get("retry-after")?.trim();
  if (text === undefined || text === "") return undefined;
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1000;
  // Date.parse makes a year out of "-5"; a date of HTTP begins with the day's name.
  const date = /^[A-Za-z]{3}/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - nowMs);
}

/** Vendors repeat what they were sent, the key as well. */
export function redact(text: string, secrets: readonly string[]): string {
  const hidden = secrets.reduce((shown, secret) => shown.replaceAll(secret, "[key]"), text);
  return hidden.replace(KEY_SHAPES, "[key]");
}

const HEADLINES: Readonly<Record<ProviderFailureKind, string>> = {
  auth: "refused the request",
  rate_limit: "says that there were too many requests",
  overloaded: "is overloaded",
  server: "failed",
  network: "broke off",
  bad_request: "refused the request",
  not_found: "does not know the model or the address",
  context_too_long: "says that the conversation is too long for the model",
  content_filter: "blocked this by its content filter",
  protocol: "gave an answer that cannot be understood",
  aborted: "was called off",
};

function adviceFor(kind: ProviderFailureKind, place: Place): string {
  if (kind === "auth") {
    if (place.authAdvice !== undefined) return place.authAdvice;
    const key =
      place.keyEnv === undefined ? `the key of providers.${place.key}` : `the key in ${place.keyEnv}`;
    return `check ${key}, and what its account may use`;
  }
  if (kind === "not_found") return `check the model "${place.model}" and the baseURL ${originOf(place.url)}`;
  if (kind === "context_too_long") return "use /compact, or lower context.main.maxContextTokens";
  if (kind === "content_filter") return "say it differently; no other provider is tried";
  if (kind === "bad_request") return `check the settings of providers.${place.key}`;
  return "try again later";
}

function networkAdvice(code: string | undefined, place: Place): string {
  if (code === "ECONNREFUSED") {
    return isLoopback(place.url) ? `is ${place.key} running?` : "nothing listens there; check the baseURL";
  }
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") return "check the host name and the network";
  if (code !== undefined && CERTIFICATE.test(code)) {
    return "its certificate is not trusted; NODE_EXTRA_CA_CERTS names a file with your own authority";
  }
  return "check the network, and try again";
}

function told(place: Place, what: string, advice: string): string {
  const clean = redact(what.replaceAll(/\s+/g, " "), place.secrets);
  return `${excerpt(clean, MAX_MESSAGE_CHARS).replace(/[.;\s]+$/, "")}; ${advice}`;
}

function nameOf({ key }: Place): string {
  return `the provider ${key}`;
}

export function isLoopback(url: string): boolean {
  const host = URL.canParse(url) ? new URL(url).hostname : "";
  return ["localhost", "[::1]", "0.0.0.0"].includes(host) || /^127(\.\d+){3}$|\.localhost$/.test(host);
}

function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : "its address";
}

/** fetch says only "fetch failed"; the reason is some causes down, or the first of several. */
function rootOf(error: unknown): { code?: string; reason: string } {
  let at = error;
  for (let depth = 0; depth < 8; depth += 1) {
    const below =
      at instanceof AggregateError ? at.errors[0] : (at as { cause?: unknown } | undefined)?.cause;
    if (!(below instanceof Error)) break;
    at = below;
  }
  const code = errnoOf(at);
  return { ...(code === undefined ? {} : { code }), reason: messageOf(at) || (code ?? "unknown") };
}
