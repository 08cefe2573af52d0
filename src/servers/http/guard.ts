// Access checks that need only the head of a request, before routing (docs/security.md).
import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { CodedError } from "../../base/coded-error.ts";
import type { Place } from "./types.ts";
import type { Access } from "./web/access.ts";

/** On every reply. No Access-Control headers: other origins have no access. */
export const SECURITY_HEADERS = {
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "cache-control": "no-store",
  "referrer-policy": "no-referrer",
} as const;

const LOOPBACK = ["127.0.0.1", "localhost", "[::1]"];
const UNIX_HOST = /^(?:(?:127\.0\.0\.1|localhost|\[::1\])(?::\d{1,5})?|blemeesd)$/;
const JSON_TYPE = /^application\/json\s*(?:;\s*charset="?utf-8"?\s*)?$/i;
const BEARER = /^Bearer +([\w.~+/-]+=*)$/i;
/** Headers that must be unambiguous. */
const SINGLE = ["host", "origin", "authorization", "content-type", "idempotency-key", "x-blemees-session"];
/** Methods that change something. */
const CHANGING = new Set(["POST", "PATCH", "DELETE"]);

export type Head = Pick<IncomingMessage, "method" | "url" | "headers" | "headersDistinct">;

/** Returns the current token, or undefined if there is none. Called only for requests that have one. */
export type TokenSource = () => string | undefined;

/** Why the request is refused, or undefined. */
export function findRefusal(
  head: Head,
  place: Place,
  token: TokenSource,
  access: Access,
): CodedError | undefined {
  return (
    checkHost(head, place) ??
    checkOrigin(head, place, access) ??
    (access === "token" ? checkToken(head, place, token) : undefined) ??
    checkType(head)
  );
}

/** The token of `Authorization: Bearer`. */
export function readBearer({ authorization }: IncomingMessage["headers"]): string | undefined {
  return BEARER.exec(authorization ?? "")?.[1];
}

function checkHost({ url, headers, headersDistinct }: Head, place: Place): CodedError | undefined {
  const twice = SINGLE.find((name) => (headersDistinct[name]?.length ?? 0) > 1);
  if (twice !== undefined) return new CodedError("forbidden", `duplicate header: ${twice}`);
  if (url?.startsWith("/") !== true) {
    return new CodedError("forbidden", "the request target must be a path that starts with /");
  }
  const host = headers.host?.toLowerCase() ?? "";
  if (place.kind === "unix" ? UNIX_HOST.test(host) : isOwnHost(host, place.port)) return undefined;
  const wanted = place.kind === "unix" ? "localhost" : `127.0.0.1:${place.port}`;
  return new CodedError("forbidden", `the Host header is not allowed; use ${wanted}`);
}

/** Browsers send the origin of a page; other programs send nothing. */
function checkOrigin({ headers }: Head, place: Place, access: Access): CodedError | undefined {
  const { origin } = headers;
  const site = headers["sec-fetch-site"];
  const isForeign = site === "cross-site" || site === "same-site";
  if (isForeign && !(access === "page" && isVisit(headers))) {
    return new CodedError("forbidden", "requests from other sites are not allowed");
  }
  if (origin === undefined) return undefined;
  const [, host] = /^http:\/\/(.+)$/.exec(origin) ?? [];
  const isOwn =
    host !== undefined && (place.kind === "unix" ? host === headers.host : isOwnHost(host, place.port));
  return isOwn ? undefined : new CodedError("forbidden", "the Origin header is not allowed");
}

/** The user follows a link to the dashboard; not a frame or script of another page. */
function isVisit(headers: Head["headers"]): boolean {
  return headers["sec-fetch-mode"] === "navigate" && headers["sec-fetch-dest"] === "document";
}

/** The permissions of the Unix socket already protect it: there a token is checked only if one is sent. */
function checkToken({ headers }: Head, place: Place, token: TokenSource): CodedError | undefined {
  const { authorization } = headers;
  if (authorization === undefined && place.kind === "unix") return undefined;
  const given = readBearer(headers);
  const right = given === undefined ? undefined : token();
  if (given !== undefined && right !== undefined && isSame(given, right)) return undefined;
  const what = authorization === undefined ? "is missing" : "is wrong";
  return new CodedError("unauthorized", `the bearer token ${what}; send Authorization: Bearer <token>`);
}

/** Another site's page can make a browser send a form or plain text, but not JSON without a preflight request. */
function checkType({ method, headers }: Head): CodedError | undefined {
  if (method === undefined || !CHANGING.has(method)) return undefined;
  const type = headers["content-type"];
  const hasBody = headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
  if (type === undefined && method === "DELETE" && !hasBody) return undefined;
  const encoding = headers["content-encoding"] ?? "identity";
  if (type !== undefined && JSON_TYPE.test(type) && encoding === "identity") return undefined;
  const rule = `${method} requires the header Content-Type: application/json, even without a body`;
  return new CodedError(
    "unsupported_media_type",
    encoding === "identity" ? rule : "Content-Encoding is not supported",
  );
}

function isOwnHost(host: string, port: number): boolean {
  return LOOPBACK.some((name) => host === `${name}:${port}`);
}

/** In constant time, for any lengths. */
function isSame(given: string, token: string): boolean {
  return timingSafeEqual(digest(given), digest(token));
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
