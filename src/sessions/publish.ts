// The one path of an event: added to its session's stream, written to the log together with all others of
// this tick, then given out. A client sees only what the log has (DESIGN R3). One write is under way at a time;
// what arrives meanwhile forms the next one, so batches grow by themselves with the load.
import type { Log } from "../base/log.ts";
import type { Store } from "../store/types.ts";
import type { Stream, Taken } from "./stream.ts";

export interface Publisher {
  /** `sync`: the disk must have it before anybody sees it (turn ends). */
  publish(stream: Stream, frame: object, sync?: boolean): void;
  /** The stream's row changed without a frame. */
  saveRow(stream: Stream): void;
}

export function createPublisher(store: Store, log: Log): Publisher {
  const waiting = new Set<Stream>();
  let scheduled = false;
  let writing = false;

  function mark(stream: Stream): void {
    waiting.add(stream);
    if (scheduled || writing) return;
    scheduled = true;
    // A microtask: everything that one read brought goes together, and nothing waits for another turn of the loop.
    queueMicrotask(() => {
      scheduled = false;
      flush();
    });
  }

  function flush(): void {
    const taken: [Stream, Taken][] = [];
    for (const stream of waiting) if (stream.hasWork) taken.push([stream, stream.take(recoveredNotice)]);
    waiting.clear();
    if (taken.length === 0) return;
    if (!store.durable) {
      for (const [stream, part] of taken) stream.settle(part, undefined, undefined);
      return;
    }
    writing = true;
    void write(taken).finally(() => {
      writing = false;
      if (waiting.size > 0) flush();
    });
  }

  async function write(taken: [Stream, Taken][]): Promise<void> {
    const withFrames = taken.filter(([, part]) => part.tails.length > 0);
    const batches = withFrames.map(([, part]) => part.batch);
    const rows = taken.flatMap(([, part]) => (part.row === undefined ? [] : [part.row]));
    let failures: (string | undefined)[];
    try {
      failures = await store.append({ batches, rows, sync: taken.some(([, part]) => part.sync) });
    } catch (error) {
      failures = [...batches, ...rows].map(() => (error as Error).message);
    }
    const failed = failures.find((failure) => failure !== undefined);
    if (failed !== undefined)
      log.error("store.append_failed", { message: failed, batches: withFrames.length });
    let nextBatch = 0;
    let nextRow = batches.length;
    for (const [stream, part] of taken) {
      const failure = part.tails.length > 0 ? failures[nextBatch++] : undefined;
      stream.settle(part, failure, part.row === undefined ? undefined : failures[nextRow++]);
    }
  }

  return {
    publish(stream, frame, sync = false) {
      stream.add(frame, sync);
      mark(stream);
    },
    saveRow(stream) {
      stream.touchRow();
      mark(stream);
    },
  };
}

/** The first frame after a time without log: what the history does not have. */
function recoveredNotice(backend: string, lost: number, after_seq: number): object {
  return {
    type: "agent.notice",
    backend,
    level: "warn",
    category: "event_persist_recovered",
    text: `${lost} frames could not be stored and are missing from the history`,
    data: { lost, after_seq },
  };
}
