// The files of a chain in one directory: `NAME.ndjson` is written; full ones are `NAME-<first number>.ndjson`; `NAME.head`
// has the last line's number and hash.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { readErrno } from "../coded-error.ts";
import { type ChainHead, type ChainReport, checkChain, hashLine, parseLine, splitLines } from "./verify.ts";

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
  const found = listChainFiles(dir, name).map((file) => ({ file, bytes: readFileSync(file) }));
  const head = readHead(dir, name);
  // All files are missing: the head shows it.
  const files = found.length > 0 ? found : [{ file: getCurrentPath(dir, name), bytes: Buffer.alloc(0) }];
  const report = checkChain(files, head, from);
  const { fault, last_n } = report;
  if (head !== undefined || fault !== undefined || last_n === undefined) return report;
  // It is written before the first line.
  const file = getHeadPath(dir, name);
  const why = "is the last one here, but the head is missing, so that missing lines after it would not show";
  return { ...report, fault: { n: last_n, file, line: 1, fault: why } };
}

/** The hash of line `n` in the newest file that has it; undefined if none has. */
export function findHash(dir: string, name: string, n: number): string | undefined {
  for (const file of listChainFiles(dir, name).toReversed()) {
    const found = splitLines(readFileSync(file)).lines.findLast((line) => parseLine(line)?.["n"] === n);
    if (found !== undefined) return hashLine(found);
  }
  return undefined;
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
