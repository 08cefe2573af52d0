// The newest frames of a session, in the batches they were published in: no copies, one buffer per batch. The size is counted
// in frames, so the available range is exact even if the oldest batch is only partly in it.

/** Frames of one session as NDJSON, contiguous from first_seq to last_seq. */
export interface SeqBatch {
  readonly first_seq: number;
  readonly last_seq: number;
  readonly bytes: Buffer;
}

const LF = 0x0a;

export class Ring<B extends SeqBatch> {
  readonly #maxFrames: number;
  #batches: B[] = [];
  #frames = 0;

  constructor(maxFrames: number) {
    this.#maxFrames = maxFrames;
  }

  push(batch: B): void {
    this.#batches.push(batch);
    this.#frames += framesIn(batch);
    let first = this.#batches[0];
    while (first !== undefined && this.#frames - framesIn(first) >= this.#maxFrames) {
      this.#frames -= framesIn(first);
      this.#batches.shift();
      first = this.#batches[0];
    }
  }

  clear(): void {
    this.#batches = [];
    this.#frames = 0;
  }

  /** The oldest seq that `after` can start from, or undefined if the ring is empty. */
  get firstSeq(): number | undefined {
    const first = this.#batches[0];
    const last = this.#batches.at(-1);
    if (first === undefined || last === undefined) return undefined;
    return Math.max(first.first_seq, last.last_seq - this.#maxFrames + 1);
  }

  /** Frames with seq > `seq` from one batch: call again with its last_seq for more. */
  after(seq: number): B | undefined {
    const from = Math.max(seq + 1, this.firstSeq ?? 0);
    for (const batch of this.#batches) {
      if (batch.last_seq >= from) return sliceFrom(batch, from);
    }
    return undefined;
  }
}

/** The part of a batch that starts at `seq`. */
export function sliceFrom<B extends SeqBatch>(batch: B, seq: number): B {
  if (seq <= batch.first_seq) return batch;
  let at = 0;
  for (let skip = seq - batch.first_seq; skip > 0; skip -= 1) at = batch.bytes.indexOf(LF, at) + 1;
  return { ...batch, first_seq: seq, bytes: batch.bytes.subarray(at) };
}

function framesIn(batch: SeqBatch): number {
  return batch.last_seq - batch.first_seq + 1;
}
