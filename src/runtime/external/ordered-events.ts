// Emits the events of another agent in order, even while hooks check a text first.
import type { EventBody } from "../events.ts";
import { guardAnswer } from "../message-hooks.ts";
import type { Services } from "../services.ts";

export class OrderedEvents {
  readonly #services: Services;
  readonly #signal: AbortSignal;
  readonly #onBlocked: (reason: string | undefined) => void;
  /** The last queued step. */
  #last: Promise<void> | undefined;

  /** `onBlocked`: a hook wants to end this turn. */
  constructor(services: Services, signal: AbortSignal, onBlocked: (reason: string | undefined) => void) {
    this.#services = services;
    this.#signal = signal;
    this.#onBlocked = onBlocked;
  }

  emit(event: EventBody): void {
    if (event.type === "model.text") this.#enqueue(() => this.#emitText(event));
    else if (this.#last === undefined) this.#services.emit(event);
    else this.#enqueue(async () => this.#services.emit(event));
  }

  /** Resolves once every event so far was emitted. */
  async flush(): Promise<void> {
    while (this.#last !== undefined) await this.#last;
  }

  async #emitText(event: Extract<EventBody, { type: "model.text" }>): Promise<void> {
    const said = await guardAnswer(this.#services, event.text, this.#signal);
    if (said.text !== "") this.#services.emit({ ...event, text: said.text });
    if (said.blocked) this.#onBlocked(said.reason);
  }

  #enqueue(step: () => Promise<void>): void {
    const mine = (this.#last ?? Promise.resolve()).then(step).finally(() => {
      if (this.#last === mine) this.#last = undefined;
    });
    this.#last = mine;
  }
}
