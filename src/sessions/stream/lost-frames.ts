// The newest frames of a session that could not be stored, kept in memory while writes fail and some time longer. The
// fact that frames were lost is kept as long as the session is in memory.

const MAX_FRAMES = 256;
const MAX_CHARS = 1024 * 1024;
const KEPT_AFTER_RECOVERY_MS = 10 * 60_000;

export interface LostFrame {
  /** The last stored frame before it. */
  after_seq: number;
  at_ms: number;
  /** As sent: without seq, `persisted: false`. */
  line: string;
}

export class LostFrames {
  #frames: LostFrame[] = [];
  #chars = 0;
  #after_seq: number | undefined;
  #forgetting: NodeJS.Timeout | undefined;

  /** Where the newest are missing; a reader is either before or after that. */
  get after_seq(): number | undefined {
    return this.#after_seq;
  }

  add(lines: readonly string[], after_seq: number, at_ms: number): void {
    clearTimeout(this.#forgetting);
    this.#after_seq = after_seq;
    for (const line of lines) {
      this.#frames.push({ after_seq, at_ms, line });
      this.#chars += line.length;
    }
    while (this.#frames.length > MAX_FRAMES || this.#chars > MAX_CHARS) {
      this.#chars -= this.#frames.shift()?.line.length ?? 0;
    }
  }

  since(after_seq: number): LostFrame[] {
    return this.#frames.filter((frame) => frame.after_seq >= after_seq);
  }

  /** Writes succeed again. */
  markRecovered(): void {
    clearTimeout(this.#forgetting);
    this.#forgetting = setTimeout(() => this.#forget(), KEPT_AFTER_RECOVERY_MS).unref();
  }

  close(): void {
    clearTimeout(this.#forgetting);
    this.#forget();
  }

  #forget(): void {
    this.#frames = [];
    this.#chars = 0;
  }
}
