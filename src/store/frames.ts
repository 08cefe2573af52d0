// Lines in a block of NDJSON bytes. Pure; a frame is one line with its \n, and line n of a batch has the seq
// first_seq + n.
import type { LogBatch } from "./types.ts";

const LF = 0x0a;

/** Why this is not a batch, or undefined. Slicing by line needs exactly one line a seq. */
export function findBatchFault(batch: LogBatch): string | undefined {
  const { first_seq, last_seq, bytes } = batch;
  if (!Number.isSafeInteger(first_seq) || !Number.isSafeInteger(last_seq) || last_seq < first_seq) {
    return `a batch needs first_seq <= last_seq, got ${first_seq} and ${last_seq}`;
  }
  const lines = countLines(bytes);
  if (bytes.at(-1) === LF && lines === last_seq - first_seq + 1) return undefined;
  return `a batch of seq ${first_seq}-${last_seq} needs as many whole lines, got ${lines}`;
}

export function sequenceFault(batch: LogBatch, lastSeq: number): string | undefined {
  if (batch.first_seq === lastSeq + 1) return undefined;
  return `seq ${batch.first_seq} does not follow the last stored seq ${lastSeq}`;
}

export function countLines(bytes: Uint8Array): number {
  let lines = 0;
  for (let at = bytes.indexOf(LF); at !== -1; at = bytes.indexOf(LF, at + 1)) lines += 1;
  return lines;
}

/** Where line `n` (from 0) begins; the length of `bytes` when there are fewer. */
export function offsetOfLine(bytes: Uint8Array, n: number): number {
  let offset = 0;
  for (let line = 0; line < n; line += 1) {
    const at = bytes.indexOf(LF, offset);
    if (at === -1) return bytes.length;
    offset = at + 1;
  }
  return offset;
}

/** The length of the whole lines within `maxBytes`, but at least one line; 0 when there is no whole line. */
export function wholeLines(bytes: Uint8Array, maxBytes: number): number {
  if (maxBytes >= bytes.length) return bytes.lastIndexOf(LF) + 1;
  const within = maxBytes > 0 ? bytes.lastIndexOf(LF, maxBytes - 1) : -1;
  return (within === -1 ? bytes.indexOf(LF) : within) + 1;
}
