// Lines in a block of NDJSON bytes. A frame is one line with its \n; line n of a batch has seq first_seq + n. Pure.
import type { RunMark } from "../base/runs/mark.ts";
import type { LogBatch } from "./types.ts";

const LF = 0x0a;

/** Why this is not a valid batch, or undefined. Slicing by line needs exactly one line per seq. */
export function findBatchFault(batch: LogBatch): string | undefined {
  const { first_seq, last_seq, bytes, run } = batch;
  if (!Number.isSafeInteger(first_seq) || !Number.isSafeInteger(last_seq) || last_seq < first_seq) {
    return `a batch needs first_seq <= last_seq, got ${first_seq} and ${last_seq}`;
  }
  if (run !== undefined && !isMark(run)) {
    return `a run mark needs numbers of 0 or more, got ${run.out}, ${run.err} and ${run.n}`;
  }
  const lines = countLines(bytes);
  if (bytes.at(-1) === LF && lines === last_seq - first_seq + 1) return undefined;
  return `a batch of seq ${first_seq}-${last_seq} needs one whole line per seq, got ${lines}`;
}

function isMark({ out, err, n }: RunMark): boolean {
  return [out, err, n].every((value) => Number.isSafeInteger(value) && value >= 0);
}

export function findSequenceFault(batch: LogBatch, lastSeq: number): string | undefined {
  if (batch.first_seq === lastSeq + 1) return undefined;
  return `seq ${batch.first_seq} does not follow the last stored seq ${lastSeq}`;
}

export function countLines(bytes: Uint8Array): number {
  let lines = 0;
  for (let at = bytes.indexOf(LF); at !== -1; at = bytes.indexOf(LF, at + 1)) lines += 1;
  return lines;
}

/** The offset of line `n` (from 0), or the length of `bytes` if there are fewer lines. */
export function findLine(bytes: Uint8Array, n: number): number {
  let offset = 0;
  for (let line = 0; line < n; line += 1) {
    const at = bytes.indexOf(LF, offset);
    if (at === -1) return bytes.length;
    offset = at + 1;
  }
  return offset;
}

/** The length of the whole lines within `maxBytes`, at least one line; 0 if there is no whole line. */
export function measureWholeLines(bytes: Uint8Array, maxBytes: number): number {
  if (maxBytes >= bytes.length) return bytes.lastIndexOf(LF) + 1;
  const within = maxBytes > 0 ? bytes.lastIndexOf(LF, maxBytes - 1) : -1;
  return (within === -1 ? bytes.indexOf(LF) : within) + 1;
}
