// The dashboard's files (dist/web), read at first use. Only names in this table are served, never paths.
import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { CodedError, toMessage } from "../../../base/coded-error.ts";
import { FILE_HEADERS, HASHED_HEADERS, PAGE_HEADERS } from "./headers.ts";

export interface WebFile {
  bytes: Buffer;
  headers: Readonly<Record<string, string>>;
}

/** By request path: `/`, `/web/main-4F2K7Q1Z.js`. */
export type WebFiles = ReadonlyMap<string, WebFile>;

export const PAGE = "/";
const PAGE_FILE = "index.html";
const TYPES: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".webmanifest": "application/manifest+json",
  ".woff2": "font/woff2",
};
/** Names with a content hash. */
const HASHED = /-[A-Z0-9]{8}\.\w+$/;

/** Read once; retried at the next call if the files are missing. */
export function createWebFiles(directory: string): () => WebFiles {
  let files: WebFiles | undefined;
  return () => {
    files ??= readFiles(directory);
    return files;
  };
}

/** Throws `not_found` with instructions. Files of unknown types are ignored. */
function readFiles(directory: string): WebFiles {
  const files = new Map<string, WebFile>();
  try {
    for (const name of readdirSync(directory)) {
      const type = TYPES[extname(name)];
      const path = join(directory, name);
      if (type === undefined || !lstatSync(path).isFile()) continue;
      const headers = name === PAGE_FILE ? PAGE_HEADERS : HASHED.test(name) ? HASHED_HEADERS : FILE_HEADERS;
      files.set(name === PAGE_FILE ? PAGE : `/web/${name}`, {
        bytes: readFileSync(path),
        headers: { ...headers, "content-type": type },
      });
    }
  } catch (cause) {
    throw notBuiltError(toMessage(cause), cause);
  }
  if (!files.has(PAGE)) throw notBuiltError(`${directory} has no ${PAGE_FILE}`);
  return files;
}

function notBuiltError(why: string, cause?: unknown): CodedError {
  const message = `the dashboard's files are missing (${why}); build them with \`npm run build\`, or reinstall blemees`;
  return new CodedError("not_found", message, { cause });
}
