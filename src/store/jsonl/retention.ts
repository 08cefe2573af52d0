// Which frames of a log file are too many. Ages count from the file's last write: frames carry no time, so an
// idle session loses all but its newest frame at once, and a busy one none.
import type { Retention } from "../types.ts";
import type { Mark } from "./line-index.ts";
import type { LogFile } from "./log-file.ts";
import type { Peek } from "./peek.ts";

/** Cheap, from both ends of the file: is it worth a scan? Answers yes when it cannot tell. */
export function mayExceed(peek: Peek, limits: Retention, nowMs: number): boolean {
  const { first_seq, last_seq, size, mtimeMs } = peek;
  if (first_seq === undefined || last_seq === undefined) return true;
  if (first_seq === last_seq) return false;
  const { maxAgeMs, maxBytesPerSession, maxRowsPerSession } = limits;
  if (maxAgeMs > 0 && mtimeMs < nowMs - maxAgeMs) return true;
  if (maxBytesPerSession > 0 && size > maxBytesPerSession) return true;
  return maxRowsPerSession > 0 && last_seq - first_seq + 1 > maxRowsPerSession;
}

/** The frame that becomes the first one, or undefined when all may stay. */
export function newFront(file: LogFile, limits: Retention, nowMs: number): Mark | undefined {
  if (file.frames === undefined) return undefined;
  const { first_seq, last_seq } = file.frames;
  let front: Mark = { seq: first_seq, offset: 0 };
  const { maxAgeMs, maxBytesPerSession, maxRowsPerSession } = limits;
  if (maxRowsPerSession > 0 && last_seq - maxRowsPerSession >= first_seq) {
    front = file.frameOf(last_seq - maxRowsPerSession + 1);
  }
  if (maxBytesPerSession > 0 && file.length - front.offset > maxBytesPerSession) {
    front = file.frameFrom(file.length - maxBytesPerSession);
  }
  const isOld = maxAgeMs > 0 && file.modifiedAtMs() < nowMs - maxAgeMs;
  if (isOld || front.seq > last_seq) front = file.frameOf(last_seq);
  return front.seq > first_seq ? front : undefined;
}

/** The frame that becomes the first one when `bytes` of the front go; the newest one always stays. */
export function frontWithout(file: LogFile, bytes: number): Mark | undefined {
  if (file.frames === undefined) return undefined;
  const { first_seq, last_seq } = file.frames;
  const last = file.frameOf(last_seq);
  const front = bytes >= last.offset ? last : file.frameFrom(bytes);
  return front.seq > first_seq ? front : undefined;
}
