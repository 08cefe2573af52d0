// Reads a log file from the front and finds its longest valid gapless prefix (SAFETY.md). Every line is parsed:
// after a power cut the bad bytes may stand in the middle (pages reach the disk in any order), so a look at the
// tail alone proves nothing, and parsing runs at about 200 MB/s, once a session and start.
import { isUtf8 } from "node:buffer";
import { CodedError } from "../../base/coded-error.ts";
import { isObject } from "../../base/json.ts";
import type { FileSystem } from "../disk/file-system.ts";
import { readAll } from "../disk/whole.ts";
import { type Jump, LineIndex } from "./line-index.ts";

export interface Scan {
  /** Absent when no valid frame was found. */
  frames: { first_seq: number; last_seq: number } | undefined;
  /** Bytes of the valid prefix. */
  length: number;
  index: LineIndex;
  /** Holes that an earlier life found and noted in the log. */
  jumps: Jump[];
}

const LF = 0x0a;
const CHUNK = 1024 * 1024;
/** Frames are at most 16 MiB (§8), a little more with their envelope; nothing valid is longer than this. */
const MAX_LINE = 128 * 1024 * 1024;

export function scanLog(fs: FileSystem, fd: number, session_id: string): Scan {
  const scan: Scan = { frames: undefined, length: 0, index: new LineIndex(), jumps: [] };
  let held = Buffer.alloc(0);
  for (let position = 0; ; ) {
    const chunk = Buffer.allocUnsafe(CHUNK);
    const count = readAll(fs, fd, chunk, position);
    position += count;
    const bytes = Buffer.concat([held, chunk.subarray(0, count)]);
    const used = takeLines(scan, bytes, session_id);
    // Stopped by a bad line or by the end of the file: what is held is the torn rest.
    if (used === undefined || count < CHUNK) return scan;
    held = bytes.subarray(used);
    if (held.length > MAX_LINE) return scan;
  }
}

/** Adds the whole lines of `bytes` to the scan. Bytes used, or undefined at a line that does not belong. */
function takeLines(scan: Scan, bytes: Buffer, session_id: string): number | undefined {
  let start = 0;
  for (let at = bytes.indexOf(LF); at !== -1; at = bytes.indexOf(LF, start)) {
    const frame = parseFrame(bytes.subarray(start, at));
    if (scan.frames === undefined) checkOwner(frame, session_id);
    const seq = frame?.seq;
    if (frame?.session_id !== session_id || typeof seq !== "number" || !Number.isSafeInteger(seq))
      return undefined;
    const after_seq = scan.frames?.last_seq;
    const isJump = after_seq !== undefined && seq !== after_seq + 1;
    if (seq < 1 || (isJump && !tellsOfLoss(frame, after_seq))) return undefined;
    if (isJump) scan.jumps.push({ seq, offset: scan.length, after_seq });
    scan.index.add(seq, scan.length, isJump);
    scan.frames = { first_seq: scan.frames?.first_seq ?? seq, last_seq: seq };
    scan.length += at + 1 - start;
    start = at + 1;
  }
  return start;
}

interface Frame {
  session_id?: unknown;
  seq?: unknown;
  category?: unknown;
  data?: unknown;
}

/** The first frame behind a hole says so itself; any other jump is damage that nobody has seen yet. */
function tellsOfLoss({ seq, category, data }: Frame, after_seq: number): boolean {
  if (category !== "event_persist_recovered" || !isObject(data)) return false;
  return data["after_seq"] === after_seq && Number(seq) > after_seq;
}

export function parseFrame(line: Buffer): Frame | undefined {
  if (!isUtf8(line)) return undefined;
  try {
    const value: unknown = JSON.parse(line.toString("utf8"));
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

/** On a file system that ignores case two ids can meet in one file; the other session's log is not ours to cut. */
function checkOwner(frame: Frame | undefined, session_id: string): void {
  const found = frame?.session_id;
  if (typeof found !== "string" || found === session_id) return;
  if (found.toLowerCase() !== session_id.toLowerCase()) return;
  throw new CodedError(
    "internal",
    `the log of ${session_id} is the log of ${found}; use ids that differ by more than case`,
  );
}
