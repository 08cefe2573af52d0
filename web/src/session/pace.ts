// Limits redraws while events stream in: the first is immediate, then at most one per interval, and fewer if drawing is
// slow, so that the page stays responsive. Hidden pages are not drawn.

/** About 16 per second. */
const DRAW_MS = 60;
/** The pause after a slow draw is this many times its duration. */
const REST = 4;
const MAX_REST_MS = 400;

export interface Timing {
  nowMs(): number;
  after(ms: number, run: () => void): () => void;
  /** Runs before the next layout and paint. */
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

  /** Requests a redraw. */
  want(): void {
    if (this.#cancel !== undefined) return;
    const restMs = this.#nextAtMs - this.#timing.nowMs();
    if (restMs <= 0) {
      this.#next();
      return;
    }
    this.#cancel = this.#timing.after(restMs, () => {
      this.#cancel = undefined;
      // The duration of the last draw may be known only now.
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
      // The next task runs after painting.
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
