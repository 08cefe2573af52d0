// One GET request of the model: no private addresses, no credentials, no endless or huge answers. The address that was
// checked is the one connected to, so a name that resolves differently the next time gains nothing.
import { lookup as resolveName } from "node:dns";
import { type IncomingMessage, request as plainRequest } from "node:http";
import { request as tlsRequest } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import type { Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { toMessage } from "../../base/coded-error.ts";
import { ToolError } from "../tools/types.ts";
import { isPublicAddress } from "./address.ts";

export interface WebOptions {
  /** Hosts (`host` or `host:port`) that may have any address. */
  allowed: readonly string[];
  signal: AbortSignal;
  /** For tests. */
  maxBytes?: number;
}

export interface WebPage {
  url: URL;
  status: number;
  /** Lower case, without parameters. */
  type: string;
  charset: string | undefined;
  bytes: Buffer;
}

export type WebAnswer = { page: WebPage } | { redirect: URL };

const MAX_BYTES = 2 * 1024 * 1024;
const MAX_REDIRECTS = 5;
const TIMEOUT_MS = 30_000;
const MAX_URL = 2000;
const TEXT =
  /^(text\/[\w.+-]+|application\/([\w.-]+\+)?(json|xml|yaml|javascript)|application\/(x-yaml|x-ndjson|toml|x-sh|rtf))$/;

/** Throws `bad_url`. */
export function parseWebUrl(text: string): URL {
  const refuse = (why: string) => new ToolError("bad_url", `the URL ${why}`);
  if (text.length > MAX_URL) throw refuse(`is longer than ${MAX_URL} characters`);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined) throw refuse("is not valid; it must start with https:// or http://");
  if (url.protocol !== "https:" && url.protocol !== "http:")
    throw refuse(`has the scheme ${url.protocol}; only https: and http: are supported`);
  if (url.username !== "" || url.password !== "") throw refuse("contains a login; remove it");
  url.hash = "";
  return url;
}

/** Follows redirects within the origin, and from http to https of the same host; others are returned. Throws `ToolError`. */
export async function fetchPage(start: URL, options: WebOptions): Promise<WebAnswer> {
  const over = new AbortController();
  const stop = () => over.abort(options.signal.reason);
  options.signal.addEventListener("abort", stop, { once: true });
  if (options.signal.aborted) stop();
  const timer = setTimeout(
    () => over.abort(new ToolError("timeout", `${start.host} took longer than ${TIMEOUT_MS / 1000} s`)),
    TIMEOUT_MS,
  );
  try {
    let url = start;
    for (let hop = 0; hop <= MAX_REDIRECTS; hop += 1) {
      const answer = await fetchOnce(url, options, over.signal);
      if (!("redirect" in answer)) return answer;
      if (!isSamePlace(url, answer.redirect)) return answer;
      url = answer.redirect;
    }
    throw new ToolError("redirects", `${start.host} redirects more than ${MAX_REDIRECTS} times`);
  } catch (error) {
    if (over.signal.aborted) throw over.signal.reason;
    if (error instanceof ToolError) throw error;
    throw new ToolError("fetch_failed", `${start.host} could not be reached: ${toMessage(error)}`);
  } finally {
    clearTimeout(timer);
    options.signal.removeEventListener("abort", stop);
  }
}

function isSamePlace(from: URL, to: URL): boolean {
  if (from.origin === to.origin) return true;
  const isUpgrade =
    from.protocol === "http:" && to.protocol === "https:" && from.port === "" && to.port === "";
  return isUpgrade && from.hostname === to.hostname;
}

async function fetchOnce(url: URL, options: WebOptions, signal: AbortSignal): Promise<WebAnswer> {
  const response = await send(url, options.allowed, signal);
  try {
    const { statusCode: status = 0, headers } = response;
    if (status >= 300 && status < 400 && headers.location !== undefined) {
      if (!URL.canParse(headers.location, url.href))
        throw new ToolError("bad_redirect", `${url.host} redirects to an invalid URL`);
      return { redirect: parseWebUrl(new URL(headers.location, url.href).href) };
    }
    const [kind = "", ...parameters] = (headers["content-type"] ?? "text/plain").split(";");
    const type = kind.trim().toLowerCase();
    if (!TEXT.test(type))
      throw new ToolError(
        "not_text",
        `${url.href} is ${type || "of an unknown type"}; only text can be read`,
      );
    const charset = /charset="?([\w-]+)/i.exec(parameters.join(";"))?.[1];
    const bytes = await readBody(decode(response), options.maxBytes ?? MAX_BYTES, url);
    return { page: { url, status, type, charset, bytes } };
  } finally {
    response.destroy();
  }
}

function send(url: URL, allowed: readonly string[], signal: AbortSignal): Promise<IncomingMessage> {
  const isAllowed = allowed.includes(url.host) || allowed.includes(url.hostname);
  const literal = url.hostname.replace(/^\[|\]$/g, "");
  // A name is checked when it is resolved; for an address nothing is.
  if (isIP(literal) !== 0 && !isAllowed) checkAddress(url.hostname, literal);
  return new Promise((resolve, reject) => {
    const request = (url.protocol === "https:" ? tlsRequest : plainRequest)(url, {
      agent: false,
      signal,
      maxHeaderSize: 16 * 1024,
      headers: {
        "user-agent": "demian",
        accept: "text/html, text/markdown, text/plain, application/json, */*;q=0.5",
        "accept-encoding": "gzip, deflate, br",
      },
      ...(isAllowed ? {} : { lookup: lookUpPublic }),
    });
    request.once("response", resolve);
    request.once("error", reject);
    request.end();
  });
}

/** Fails if any of the addresses is not public: a name that has both is a trick or a mistake. */
const lookUpPublic: LookupFunction = (hostname, options, callback) => {
  resolveName(hostname, { ...options, all: true }, (error, addresses) => {
    if (error !== null) return callback(error, "", 0);
    try {
      for (const { address } of addresses) checkAddress(hostname, address);
    } catch (fault) {
      return callback(fault as Error, "", 0);
    }
    const [first] = addresses;
    if (options.all === true) callback(null, addresses);
    else callback(null, first?.address ?? "", first?.family);
  });
};

function checkAddress(host: string, address: string): void {
  if (isPublicAddress(address)) return;
  throw new ToolError(
    "private_address",
    `${host} has the address ${address}, which is not a public one; the user can allow the host with webFetch.allow`,
  );
}

function decode(response: IncomingMessage): Readable {
  const encoding = response.headers["content-encoding"]?.toLowerCase() ?? "identity";
  if (encoding === "identity") return response;
  const decoder =
    encoding === "gzip" ? createGunzip() : encoding === "br" ? createBrotliDecompress() : createInflate();
  response.on("error", (error) => decoder.destroy(error));
  response.on("aborted", () => decoder.destroy(new Error("the connection was closed")));
  return response.pipe(decoder);
}

async function readBody(body: Readable, maxBytes: number, url: URL): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > maxBytes)
        throw new ToolError("too_large", `${url.href} is larger than ${maxBytes / 1024 ** 2} MiB`);
    }
  } finally {
    body.destroy();
  }
  return Buffer.concat(chunks);
}
