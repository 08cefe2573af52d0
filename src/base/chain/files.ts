// The files of a chain in one directory: `NAME.ndjson` is written; full ones are `NAME-<first number>.ndjson`; `NAME.head`
// has the last line's number and hash.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { readErrno } from "../coded-error.ts";
import { type ChainHead, type ChainReport, checkChain } from "./verify.ts";

export function getCurrentPath(dir: string, name: string): string {
  return join(dir, `${name}.ndjson`);
}

export function getHeadPath(dir: string, name: string): string {
  return join(dir, `${name}.head`);
}

/** Oldest first; the one being written is last. */
export function listChainFiles(dir: string, name: string): string[] {
  const full = new RegExp(`^${name}-(\\d+)\\.ndjson$`);
  const numbered = listNames(dir).flatMap((file) => {
    const first = full.exec(file)?.[1];
    return first === undefined ? [] : [{ file, first: Number(first) }];
  });
  const older = numbered.sort((a, b) => a.first - b.first).map(({ file }) => join(dir, file));
  const current = getCurrentPath(dir, name);
  return listNames(dir).includes(`${name}.ndjson`) ? [...older, current] : older;
}

/** Reads and checks all files of a chain. */
export function checkChainFiles(dir: string, name: string, from?: number): ChainReport {
  const files = listChainFiles(dir, name).map((file) => ({ file, bytes: readFileSync(file) }));
  return checkChain(files, readHead(dir, name), from);
}

/** Undefined if there is none, or it is unusable. */
export function readHead(dir: string, name: string): ChainHead | undefined {
  try {
    const { n, hash } = JSON.parse(readFileSync(getHeadPath(dir, name), "utf8")) as Partial<ChainHead>;
    return typeof n === "number" && typeof hash === "string" ? { n, hash } : undefined;
  } catch {
    return undefined;
  }
}

function listNames(dir: string): string[] {
  try {
    return readdirSync(dir);
  } catch (error) {
    if (readErrno(error) === "ENOENT") return [];
    throw error;
  }
}
