// Detects an agent that is unexpectedly silent: some retry their model's server forever without output.
import { readMonotonicMs } from "../../base/monotonic.ts";
import type { AcpRunParts } from "./keep.ts";
import { type AcpReport, reportNotice } from "./state.ts";

export interface StallParts {
  /** 0 disables. */
  limitMs: number;
  /** It is working on something, or waiting for an answer: silence is expected. */
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

  /** A turn starts. */
  begin(): void {
    this.#heardMs = readMonotonicMs();
    this.#arm(this.#parts.limitMs);
  }

  /** The agent sent something, or a reason for its silence has ended. */
  heard(): void {
    this.#heardMs = readMonotonicMs();
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

  /** One timer for the whole turn: it is not reset with every frame. */
  #look(): void {
    const { limitMs, isExcused, tell } = this.#parts;
    const silentMs = readMonotonicMs() - this.#heardMs;
    if (isExcused()) this.heard();
    else if (silentMs >= limitMs && Number.isFinite(this.#heardMs)) {
      tell(silentMs);
      // Only later output starts a new silence.
      this.#heardMs = Number.POSITIVE_INFINITY;
    }
    const restMs = limitMs - (readMonotonicMs() - this.#heardMs);
    this.#arm(Number.isFinite(restMs) ? Math.max(1, Math.ceil(restMs)) : limitMs);
  }
}

export function reportStall(
  { name, state }: Pick<AcpRunParts, "name" | "state">,
  silentMs: number,
): AcpReport {
  const seconds = Math.round(silentMs / 1000);
  const text = `${name} has been silent for ${seconds} s; it may be trying to reach its model's server. Wait, or interrupt the turn.`;
  return reportNotice(state, "stalled", { level: "warn", text, data: { silent_s: seconds } });
}
