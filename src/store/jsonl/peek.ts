// A quick look at both ends of a log file, for lists and for retention: no scan, no repair, and no promise that
// what stands between is whole.
import type { FileSystem } from "../disk/file-system.ts";
import { openIfThere, readAll } from "../disk/whole.ts";
import { parseFrame } from "./scan.ts";

export interface Peek {
  size: number;
  mtimeMs: number;
  /** Absent when no frame was found within the first or last 64 KB. */
  first_seq?: number;
  last_seq?: number;
}

const LF = 0x0a;
const END = 64 * 1024;

export function peekLog(fs: FileSystem, path: string): Peek | undefined {
  const fd = openIfThere(fs, path);
  if (fd === undefined) return undefined;
  try {
    const { size, mtimeMs } = fs.fstatSync(fd);
    const first_seq = firstSeq(readPart(fs, fd, 0));
    const last_seq = lastSeq(readPart(fs, fd, Math.max(0, size - END)));
    return {
      size,
      mtimeMs,
      ...(first_seq === undefined ? {} : { first_seq }),
      ...(last_seq === undefined ? {} : { last_seq }),
    };
  } finally {
    fs.closeSync(fd);
  }
}

function readPart(fs: FileSystem, fd: number, position: number): Buffer {
  const bytes = Buffer.allocUnsafe(END);
  return bytes.subarray(0, readAll(fs, fd, bytes, position));
}

function firstSeq(bytes: Buffer): number | undefined {
  const at = bytes.indexOf(LF);
  return at === -1 ? undefined : seqOf(bytes.subarray(0, at));
}

/** Behind the last newline may stand half a frame; in front of it may stand one that is torn. */
function lastSeq(bytes: Buffer): number | undefined {
  for (let end = bytes.lastIndexOf(LF); end > 0; ) {
    const start = bytes.lastIndexOf(LF, end - 1);
    const seq = seqOf(bytes.subarray(start + 1, end));
    if (seq !== undefined) return seq;
    end = start;
  }
  return undefined;
}

function seqOf(line: Buffer): number | undefined {
  const seq = parseFrame(line)?.seq;
  return typeof seq === "number" && Number.isSafeInteger(seq) ? seq : undefined;
}
