// Messages that wait for the running task, in memory: they go one by one when it is done.
import { CodedError } from "../../../base/coded-error.ts";
import type { UserMessage } from "../../../protocol/content.ts";
import { textOf } from "../../../protocol/message-text.ts";
import type { QueuedMessage } from "../../../protocol/queue.ts";

const MAX_WAITING = 100;

export class Queue {
  #messages: QueuedMessage[] = [];
  #count = 0;

  get messages(): readonly QueuedMessage[] {
    return this.#messages;
  }

  add(text: string, isNow: boolean): void {
    if (this.#messages.length >= MAX_WAITING) {
      throw new CodedError("queue_full", `${MAX_WAITING} messages wait already; this one was not taken`);
    }
    this.#count += 1;
    const message: UserMessage = { role: "user", content: text };
    const queued: QueuedMessage = {
      message_id: `msg_${this.#count}`,
      kind: "user",
      message,
      queued_at_ms: Date.now(),
    };
    this.#messages = isNow ? [queued, ...this.#messages] : [...this.#messages, queued];
  }

  take(): string | undefined {
    const [first, ...rest] = this.#messages;
    this.#messages = rest;
    return first === undefined ? undefined : textOf(first.message, "\n");
  }

  cancel(message_id: string): void {
    const left = this.#messages.filter((one) => one.message_id !== message_id);
    if (left.length === this.#messages.length) {
      throw new CodedError("not_queued", `message ${message_id} does not wait any more`);
    }
    this.#messages = left;
  }

  /** How many there were. */
  clear(): number {
    const { length } = this.#messages;
    this.#messages = [];
    return length;
  }
}
