// The dashboard's files (dist/web), read whole at first use: what is served is a name of this table and never a path.
import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { CodedError, messageOf } from "../../../base/coded-error.ts";
import { FILE_HEADERS, HASHED_HEADERS, PAGE_HEADERS } from "./headers.ts";

export interface WebFile {
  bytes: Buffer;
  headers: Readonly<Record<string, string>>;
}

/** By the path of the request: `/`, `/web/main-4F2K7Q1Z.js`. */
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
/** As the build names what it may change under no other name. */
const HASHED = /-[A-Z0-9]{8}\.\w+$/;

/** The table, made once; without the files, tried again at the next call. */
export function createWebFiles(directory: string): () => WebFiles {
  let files: WebFiles | undefined;
  return () => {
    files ??= readFiles(directory);
    return files;
  };
}

/** Throws `not_found` with what to do. Files of a kind that the dashboard has none of are left out. */
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
    throw notBuilt(messageOf(cause), cause);
  }
  if (!files.has(PAGE)) throw notBuilt(`${directory} has no ${PAGE_FILE}`);
  return files;
}

function notBuilt(why: string, cause?: unknown): CodedError {
  const message = `the dashboard's files are missing (${why}); build them with \`npm run build\`, or install blemees again`;
  return new CodedError("not_found", message, { cause });
}
