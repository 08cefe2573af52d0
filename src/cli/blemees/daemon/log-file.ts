// What is appended to a text file, which may be replaced while it is followed.
import { closeSync, fstatSync, statSync } from "node:fs";
import { StringDecoder } from "node:string_decoder";
import { setTimeout as sleep } from "node:timers/promises";
import { BLOCK_BYTES, openLog, readAt } from "../../../base/last-lines.ts";

const POLL_MS = 100;

/** Complete lines from `from` on, until the signal. If the file is replaced or emptied, continues with the new content. */
export async function* followLines(
  path: string,
  from: number,
  signal: AbortSignal,
): AsyncGenerator<string, void> {
  let fd = openLog(path);
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
        const next = openLog(path);
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
