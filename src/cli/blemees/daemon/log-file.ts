// The end of a text file, and what is appended to it. The file may be large, and may be replaced while it is followed.
import { closeSync, fstatSync, openSync, readSync, statSync } from "node:fs";
import { StringDecoder } from "node:string_decoder";
import { setTimeout as sleep } from "node:timers/promises";
import { CodedError, toMessage } from "../../../base/coded-error.ts";

const BLOCK_BYTES = 64 * 1024;
const POLL_MS = 100;
const NEWLINE = 0x0a;

/** The last `count` lines; `end` is where the next line begins. An unfinished line belongs to what comes next. */
export function readLastLines(path: string, count: number): { lines: string[]; end: number } {
  const fd = open(path);
  try {
    const { size } = fstatSync(fd);
    let bytes = Buffer.alloc(0);
    let start = size;
    // One newline more than lines: the one before the first.
    while (start > 0 && countNewlines(bytes) <= count) {
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

/** Complete lines from `from` on, until the signal. If the file is replaced or emptied, continues with the new content. */
export async function* followLines(
  path: string,
  from: number,
  signal: AbortSignal,
): AsyncGenerator<string, void> {
  let fd = open(path);
  let at = from;
  let decoder = new StringDecoder("utf8");
  let rest = "";
  try {
    while (!signal.aborted) {
      const { size, ino } = fstatSync(fd);
      if (size > at) {
        const bytes = readAt(fd, at, Math.min(BLOCK_BYTES, size - at));
        at += bytes.length;
        const parts = (rest + decoder.write(bytes)).split("\n");
        rest = parts.pop() ?? "";
        yield* parts;
        continue;
      }
      const now = statSync(path, { throwIfNoEntry: false });
      if (size < at || (now !== undefined && now.ino !== ino)) {
        const next = open(path);
        closeSync(fd);
        fd = next;
        at = 0;
        decoder = new StringDecoder("utf8");
        rest = "";
        continue;
      }
      await sleep(POLL_MS, undefined, { signal }).catch(() => undefined);
    }
  } finally {
    closeSync(fd);
  }
}

function open(path: string): number {
  try {
    return openSync(path, "r");
  } catch (error) {
    throw new CodedError("no_log", `the log ${path} cannot be read: ${toMessage(error)}`, { cause: error });
  }
}

function readAt(fd: number, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  return bytes.subarray(0, readSync(fd, bytes, 0, length, position));
}

function countNewlines(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, at + 1)) count += 1;
  return count;
}
