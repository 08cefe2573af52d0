// A session's stream on a real store that can be made to fail, for the history tests.
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { silentLog } from "../../src/base/log.ts";
import type { EventsPage } from "../../src/protocol/views.ts";
import type { EventsOrder } from "../../src/sessions/manager-types.ts";
import { Feed } from "../../src/sessions/stream/feed.ts";
import { createPublisher, type Publisher } from "../../src/sessions/stream/publish.ts";
import { Stream } from "../../src/sessions/stream/stream.ts";
import { readEvents } from "../../src/sessions/views/events-page.ts";
import { createMemoryStore, openInProcessStore, type Store } from "../../src/store/index.ts";
import { tempDir } from "../store/material.ts";
import { atEndOfTest, Ear, rowOf } from "./fakes.ts";

export type Kind = "sqlite" | "memory";

export function openStore(kind: Kind, dir: string): Promise<Store> {
  if (kind === "memory") return Promise.resolve(createMemoryStore());
  return openInProcessStore({ path: join(dir, "log.db") });
}

export interface HistoryOptions {
  dir?: string;
  ringSize?: number;
  /** A store other than the default of its kind. */
  store?: Store;
}

/** One run of the daemon, as far as one session's history is concerned. */
export class History {
  readonly store: Store;
  readonly stream: Stream;
  readonly publisher: Publisher;
  /** Receives everything published in this run. */
  readonly ear = new Ear();
  readonly dir: string;
  readonly kind: Kind;
  readonly #ringSize: number;
  failing = false;

  static async open(kind: Kind, options: HistoryOptions = {}): Promise<History> {
    const { dir = tempDir(), ringSize = 8 } = options;
    const store = options.store ?? (await openStore(kind, dir));
    const row = (await store.loadRow("s")) ?? rowOf("s");
    return new History({ kind, dir, ringSize, store, row });
  }

  private constructor(parts: {
    kind: Kind;
    dir: string;
    ringSize: number;
    store: Store;
    row: ReturnType<typeof rowOf>;
  }) {
    const { store } = parts;
    this.kind = parts.kind;
    this.dir = parts.dir;
    this.#ringSize = parts.ringSize;
    const append = store.append.bind(store);
    store.append = (order) => (this.failing ? this.#refuse(order) : append(order));
    this.store = store;
    this.publisher = createPublisher(this.store, silentLog);
    this.stream = new Stream({
      row: parts.row,
      ringSize: parts.ringSize,
      store: this.store,
      pressure: () => undefined,
      owed: () => this.publisher.saveRow(this.stream),
    });
    atEndOfTest(() => this.stream.close());
    const after_seq = this.stream.last_seq;
    new Feed({
      client: { id: "c" },
      subscriber: this.ear,
      stream: this.stream,
      role: "watcher",
      after_seq,
    }).start();
    onTestFinished(() => store.close());
  }

  async say(...texts: string[]): Promise<void> {
    for (const text of texts) {
      this.publisher.publish(this.stream, { type: "agent.delta", backend: "fake", kind: "text", text });
    }
    await this.stream.settled();
  }

  async publish(...frames: object[]): Promise<void> {
    for (const frame of frames) this.publisher.publish(this.stream, frame);
    await this.stream.settled();
  }

  read(since_seq: number, more: Partial<EventsOrder> = {}): Promise<EventsPage> {
    return readEvents(
      { stream: this.stream, store: this.store },
      { session_id: "s", since_seq, limit: 100, waitMs: 0, ...more },
    );
  }

  /** Page after page until the end. */
  async readAll(since_seq: number, limit = 100): Promise<EventsPage[]> {
    const pages: EventsPage[] = [];
    for (let cursor = since_seq; ; ) {
      const page = await this.read(cursor, { limit });
      pages.push(page);
      if (page.next_seq === page.latest_seq) return pages;
      cursor = page.next_seq;
    }
  }

  /** Shuts down, writing what that writes, and starts the next run. */
  async restart(): Promise<History> {
    this.publisher.saveRow(this.stream);
    await this.stream.settled();
    this.stream.close();
    await this.store.close();
    return History.open(this.kind, { dir: this.dir, ringSize: this.#ringSize });
  }

  async #refuse({ batches, rows, requests = [] }: Parameters<Store["append"]>[0]): Promise<string[]> {
    return [...batches, ...rows, ...requests].map(() => "no space left on device");
  }
}

export const seqsOf = (pages: EventsPage | readonly EventsPage[]): (number | null)[] =>
  [pages].flat().flatMap((page: EventsPage) => page.events.map(({ seq }) => seq));

export const upTo = (last: number, first = 1): number[] =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index);

export const started = (turn_id: string) => ({
  type: "agent.notice",
  backend: "fake",
  level: "info",
  category: "task_started",
  data: { turn_id, started_at_ms: 1 },
});
export const result = (turn_id: string) => ({
  type: "agent.result",
  backend: "fake",
  subtype: "success",
  turn_id,
});
export const delta = (text: string) => ({ type: "agent.delta", backend: "fake", kind: "text", text });
