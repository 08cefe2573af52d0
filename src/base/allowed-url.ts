// Which URLs the daemon may call: those below an entry of a list. Compared are parsed URLs, and what is called is the
// parsed one, so no two parsers can disagree about a trick in the text.
import { CodedError } from "./coded-error.ts";

/** What a server may decode once more, and so read as another path: encoded dots, slashes, backslashes, percents. */
const ENCODED_TRICKS = /%(2e|2f|5c|25|00)/i;
/** Some servers take `..;` for `..`; the parser has resolved those that are nothing but dots. */
const DOTTED_SEGMENT = /\/\.\./;
/** The parser drops or turns these (blanks, controls, backslashes), so a reader sees another URL than it does. */
const ODD_CHARACTERS = /[\p{Cc}\p{Z}\\]/u;

/** The URL to call. Throws `code` when it is none, or on no list entry's ground. */
export function allowedUrl(text: string, allowed: readonly URL[], code: string): URL {
  const url = parse(text, code);
  if (allowed.some((entry) => isBelow(url, entry))) return url;
  // Only where, not what: who is refused need not be who wrote the list, and a path on it can be a secret.
  const grounds = [...new Set(allowed.map(place))].join(", ");
  const list = grounds === "" ? "which is empty" : `which has: ${grounds}`;
  throw new CodedError(code, `${place(url)} is not on the allow-list, ${list}`);
}

/** The entries of an allow-list: an origin and the beginning of a path. */
export function parseAllowList(entries: readonly string[], code: string): URL[] {
  return entries.map((entry) => {
    const url = parse(entry, code);
    if (url.search === "") return url;
    throw new CodedError(
      code,
      `the entry ${place(url)} of the allow-list has a query; only its path counts, leave it out`,
    );
  });
}

/** Enough to recognise it; the rest can be a secret. */
export function place(url: URL): string {
  return url.origin;
}

function parse(text: string, code: string): URL {
  const refuse = (why: string) => new CodedError(code, `the URL ${why}`);
  if (ODD_CHARACTERS.test(text))
    throw refuse("has blanks, control characters or backslashes; write it as it is called");
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined) throw refuse("is not a complete one; it begins with https:// or http://");
  if (url.protocol !== "https:" && url.protocol !== "http:") {
    throw refuse(`has the scheme ${url.protocol}//; only https:// and http:// are called`);
  }
  if (url.username !== "" || url.password !== "" || /^[a-z]+:\/*[^/?#]*@/i.test(text)) {
    throw refuse("has a user or password in it; send a secret in the path or query, or none at all");
  }
  if (ENCODED_TRICKS.test(url.pathname)) {
    throw refuse("has an encoded dot, slash, backslash or percent sign in its path; write the path plainly");
  }
  if (DOTTED_SEGMENT.test(url.pathname)) throw refuse("has a part of its path that begins with two dots");
  if (!isEncodedUtf8(url.pathname)) throw refuse("has an encoded part in its path that is not UTF-8");
  url.hash = "";
  return url;
}

/** Bytes that are none, such as %c0%ae, are a dot or a slash to a careless decoder. */
function isEncodedUtf8(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

/** At borders of segments: /hooks allows /hooks and /hooks/a, not /hooks-of-others. */
function isBelow(url: URL, entry: URL): boolean {
  if (url.origin !== entry.origin) return false;
  const path = entry.pathname;
  return url.pathname === path || url.pathname.startsWith(path.endsWith("/") ? path : `${path}/`);
}
