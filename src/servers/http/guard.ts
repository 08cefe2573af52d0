// Who may ask at all, decided from the head of a request before any route is looked up (docs/security.md).
import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { CodedError } from "../../base/coded-error.ts";
import type { Place } from "./types.ts";
import type { Access } from "./web/access.ts";

/** On every reply. Nothing is ever allowed to other origins: there is no Access-Control header. */
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
/** Headers that decide something here: said twice, nobody knows which one counts. */
const SINGLE = ["host", "origin", "authorization", "content-type", "idempotency-key", "x-blemees-session"];
/** The methods with which something can be changed. */
const CHANGING = new Set(["POST", "PATCH", "DELETE"]);

export type Head = Pick<IncomingMessage, "method" | "url" | "headers" | "headersDistinct">;

/** The token that is right now; undefined where there is none. Asked only when a request has one. */
export type TokenSource = () => string | undefined;

/** Why this request is refused; undefined when it may go on. */
export function findRefusal(
  head: Head,
  place: Place,
  token: TokenSource,
  access: Access,
): CodedError | undefined {
  return (
    wrongHost(head, place) ??
    wrongOrigin(head, place, access) ??
    (access === "token" ? wrongToken(head, place, token) : undefined) ??
    wrongType(head)
  );
}

/** What stands behind `Authorization: Bearer`. */
export function bearerOf({ authorization }: IncomingMessage["headers"]): string | undefined {
  return BEARER.exec(authorization ?? "")?.[1];
}

function wrongHost({ url, headers, headersDistinct }: Head, place: Place): CodedError | undefined {
  const twice = SINGLE.find((name) => (headersDistinct[name]?.length ?? 0) > 1);
  if (twice !== undefined) return new CodedError("forbidden", `the header ${twice} stands there twice`);
  if (url?.startsWith("/") !== true) {
    return new CodedError("forbidden", "the request line must name a path that starts with /");
  }
  const host = headers.host?.toLowerCase() ?? "";
  if (place.kind === "unix" ? UNIX_HOST.test(host) : isOwnHost(host, place.port)) return undefined;
  const wanted = place.kind === "unix" ? "localhost" : `127.0.0.1:${place.port}`;
  return new CodedError("forbidden", `the Host header is not ours; use ${wanted}`);
}

/** A browser says where a page came from; other programs say nothing. */
function wrongOrigin({ headers }: Head, place: Place, access: Access): CodedError | undefined {
  const { origin } = headers;
  const site = headers["sec-fetch-site"];
  const isForeign = site === "cross-site" || site === "same-site";
  if (isForeign && !(access === "page" && isVisit(headers))) {
    return new CodedError("forbidden", "requests of other sites' pages are refused");
  }
  if (origin === undefined) return undefined;
  const [, host] = /^http:\/\/(.+)$/.exec(origin) ?? [];
  const isOwn =
    host !== undefined && (place.kind === "unix" ? host === headers.host : isOwnHost(host, place.port));
  return isOwn ? undefined : new CodedError("forbidden", "the Origin header is not ours");
}

/** A person follows a link to the dashboard; not a frame of another page, and not its script. */
function isVisit(headers: Head["headers"]): boolean {
  return headers["sec-fetch-mode"] === "navigate" && headers["sec-fetch-dest"] === "document";
}

/** The file of the Unix socket is a guard by itself: there a token is checked only if one is given. */
function wrongToken({ headers }: Head, place: Place, token: TokenSource): CodedError | undefined {
  const { authorization } = headers;
  if (authorization === undefined && place.kind === "unix") return undefined;
  const given = bearerOf(headers);
  const right = given === undefined ? undefined : token();
  if (given !== undefined && right !== undefined && isSame(given, right)) return undefined;
  const what = authorization === undefined ? "is missing" : "is wrong";
  return new CodedError("unauthorized", `the bearer token ${what}; send Authorization: Bearer <token>`);
}

/** A page of another site can make a browser send a form or plain text, but not JSON without asking us first. */
function wrongType({ method, headers }: Head): CodedError | undefined {
  if (method === undefined || !CHANGING.has(method)) return undefined;
  const type = headers["content-type"];
  const hasBody = headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
  if (type === undefined && method === "DELETE" && !hasBody) return undefined;
  const encoding = headers["content-encoding"] ?? "identity";
  if (type !== undefined && JSON_TYPE.test(type) && encoding === "identity") return undefined;
  const rule = `${method} needs the header Content-Type: application/json, also without a body`;
  return new CodedError("unsupported_media_type", encoding === "identity" ? rule : "no Content-Encoding");
}

function isOwnHost(host: string, port: number): boolean {
  return LOOPBACK.some((name) => host === `${name}:${port}`);
}

/** In constant time: equal digests, whatever the lengths. */
function isSame(given: string, token: string): boolean {
  return timingSafeEqual(digest(given), digest(token));
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
