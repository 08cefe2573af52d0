// Reads server-sent events as they arrive.
import type { IncomingMessage } from "node:http";
import { createParser, type EventSourceMessage } from "eventsource-parser";

export class SseReader {
  readonly events: EventSourceMessage[] = [];
  readonly comments: string[] = [];
  readonly response: IncomingMessage;
  isOver = false;
  #wake: () => void = () => undefined;

  constructor(response: IncomingMessage) {
    this.response = response;
    const parser = createParser({
      onEvent: (event) => this.events.push(event),
      onComment: (text) => this.comments.push(text),
    });
    response.setEncoding("utf8");
    response.on("data", (text: string) => {
      parser.feed(text);
      this.#wake();
    });
    response.on("error", () => undefined);
    response.on("close", () => {
      this.isOver = true;
      this.#wake();
    });
  }

  /** Resolves when `fits`; rejects when the stream ends before. */
  async until(fits: (reader: this) => boolean): Promise<this> {
    while (!fits(this)) {
      if (this.isOver) throw new Error(`the stream ended after ${this.events.length} events`);
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this;
  }

  async ended(): Promise<void> {
    while (!this.isOver) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  ids(): number[] {
    return this.events.filter(({ id }) => id !== undefined).map(({ id }) => Number(id));
  }

  close(): void {
    this.response.destroy();
  }
}
