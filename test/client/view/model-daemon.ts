// A daemon with one session for a model test: every reply and every piece of a stream waits until the test releases it,
// and it can be cut, killed, restarted, pruned and rolled back to an older state at any moment.
import type { ChangeView, EventsPage, StreamItem, ViewPort } from "../../../src/client/view/port.ts";
import { anEvent, aView } from "../session-views.ts";

interface Waiting {
  go(): void;
  cut(error: Error): void;
}

interface Stream<T> {
  items: T[];
  isCut: boolean;
  wake(): void;
}

export class ModelDaemon {
  /** The stored events by seq; each contains the number of its daemon run, so that histories differ. */
  readonly log = new Map<number, number>();
  last_seq = 0;
  life = 0;
  isUp = true;
  isRemoved = false;
  /** Frames that were never stored but were streamed. */
  readonly unstored: string[] = [];
  readonly #waiting: Waiting[] = [];
  readonly #streams = new Set<Stream<StreamItem>>();
  readonly #changes = new Set<Stream<ChangeView>>();

  readonly port = {
    session: () => this.#reply(() => aView({ last_seq: this.last_seq })),
    requests: () => this.#reply(() => ({ requests: [] })),
    queue: () => this.#reply(() => ({ session_id: "s1", queued: [], recent: [] })),
    events: (_id: string, { since_seq, limit }: { since_seq: number; limit: number }) =>
      this.#reply(() => this.#page(since_seq, Math.min(limit, 7))),
    follow: (_id: string, order: { since_seq: number; signal: AbortSignal; onOpen: () => void }) =>
      this.#follow(order),
    changes: (signal: AbortSignal) =>
      this.#stream(this.#changes, signal, [{ kind: "reset" }], () => undefined),
  } as unknown as ViewPort;

  publish(): void {
    if (!this.isUp || this.isRemoved) return;
    this.last_seq += 1;
    this.log.set(this.last_seq, this.life);
    this.#give({ kind: "frame", seq: this.last_seq, frame: this.frameOf(this.last_seq) });
  }

  /** The disk is full. */
  publishUnstored(name: string): void {
    if (!this.isUp || this.#streams.size === 0) return;
    this.unstored.push(name);
    this.#give({ kind: "frame", seq: null, frame: { type: "agent.notice", text: name } });
  }

  sayBehind(): void {
    this.#give({ kind: "catching_up", data: { last_seq: this.last_seq } });
  }

  frameOf(seq: number) {
    return { type: "agent.notice", seq, text: `${this.log.get(seq)}.${seq}` };
  }

  /** Retention removes the oldest. */
  prune(count: number): void {
    for (const seq of [...this.log.keys()].slice(0, Math.min(count, this.log.size - 1))) this.log.delete(seq);
  }

  /** Releases one of the waiting replies. */
  letGo(at: number): void {
    this.#waiting.splice(at % Math.max(1, this.#waiting.length), 1)[0]?.go();
  }

  get isWaitedFor(): boolean {
    return this.#waiting.length > 0;
  }

  cutStreams(): void {
    for (const stream of [...this.#streams, ...this.#changes]) {
      stream.isCut = true;
      stream.wake();
    }
  }

  kill(): void {
    this.isUp = false;
    this.cutStreams();
    for (const { cut } of this.#waiting.splice(0)) cut(lost());
  }

  /** `back`: number of newest events lost with the disk. */
  start(back = 0): void {
    if (this.isUp) return;
    this.isUp = true;
    this.life += 1;
    const to = Math.max(0, this.last_seq - back);
    for (let seq = to + 1; seq <= this.last_seq; seq += 1) this.log.delete(seq);
    this.last_seq = to;
  }

  remove(): void {
    this.isRemoved = true;
    for (const stream of this.#changes) {
      stream.items.push({ kind: "session_removed", session_id: "s1" });
      stream.wake();
    }
  }

  #give(item: StreamItem): void {
    for (const stream of this.#streams) {
      stream.items.push(item);
      stream.wake();
    }
  }

  #page(since_seq: number, limit: number): EventsPage {
    const isAhead = since_seq > this.last_seq;
    const cursor = isAhead ? 0 : since_seq;
    const seqs = [...this.log.keys()].filter((seq) => seq > cursor).slice(0, limit);
    const [first] = seqs;
    const gap = first !== undefined && first > cursor + 1;
    return {
      events: seqs.map((seq) => anEvent(seq, this.frameOf(seq))),
      earliest_seq: [...this.log.keys()][0] ?? null,
      latest_seq: this.last_seq,
      next_seq: seqs.at(-1) ?? this.last_seq,
      history_gap: gap || isAhead,
      gap_reason: isAhead ? "unknown" : gap ? "retention" : null,
    };
  }

  #reply<T>(make: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      if (!this.isUp) reject(lost());
      else if (this.isRemoved) reject(Object.assign(new Error("gone"), { code: "session_unknown" }));
      else this.#waiting.push({ go: () => resolve(make()), cut: reject });
    });
  }

  #follow({ since_seq, signal, onOpen }: { since_seq: number; signal: AbortSignal; onOpen: () => void }) {
    const items = [...this.log.keys()]
      .filter((seq) => seq > since_seq)
      .map((seq): StreamItem => ({ kind: "frame", seq, frame: this.frameOf(seq) }));
    return this.#stream(this.#streams, signal, items, onOpen);
  }

  async *#stream<T>(streams: Set<Stream<T>>, signal: AbortSignal, items: T[], onOpen: () => void) {
    if (!this.isUp) throw lost();
    const stream: Stream<T> = { items, isCut: false, wake: () => undefined };
    streams.add(stream);
    signal.addEventListener("abort", () => stream.wake());
    try {
      onOpen();
      while (!signal.aborted) {
        const item = stream.items.shift();
        if (item !== undefined) yield item;
        else if (stream.isCut) throw lost();
        else
          await new Promise<void>((resolve) => {
            stream.wake = resolve;
          });
      }
    } finally {
      streams.delete(stream);
    }
  }
}

function lost(): Error {
  return Object.assign(new Error("the daemon is away"), { code: "connection_lost" });
}
