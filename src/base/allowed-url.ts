// Which URLs the daemon may call: those below an entry of a list. Parsed URLs are compared, and the parsed URL is what gets
// called, so that two parsers cannot disagree.
import { CodedError } from "./coded-error.ts";

/** Sequences that a server may decode again and read as another path: encoded dots, slashes, backslashes, percents. */
const ENCODED_TRICKS = /%(2e|2f|5c|25|00)/i;
/** Some servers treat `..;` as `..`; the parser has resolved segments that are only dots. */
const DOTTED_SEGMENT = /\/\.\./;
/** Characters that the parser drops or changes (spaces, controls, backslashes), so that the text looks like another URL. */
const ODD_CHARACTERS = /[\p{Cc}\p{Z}\\]/u;

/** The URL to call. Throws `code` if it is invalid or not covered by the list. */
export function checkAllowedUrl(text: string, allowed: readonly URL[], code: string): URL {
  const url = parse(text, code);
  if (allowed.some((entry) => isBelow(url, entry))) return url;
  // Only origins: the caller may not be the author of the list, and paths can be secret.
  const grounds = [...new Set(allowed.map(getOrigin))].join(", ");
  const list = grounds === "" ? "which is empty" : `which has: ${grounds}`;
  throw new CodedError(code, `${getOrigin(url)} is not on the allow-list, ${list}`);
}

/** Parses an allow-list: each entry is an origin with a path prefix. */
export function parseAllowList(entries: readonly string[], code: string): URL[] {
  return entries.map((entry) => {
    const url = parse(entry, code);
    if (url.search === "") return url;
    throw new CodedError(
      code,
      `the entry ${getOrigin(url)} of the allow-list has a query; only the path is used, so remove the query`,
    );
  });
}

/** Enough to identify it; the rest can be secret. */
export function getOrigin(url: URL): string {
  return url.origin;
}

function parse(text: string, code: string): URL {
  const refuse = (why: string) => new CodedError(code, `the URL ${why}`);
  if (ODD_CHARACTERS.test(text))
    throw refuse("contains spaces, control characters or backslashes; encode them");
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined) throw refuse("is incomplete; it must start with https:// or http://");
  if (url.protocol !== "https:" && url.protocol !== "http:") {
    throw refuse(`has the scheme ${url.protocol}//; only https:// and http:// are supported`);
  }
  if (url.username !== "" || url.password !== "" || /^[a-z]+:\/*[^/?#]*@/i.test(text)) {
    throw refuse("contains a user name or password; put a secret into the path or query instead");
  }
  if (ENCODED_TRICKS.test(url.pathname)) {
    throw refuse("has an encoded dot, slash, backslash or percent sign in its path; write them unencoded");
  }
  if (DOTTED_SEGMENT.test(url.pathname)) throw refuse("has a path segment that starts with two dots");
  if (!isEncodedUtf8(url.pathname)) throw refuse("has an encoded path that is not UTF-8");
  url.hash = "";
  return url;
}

/** Invalid bytes such as %c0%ae are a dot or slash to a careless decoder. */
function isEncodedUtf8(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

/** At segment boundaries: /hooks allows /hooks and /hooks/a, but not /hooks-of-others. */
function isBelow(url: URL, entry: URL): boolean {
  if (url.origin !== entry.origin) return false;
  const path = entry.pathname;
  return url.pathname === path || url.pathname.startsWith(path.endsWith("/") ? path : `${path}/`);
}
