// What the screen is told, in order and at most once a tick.
import type { ViewInput } from "../../../client/view/types.ts";

export class Outlet {
  #listener: ((inputs: readonly ViewInput[]) => void) | undefined;
  #waiting: ViewInput[] = [];
  #timer: NodeJS.Immediate | undefined;

  /** What was said before comes first. */
  start(listener: (inputs: readonly ViewInput[]) => void): void {
    this.#listener = listener;
    this.#later();
  }

  tell(...inputs: ViewInput[]): void {
    this.#waiting.push(...inputs);
    this.#later();
  }

  /** What waits is told now, and nothing after it. */
  close(): void {
    clearImmediate(this.#timer);
    this.#flush();
    this.#listener = undefined;
  }

  #later(): void {
    if (this.#listener === undefined || this.#waiting.length === 0) return;
    this.#timer ??= setImmediate(() => this.#flush());
  }

  #flush(): void {
    this.#timer = undefined;
    const inputs = this.#waiting;
    this.#waiting = [];
    if (inputs.length > 0) this.#listener?.(inputs);
  }
}
