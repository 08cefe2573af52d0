// What the prompt still waits for, so that piped input is answered in full before the program ends.
import type { WireFrame } from "../../client/index.ts";
import type { Frame } from "./verb.ts";

/** Frames that end the wait for a session's turn, should its result never come to us. */
const TURN_ENDERS = new Set([
  "agent.result",
  "blemeesd.closed",
  "blemeesd.session_taken",
  "blemeesd.session_closed",
]);

export class Outstanding {
  readonly #keys = new Set<string>();
  #waiters: { isOver(): boolean; resolve(): void }[] = [];

  sent(frame: Frame): void {
    const { type, id, session_id } = frame;
    if (typeof id === "string") this.#keys.add(`id ${id}`);
    else if (type === "agent.user") this.#keys.add(`turn ${String(session_id)}`);
    else if (type === "blemeesd.interrupt") this.#keys.add(`interrupt ${String(session_id)}`);
    else if (type === "blemeesd.close") this.#keys.add(`close ${String(session_id)}`);
  }

  received(frame: WireFrame): void {
    const { type, id, session_id } = frame;
    if (typeof id === "string") this.#keys.delete(`id ${id}`);
    const isRefusal = type === "blemeesd.error" && frame["seq"] === undefined && id === undefined;
    if (type === "blemeesd.interrupted" || isRefusal) this.#keys.delete(`interrupt ${String(session_id)}`);
    if (type === "blemeesd.closed" || isRefusal) this.#keys.delete(`close ${String(session_id)}`);
    if (TURN_ENDERS.has(type) || isRefusal) this.#keys.delete(`turn ${String(session_id)}`);
    this.#tell();
  }

  /** The connection is gone: nothing will be answered. */
  clear(): void {
    this.#keys.clear();
    this.#tell();
  }

  /** Nothing is waited for. */
  get isEmpty(): boolean {
    return this.#keys.size === 0;
  }

  /** A turn that was started here is not over yet. */
  get hasTurn(): boolean {
    return [...this.#keys].some((key) => key.startsWith("turn "));
  }

  /** Resolves when nothing is waited for any more. */
  settled(): Promise<void> {
    return this.until(() => this.#keys.size === 0);
  }

  /** Resolves when the frame may go out in a script: what was asked is answered, its session's turn is over. */
  readyFor({ type, session_id }: Frame): Promise<void> {
    const turn = `turn ${String(session_id)}`;
    const needsQuiet = type === "agent.user" || type === "blemeesd.close";
    return this.until(() => {
      const isAnswered = [...this.#keys].every((key) => key.startsWith("turn "));
      return isAnswered && !(needsQuiet && this.#keys.has(turn));
    });
  }

  /** Resolves when it is so; looked at with every frame. */
  until(isOver: () => boolean): Promise<void> {
    if (isOver()) return Promise.resolve();
    return new Promise((resolve) => this.#waiters.push({ isOver, resolve }));
  }

  #tell(): void {
    const waiters = this.#waiters;
    this.#waiters = waiters.filter((waiter) => !waiter.isOver());
    for (const waiter of waiters) if (waiter.isOver()) waiter.resolve();
  }
}
