// Validates a provider's URLs from the configuration. They never hold credentials: errors show them.
import { CodedError } from "../../base/coded-error.ts";
import { isLoopback } from "./failure.ts";

/** `field` names the setting in errors. Throws `CodedError`. */
export function parseBaseUrl(field: string, text: string, { needsHttps = false } = {}): URL {
  const refuse = (why: string) => new CodedError("bad_base_url", `${field} ${why}`);
  const schemes = needsHttps ? "https://" : "https:// or http://";
  if (!URL.canParse(text)) throw refuse(`is not a URL; it must start with ${schemes}`);
  const url = new URL(text);
  if (url.username !== "" || url.password !== "") throw refuse("must not contain a user or password");
  if (url.protocol === "https:") return url;
  if (url.protocol !== "http:") throw refuse(`must start with ${schemes}`);
  if (needsHttps && !isLoopback(text))
    throw refuse("must start with https:// because the login is sent there");
  return url;
}

/** The URL with `path` at its end, once. */
export function withPath(base: URL, path: string): URL {
  const url = new URL(base);
  const start = url.pathname.replace(/\/+$/, "");
  url.pathname = start.endsWith(path) ? start : `${start}${path}`;
  url.hash = "";
  return url;
}
