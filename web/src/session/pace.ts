// How often a session is drawn while events flood in: the first at once, and then no oftener than a reader's eye
// follows; seldomer where drawing takes long, so that the page has time for its keys. Nothing is drawn unseen.

/** About sixteen times a second. */
const DRAW_MS = 60;
/** Drawing may take this part of the time: the rest between two is so many times as long as it took. */
const REST = 4;
const MAX_REST_MS = 400;

export interface Timing {
  nowMs(): number;
  after(ms: number, run: () => void): () => void;
  /** The browser lays out and paints behind it. */
  frame(run: () => void): () => void;
}

export class Pace {
  readonly #draw: () => void;
  readonly #timing: Timing;
  #nextAtMs = Number.NEGATIVE_INFINITY;
  #cancel: (() => void) | undefined;

  constructor(draw: () => void, timing: Timing = BROWSER) {
    this.#draw = draw;
    this.#timing = timing;
  }

  /** There is something new. */
  want(): void {
    if (this.#cancel !== undefined) return;
    const restMs = this.#nextAtMs - this.#timing.nowMs();
    if (restMs <= 0) {
      this.#next();
      return;
    }
    this.#cancel = this.#timing.after(restMs, () => {
      this.#cancel = undefined;
      // What the last drawing took may be known only now.
      this.want();
    });
  }

  close(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #next(): void {
    this.#cancel = this.#timing.frame(() => {
      this.#cancel = undefined;
      const beganMs = this.#timing.nowMs();
      this.#nextAtMs = beganMs + DRAW_MS;
      this.#draw();
      // The next task comes when all of it is painted.
      this.#timing.after(0, () => {
        const tookMs = this.#timing.nowMs() - beganMs;
        this.#nextAtMs = beganMs + Math.max(DRAW_MS, Math.min(MAX_REST_MS, tookMs * (1 + REST)));
      });
    });
  }
}

const BROWSER: Timing = {
  nowMs: () => performance.now(),
  after: (ms, run) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
  frame: (run) => {
    const frame = requestAnimationFrame(run);
    return () => cancelAnimationFrame(frame);
  },
};
