// The end of a session in a process that others may share: expected or not, fast or not, reported exactly once, when
// nothing of the session is left.
import { killLeftovers } from "./leftovers.ts";
import type { Lease, Pooled } from "./pool.ts";
import type { BackendSink, Ended } from "./types.ts";

export interface RunEndParts {
  lease: Lease<Pooled>;
  sink: BackendSink;
  /** In the environment of every command of the session. */
  marker: string;
}

export class RunEnd {
  /** The end was requested, however it comes. */
  isWanted = false;
  readonly #parts: RunEndParts;
  #stopping: Promise<void> | undefined;
  #hasBegun = false;
  #hurry: () => void = () => undefined;
  #tellGone: () => void = () => undefined;
  /** Releases callers that wait for a turn to finish. */
  readonly hurried = new Promise<void>((resolve) => {
    this.#hurry = resolve;
  });
  /** The end was reported and nothing is left. */
  readonly gone = new Promise<void>((resolve) => {
    this.#tellGone = resolve;
  });

  constructor(parts: RunEndParts) {
    this.#parts = parts;
  }

  /** The session reports nothing but its end. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  get isStopping(): boolean {
    return this.#stopping !== undefined;
  }

  /** Runs `leave` once, then reports. */
  stop(how: "finish" | "now", leave: () => Promise<void>): Promise<void> {
    if (how === "now") this.#hurry();
    this.#stopping ??= this.#stop(leave);
    return this.#stopping;
  }

  /** Calls the callback after it. */
  tell(why: Ended, reported: () => void): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    const { lease, sink, marker } = this.#parts;
    // Also after a crash: the next start gets a new process.
    void lease.release("now");
    void killLeftovers(marker).then(() => {
      sink.ended(why);
      reported();
      this.#tellGone();
    });
  }

  async #stop(leave: () => Promise<void>): Promise<void> {
    this.isWanted = true;
    await leave();
    await this.gone;
  }
}
