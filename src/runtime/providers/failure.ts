// Describes provider failures for users: what happened, where, and what to do. Messages are bounded and redacted.

import { readErrno, toMessage } from "../../base/coded-error.ts";
import { cutExcerpt } from "../../base/excerpt.ts";
import { defined } from "../../base/values.ts";
import { ProviderError, type ProviderFailure, type ProviderFailureKind } from "./types.ts";
import { classifyError, readErrorBody, type VendorError } from "./vendor-error.ts";

const MAX_MESSAGE_CHARS = 600;
const KEY_SHAPES =
  /\b(?:Bearer\s+\S{12,}|(?:sk|gsk|xai|pk|rk)-[\w*-]{8,}|AIza[\w-]{20,}|eyJ[\w-]{16,}(?:\.[\w-]*)*)/g;
const REQUEST_ID_HEADERS = ["x-request-id", "request-id", "apim-request-id", "x-ms-request-id", "cf-ray"];
const CERTIFICATE = /^(CERT_|SELF_SIGNED|UNABLE_TO_|DEPTH_ZERO|ERR_TLS|ERR_SSL)/;

/** Where a request goes, for error messages. */
export interface Endpoint {
  /** The provider's key in the configuration. */
  key: string;
  url: string;
  model: string;
  /** The variable that holds the API key. */
  keyEnv?: string;
  /** Advice for authentication errors, if no API key is used. */
  authAdvice?: string;
  /** Redacted from every message. */
  secrets: readonly string[];
}

/** A response with an error status. */
export function answerFailure(
  endpoint: Endpoint,
  answer: { status: number; headers: Headers; text: string },
): ProviderFailure {
  // Redact before truncating: a truncated key is not recognized.
  const vendor = readErrorBody(redact(answer.text, endpoint.secrets));
  const retryAfterMs = readRetryAfter(answer.headers, Date.now());
  const requestId = REQUEST_ID_HEADERS.map((name) => answer.headers.get(name)).find((id) => id !== null);
  return {
    ...vendorFailure(endpoint, vendor, answer.status),
    ...(requestId === undefined || requestId === null
      ? {}
      : { requestId: cutExcerpt(redact(requestId, endpoint.secrets), 100) }),
    ...defined({ retryAfterMs }),
  };
}

/** An error reported by the vendor, with a status or in the middle of a stream. */
export function vendorFailure(endpoint: Endpoint, vendor: VendorError, status?: number): ProviderFailure {
  const kind = classifyError(vendor, status);
  const shown = status ?? vendor.status;
  const said = vendor.message === "" ? "no reason given" : vendor.message;
  const what = `${describeProvider(endpoint)} ${HEADLINES[kind]}${shown === undefined ? "" : ` (status ${shown})`}: ${said}`;
  return {
    kind,
    message: formatMessage(endpoint, what, chooseAdvice(kind, endpoint)),
    ...defined({ status: shown }),
  };
}

/** The server cannot be reached, or the connection broke. A `ProviderError` among the causes is kept. */
export function transportError(endpoint: Endpoint, error: unknown, signal: AbortSignal): ProviderError {
  if (signal.aborted) return abortedError();
  const known = findProviderError(error);
  if (known !== undefined) return known;
  const { code, reason } = findRootCause(error);
  const what = `the connection to ${describeProvider(endpoint)} at ${getOrigin(endpoint.url)} failed: ${reason}`;
  return new ProviderError(
    { kind: "network", message: formatMessage(endpoint, what, chooseNetworkAdvice(code, endpoint)) },
    error,
  );
}

/** A response that does not follow the protocol. */
export function protocolError(endpoint: Endpoint, what: string, cause?: unknown): ProviderError {
  const advice = "check that baseURL points to this type of provider";
  return new ProviderError(
    { kind: "protocol", message: formatMessage(endpoint, `${describeProvider(endpoint)} ${what}`, advice) },
    cause,
  );
}

/** The connection ended, or went silent, before the answer was complete. */
export function brokenFailure(endpoint: Endpoint, what: string): ProviderFailure {
  return {
    kind: "network",
    message: formatMessage(endpoint, `${describeProvider(endpoint)} ${what}`, "try again"),
  };
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

/** The errno or undici code of a failed fetch. */
export function findNetworkCode(error: unknown): string | undefined {
  return findRootCause(error).code;
}

/** Reads seconds, a date, or the milliseconds that some vendors send. */
export function readRetryAfter(headers: Headers, nowMs: number): number | undefined {
  const ms = Number(headers.get("retry-after-ms") ?? Number.NaN);
  if (Number.isFinite(ms) && ms >= 0) return ms;
  const text = headers.get("retry-after")?.trim();
  if (text === undefined || text === "") return undefined;
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1000;
  // Date.parse reads "-5" as a year; an HTTP date starts with the name of the day.
  const date = /^[A-Za-z]{3}/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - nowMs);
}

/** Removes keys: vendors may echo a request in their errors. */
export function redact(text: string, secrets: readonly string[]): string {
  const hidden = secrets.reduce((shown, secret) => shown.replaceAll(secret, "[key]"), text);
  return hidden.replace(KEY_SHAPES, "[key]");
}

const HEADLINES: Readonly<Record<ProviderFailureKind, string>> = {
  auth: "refused the request",
  rate_limit: "reports too many requests",
  overloaded: "is overloaded",
  server: "failed",
  network: "closed the connection",
  bad_request: "rejected the request",
  not_found: "does not know the model or URL",
  context_too_long: "reports that the conversation exceeds the context window",
  content_filter: "blocked this with its content filter",
  protocol: "sent an invalid response",
  aborted: "was aborted",
};

function chooseAdvice(kind: ProviderFailureKind, endpoint: Endpoint): string {
  if (kind === "auth") {
    if (endpoint.authAdvice !== undefined) return endpoint.authAdvice;
    const key =
      endpoint.keyEnv === undefined
        ? `the key of providers.${endpoint.key}`
        : `the key in ${endpoint.keyEnv}`;
    return `check ${key} and the permissions of its account`;
  }
  if (kind === "not_found")
    return `check the model "${endpoint.model}" and the baseURL ${getOrigin(endpoint.url)}`;
  if (kind === "context_too_long") return "use /compact, or lower context.main.maxContextTokens";
  if (kind === "content_filter") return "rephrase the request; no other provider is tried";
  if (kind === "bad_request") return `check the settings of providers.${endpoint.key}`;
  return "try again later";
}

function chooseNetworkAdvice(code: string | undefined, endpoint: Endpoint): string {
  if (code === "ECONNREFUSED") {
    return isLoopback(endpoint.url)
      ? `is ${endpoint.key} running?`
      : "nothing is listening there; check the baseURL";
  }
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") return "check the host name and the network";
  if (code !== undefined && CERTIFICATE.test(code)) {
    return "its certificate is not trusted; set NODE_EXTRA_CA_CERTS to the file of your certificate authority";
  }
  return "check the network and try again";
}

function formatMessage(endpoint: Endpoint, what: string, advice: string): string {
  const clean = redact(what.replaceAll(/\s+/g, " "), endpoint.secrets);
  return `${cutExcerpt(clean, MAX_MESSAGE_CHARS).replace(/[.;\s]+$/, "")}; ${advice}`;
}

function describeProvider({ key }: Endpoint): string {
  return `the provider ${key}`;
}

export function isLoopback(url: string): boolean {
  const host = URL.canParse(url) ? new URL(url).hostname : "";
  return ["localhost", "[::1]", "0.0.0.0"].includes(host) || /^127(\.\d+){3}$|\.localhost$/.test(host);
}

function getOrigin(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : "its address";
}

/** fetch reports only "fetch failed"; the reason is in a nested cause, or the first of several errors. */
function findRootCause(error: unknown): { code?: string; reason: string } {
  let at = error;
  for (let depth = 0; depth < 8; depth += 1) {
    const below =
      at instanceof AggregateError ? at.errors[0] : (at as { cause?: unknown } | undefined)?.cause;
    if (!(below instanceof Error)) break;
    at = below;
  }
  const code = readErrno(at);
  return { ...defined({ code }), reason: toMessage(at) || (code ?? "unknown") };
}
