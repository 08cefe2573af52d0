// The events of another agent in their order, also where hooks look at a text before it is told.
import type { EventBody } from "../events.ts";
import { guardAnswer } from "../message-hooks.ts";
import type { Services } from "../services.ts";

export class Telling {
  readonly #services: Services;
  readonly #signal: AbortSignal;
  readonly #onBlocked: (reason: string | undefined) => void;
  /** The last of what waits. */
  #last: Promise<void> | undefined;

  /** `onBlocked`: a hook wants no more of this turn. */
  constructor(services: Services, signal: AbortSignal, onBlocked: (reason: string | undefined) => void) {
    this.#services = services;
    this.#signal = signal;
    this.#onBlocked = onBlocked;
  }

  tell(event: EventBody): void {
    if (event.type === "model.text") this.#later(() => this.#guarded(event));
    else if (this.#last === undefined) this.#services.emit(event);
    else this.#later(async () => this.#services.emit(event));
  }

  /** Resolves when everything so far was told. */
  async settled(): Promise<void> {
    while (this.#last !== undefined) await this.#last;
  }

  async #guarded(event: Extract<EventBody, { type: "model.text" }>): Promise<void> {
    const said = await guardAnswer(this.#services, event.text, this.#signal);
    if (said.text !== "") this.#services.emit({ ...event, text: said.text });
    if (said.blocked) this.#onBlocked(said.reason);
  }

  #later(step: () => Promise<void>): void {
    const mine = (this.#last ?? Promise.resolve()).then(step).finally(() => {
      if (this.#last === mine) this.#last = undefined;
    });
    this.#last = mine;
  }
}
