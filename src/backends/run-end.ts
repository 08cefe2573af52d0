// The end of a session in a process that others may share: wanted or not, in a hurry or not, and told exactly once, when
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
  /** We wanted the end that comes, however it comes. */
  isWanted = false;
  readonly #parts: RunEndParts;
  #stopping: Promise<void> | undefined;
  #hasBegun = false;
  #hurry: () => void = () => undefined;
  #tellGone: () => void = () => undefined;
  /** Whoever waits for a turn to finish waits no longer. */
  readonly hurried = new Promise<void>((resolve) => {
    this.#hurry = resolve;
  });
  /** The end was told and nothing is left. */
  readonly gone = new Promise<void>((resolve) => {
    this.#tellGone = resolve;
  });

  constructor(parts: RunEndParts) {
    this.#parts = parts;
  }

  /** The session takes and tells nothing any more, but its end. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  get isStopping(): boolean {
    return this.#stopping !== undefined;
  }

  /** `leave` is done once, and leads to `tell`. */
  stop(how: "finish" | "now", leave: () => Promise<void>): Promise<void> {
    if (how === "now") this.#hurry();
    this.#stopping ??= this.#stop(leave);
    return this.#stopping;
  }

  /** `told` is called behind it. */
  tell(why: Ended, told: () => void): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    const { lease, sink, marker } = this.#parts;
    // After a crash too: the next start gets a new process.
    void lease.release("now");
    void killLeftovers(marker).then(() => {
      sink.ended(why);
      told();
      this.#tellGone();
    });
  }

  async #stop(leave: () => Promise<void>): Promise<void> {
    this.isWanted = true;
    await leave();
    await this.gone;
  }
}
