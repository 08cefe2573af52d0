// Tracks unanswered frames, so that the program ends only after piped input was answered.
import type { WireFrame } from "../../client/index.ts";
import type { VerbFrame } from "./verb.ts";

/** Frames that end the wait for a session's turn. */
const TURN_ENDERS = new Set([
  "agent.result",
  "blemeesd.closed",
  "blemeesd.session_taken",
  "blemeesd.session_closed",
]);

export class Outstanding {
  readonly #keys = new Set<string>();
  #waiters: { isOver(): boolean; resolve(): void }[] = [];

  noteSent(frame: VerbFrame): void {
    const { type, id, session_id } = frame;
    if (typeof id === "string") this.#keys.add(`id ${id}`);
    else if (type === "agent.user") this.#keys.add(`turn ${String(session_id)}`);
    else if (type === "blemeesd.interrupt") this.#keys.add(`interrupt ${String(session_id)}`);
    else if (type === "blemeesd.close") this.#keys.add(`close ${String(session_id)}`);
  }

  noteReceived(frame: WireFrame): void {
    const { type, id, session_id } = frame;
    if (typeof id === "string") this.#keys.delete(`id ${id}`);
    const isRefusal = type === "blemeesd.error" && frame["seq"] === undefined && id === undefined;
    if (type === "blemeesd.interrupted" || isRefusal) this.#keys.delete(`interrupt ${String(session_id)}`);
    if (type === "blemeesd.closed" || isRefusal) this.#keys.delete(`close ${String(session_id)}`);
    if (TURN_ENDERS.has(type) || isRefusal) this.#keys.delete(`turn ${String(session_id)}`);
    this.#wake();
  }

  /** The connection is lost: no answers will come. */
  clear(): void {
    this.#keys.clear();
    this.#wake();
  }

  get isEmpty(): boolean {
    return this.#keys.size === 0;
  }

  /** A turn that was started here is running. */
  get hasTurn(): boolean {
    return [...this.#keys].some((key) => key.startsWith("turn "));
  }

  waitUntilEmpty(): Promise<void> {
    return this.waitFor(() => this.#keys.size === 0);
  }

  /** Resolves when a script may send the frame: earlier frames are answered, and its session's turn is over. */
  waitToSend({ type, session_id }: VerbFrame): Promise<void> {
    const turn = `turn ${String(session_id)}`;
    const needsQuiet = type === "agent.user" || type === "blemeesd.close";
    return this.waitFor(() => {
      const isAnswered = [...this.#keys].every((key) => key.startsWith("turn "));
      return isAnswered && !(needsQuiet && this.#keys.has(turn));
    });
  }

  /** Resolves when the condition holds; checked with every frame. */
  waitFor(isOver: () => boolean): Promise<void> {
    if (isOver()) return Promise.resolve();
    return new Promise((resolve) => this.#waiters.push({ isOver, resolve }));
  }

  #wake(): void {
    const waiters = this.#waiters;
    this.#waiters = waiters.filter((waiter) => !waiter.isOver());
    for (const waiter of waiters) if (waiter.isOver()) waiter.resolve();
  }
}
