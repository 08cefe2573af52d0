// Messages for the running turn, until the loop adds them to the history before its next model request.
import type { UserMessage } from "./messages.ts";

export type SteerOutcome = "taken" | "returned";

interface Waiting {
  message: UserMessage;
  settle(outcome: SteerOutcome): void;
}

export class Steers {
  #waiting: Waiting[] = [];

  add(message: UserMessage): Promise<SteerOutcome> {
    return new Promise((settle) => this.#waiting.push({ message, settle }));
  }

  /** The oldest; `add` resolves when it is taken. */
  take(): UserMessage | undefined {
    const first = this.#waiting.shift();
    first?.settle("taken");
    return first?.message;
  }

  /** The turn is over. */
  giveBack(): void {
    for (const { settle } of this.#waiting.splice(0)) settle("returned");
  }
}
