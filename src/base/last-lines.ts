// The end of a text file, which may be large.
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { CodedError, toMessage } from "./coded-error.ts";

export const BLOCK_BYTES = 64 * 1024;
/** Not more is read, also if a line is longer. */
const MAX_BYTES = 4 * 1024 * 1024;
const NEWLINE = 0x0a;

/** The last `count` lines; `end` is where the next line begins. An unfinished line belongs to what comes next. */
export function readLastLines(path: string, count: number): { lines: string[]; end: number } {
  const fd = openLog(path);
  try {
    const { size } = fstatSync(fd);
    let bytes = Buffer.alloc(0);
    let start = size;
    // One newline more than lines: the one before the first.
    while (start > 0 && countNewlines(bytes) <= count && bytes.length < MAX_BYTES) {
      const length = Math.min(BLOCK_BYTES, start);
      start -= length;
      bytes = Buffer.concat([readAt(fd, start, length), bytes]);
    }
    const last = bytes.lastIndexOf(NEWLINE) + 1;
    const lines = last === 0 ? [] : bytes.toString("utf8", 0, last - 1).split("\n");
    return { lines: count === 0 ? [] : lines.slice(-count), end: start + last };
  } finally {
    closeSync(fd);
  }
}

/** Throws `no_log`. */
export function openLog(path: string): number {
  try {
    return openSync(path, "r");
  } catch (error) {
    throw new CodedError("no_log", `the log ${path} cannot be read: ${toMessage(error)}`, { cause: error });
  }
}

export function readAt(fd: number, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  return bytes.subarray(0, readSync(fd, bytes, 0, length, position));
}

function countNewlines(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, at + 1)) count += 1;
  return count;
}
