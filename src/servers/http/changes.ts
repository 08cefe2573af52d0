// The stream of all sessions' changes. Readers have a position in one ring of recent changes and continue from there after a
// pause. If the ring no longer has it, they get `reset` and reload.
import { randomUUID } from "node:crypto";
import type { Manager } from "../../sessions/manager-types.ts";
import { type EventStream, formatEvent } from "./streams.ts";

const MAX_CHANGES = 2_000;
const MAX_CHARS = 8 * 1024 * 1024;

export class ChangeFeed {
  readonly #manager: Manager;
  /** Distinguishes ids of earlier runs of the daemon. */
  readonly #boot = randomUUID().slice(0, 8);
  readonly #ring: string[] = [];
  readonly #readers = new Set<Reader>();
  #chars = 0;
  #last = 0;
  #stop: (() => void) | undefined;

  constructor(manager: Manager) {
    this.#manager = manager;
  }

  /** Sends a stream the changes after `last_id`; without one, a `reset` and everything that follows. */
  attach(stream: EventStream, last_id: string | undefined): void {
    // Subscribes with the first reader; before that there is nothing to keep.
    this.#stop ??= this.#manager.onChange((change) => this.#take(change.kind, JSON.stringify(change)));
    const reader: Reader = { stream, cursor: this.#parseCursor(last_id) };
    this.#readers.add(reader);
    stream.begin({
      drained: () => this.#pump(reader),
      ended: () => this.#readers.delete(reader),
    });
    this.#pump(reader);
  }

  close(): void {
    this.#stop?.();
  }

  /** -1: unknown position; the reader must reload. */
  #parseCursor(last_id: string | undefined): number {
    const [, boot, count] = /^([\da-f]{8})-(\d{1,15})$/.exec(last_id ?? "") ?? [];
    return boot === this.#boot && Number(count) <= this.#last ? Number(count) : -1;
  }

  #take(kind: string, data: string): void {
    this.#last += 1;
    const text = formatEvent(kind, data, this.#id(this.#last));
    this.#ring.push(text);
    this.#chars += text.length;
    while (this.#ring.length > MAX_CHANGES || (this.#chars > MAX_CHARS && this.#ring.length > 1)) {
      this.#chars -= this.#ring.shift()?.length ?? 0;
    }
    for (const reader of this.#readers) this.#pump(reader);
  }

  #pump(reader: Reader): void {
    const before = this.#last - this.#ring.length;
    if (reader.cursor < before && !reader.stream.isFull) {
      reader.stream.write(formatEvent("reset", '{"kind":"reset"}', this.#id(this.#last)));
      reader.cursor = this.#last;
    }
    while (reader.cursor < this.#last && !reader.stream.isFull) {
      reader.stream.write(this.#ring[reader.cursor - before] ?? "");
      reader.cursor += 1;
    }
  }

  #id(count: number): string {
    return `${this.#boot}-${count}`;
  }
}

interface Reader {
  readonly stream: EventStream;
  /** The last change sent to it. */
  cursor: number;
}
