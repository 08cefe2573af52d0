// Walks the frames of a log file without parsing them: a frame begins behind each newline, and each has the
// next seq. True of the part that scan.ts accepted.
import type { FileSystem } from "../disk/file-system.ts";
import { readAll } from "../disk/whole.ts";
import type { Mark } from "./line-index.ts";

const LF = 0x0a;
const CHUNK = 64 * 1024;

export interface Stretch {
  fd: number;
  from: Mark;
  /** Where the good frames end. */
  end: number;
}

/** The first frame from `from` on that is the one; the place behind the last frame when none is. */
export function findFrame(fs: FileSystem, stretch: Stretch, isIt: (mark: Mark) => boolean): Mark {
  const { fd, end } = stretch;
  let { seq, offset } = stretch.from;
  if (isIt({ seq, offset })) return { seq, offset };
  const chunk = Buffer.allocUnsafe(CHUNK);
  while (offset < end) {
    const base = offset;
    let position = base;
    // A frame may be longer than a chunk: `position` moves on, `offset` stays at the frame's beginning.
    for (;;) {
      const count = readAll(fs, fd, chunk.subarray(0, Math.min(CHUNK, end - position)), position);
      if (count === 0) throw new Error(`the log file ends at ${position}, expected ${end} bytes`);
      for (let at = chunk.indexOf(LF); at !== -1 && at < count; at = chunk.indexOf(LF, at + 1)) {
        seq += 1;
        offset = position + at + 1;
        if (isIt({ seq, offset })) return { seq, offset };
      }
      position += count;
      if (offset > base || position >= end) break;
    }
  }
  return { seq, offset };
}
