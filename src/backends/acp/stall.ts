// Notices that an agent says nothing for a while although it should: some retry their model's server in silence for ever.

export interface StallParts {
  /** 0: never. */
  limitMs: number;
  /** It works on something, or waits for somebody: silence is no wonder. */
  isExcused(): boolean;
  /** Once per silence. */
  tell(silentMs: number): void;
}

export class StallWatch {
  readonly #parts: StallParts;
  #heardMs = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: StallParts) {
    this.#parts = parts;
  }

  /** A turn begins. */
  begin(): void {
    this.#heardMs = performance.now();
    this.#arm(this.#parts.limitMs);
  }

  /** The agent said something, or something that excused it is over. */
  heard(): void {
    this.#heardMs = performance.now();
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #arm(ms: number): void {
    this.end();
    if (this.#parts.limitMs <= 0) return;
    this.#timer = setTimeout(() => this.#look(), ms);
    this.#timer.unref();
  }

  /** One timer for the whole turn: it is not set anew with every frame. */
  #look(): void {
    const { limitMs, isExcused, tell } = this.#parts;
    const silentMs = performance.now() - this.#heardMs;
    if (isExcused()) this.heard();
    else if (silentMs >= limitMs && Number.isFinite(this.#heardMs)) {
      tell(silentMs);
      // Only what comes from now on begins a new silence.
      this.#heardMs = Number.POSITIVE_INFINITY;
    }
    const restMs = limitMs - (performance.now() - this.#heardMs);
    this.#arm(Number.isFinite(restMs) ? Math.max(1, Math.ceil(restMs)) : limitMs);
  }
}
