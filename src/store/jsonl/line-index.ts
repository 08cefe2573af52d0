// Where some frames begin in a log file, one about every 64 KB, so that a read from the middle does not start
// at the front. In memory only; built by the recovery scan and by appends.

export interface Mark {
  seq: number;
  offset: number;
}

/** A frame that does not follow the one in front of it: what stood between was lost. */
export interface Jump extends Mark {
  after_seq: number;
}

const SPACING = 64 * 1024;

export class LineIndex {
  #marks: Mark[] = [];

  /** A frame that begins here. Kept only when the last kept one is far enough in front of it, or it is a jump. */
  add(seq: number, offset: number, isJump = false): void {
    const last = this.#marks.at(-1);
    if (last === undefined || isJump || offset - last.offset >= SPACING) this.#marks.push({ seq, offset });
  }

  /** The last mark at or before `seq`. */
  bySeq(seq: number): Mark | undefined {
    return this.#last((mark) => mark.seq <= seq);
  }

  byOffset(offset: number): Mark | undefined {
    return this.#last((mark) => mark.offset <= offset);
  }

  /** The file lost everything from this offset on. */
  cut(offset: number): void {
    while ((this.#marks.at(-1)?.offset ?? -1) >= offset) this.#marks.pop();
  }

  /** The file lost everything in front of this frame. */
  rebase(first: Mark): void {
    const kept = this.#marks.filter((mark) => mark.offset > first.offset);
    this.#marks = [first, ...kept].map(({ seq, offset }) => ({ seq, offset: offset - first.offset }));
  }

  #last(isBefore: (mark: Mark) => boolean): Mark | undefined {
    let low = 0;
    let high = this.#marks.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const mark = this.#marks[middle];
      if (mark !== undefined && isBefore(mark)) low = middle + 1;
      else high = middle;
    }
    return this.#marks[low - 1];
  }
}
