// The one path of an event: added to its session's stream, written to the log together with all others of
// this tick, then given out. A client sees only what the log has (DESIGN R3). One write is under way at a time;
// what arrives meanwhile forms the next one, so batches grow by themselves with the load.
import type { Log } from "../../base/log.ts";
import type { Counter, Metrics } from "../../base/metrics.ts";
import type { Observer } from "../../observe/types.ts";
import type { RequestRow } from "../../protocol/requests.ts";
import type { Losses } from "../../store/losses.ts";
import type { AppendOrder, AppendOutcome, Store } from "../../store/types.ts";
import type { Stream, Taken } from "./stream.ts";

export interface Publisher {
  /** `sync`: the disk must have it before anybody sees it (turn ends). */
  publish(stream: Stream, frame: object, sync?: boolean): void;
  /** The stream's row changed without a frame. */
  saveRow(stream: Stream): void;
  /**
   * A row of the ledger, and the frame that tells of it: on the disk together, before anybody sees the frame. Gives
   * why it was not stored; then nobody has seen anything.
   */
  publishRequest(stream: Stream, row: RequestRow, frame: object | undefined): Promise<string | undefined>;
}

/** Who else is told of what passes, and where it is counted. */
export interface PublisherExtras {
  observer?: Pick<Observer, "frame" | "request">;
  metrics?: Metrics;
  /** Remembers over the daemon's death what could not be stored. */
  losses?: () => Losses | undefined;
}

export function createPublisher(store: Store, log: Log, extras: PublisherExtras = {}): Publisher {
  const { observer } = extras;
  const counted = countersOf(extras.metrics);
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
    const requests: RequestRow[] = [];
    const order: AppendOrder = { batches: [], rows: [], sync: false };
    for (const stream of waiting) {
      if (!stream.hasWork) continue;
      const part = stream.take(recoveredNotice);
      taken.push([stream, part]);
      if (part.tails.length > 0) order.batches.push(part.batch);
      if (part.row !== undefined) order.rows.push(part.row);
      for (const { row } of part.requests) requests.push(row);
      if (part.sync) order.sync = true;
    }
    waiting.clear();
    if (taken.length === 0) return;
    if (requests.length > 0) order.requests = requests;
    // A store that keeps nothing keeps the ledger all the same, for as long as the daemon lives.
    if (!store.durable && requests.length === 0) {
      for (const [stream, part] of taken) stream.settle(part, undefined, undefined);
      return;
    }
    writing = true;
    store.append(order).then(
      (outcome) => settle(taken, order, outcome),
      (error: Error) =>
        settle(
          taken,
          order,
          [...order.batches, ...order.rows, ...requests].map(() => error.message),
        ),
    );
  }

  function settle(taken: [Stream, Taken][], { batches, rows }: AppendOrder, outcome: AppendOutcome): void {
    let nextBatch = 0;
    let nextRow = batches.length;
    let nextRequest = nextRow + rows.length;
    let fault: string | undefined;
    let failed = 0;
    try {
      for (const [stream, part] of taken) {
        const failure = part.tails.length > 0 ? outcome[nextBatch++] : undefined;
        const rowFailure = part.row === undefined ? undefined : outcome[nextRow++];
        const unstored = part.requests.map(() => outcome[nextRequest++]).find((one) => one !== undefined);
        fault ??= failure ?? rowFailure ?? unstored;
        if (failure === undefined) counted?.stored.add(part.tails.length);
        else failed += 1;
        const { last_seq } = stream;
        stream.settle(part, failure, rowFailure, unstored);
        if (failure !== undefined) extras.losses?.()?.lost(stream.session_id, last_seq);
        else if (part.tails.length > 0) extras.losses?.()?.told(stream.session_id);
      }
    } finally {
      // Whatever a subscriber does with its frames, the next write is not held up.
      writing = false;
      if (waiting.size > 0) flush();
    }
    if (fault !== undefined) log.error("store.append_failed", { message: fault, batches: batches.length });
    if (failed > 0) {
      counted?.lost.add(failed);
      log.error("event_persist_error", { message: fault, batches: failed });
    }
  }

  return {
    publish(stream, frame, sync = false) {
      stream.add(frame, sync);
      mark(stream);
      observer?.frame(stream.row, frame);
    },
    saveRow(stream) {
      stream.touchRow();
      mark(stream);
    },
    publishRequest(stream, row, frame) {
      return new Promise((resolve) => {
        stream.addRequest(row, frame, (failure) => {
          resolve(failure);
          if (failure === undefined) observer?.request(row);
        });
        mark(stream);
        if (frame !== undefined) observer?.frame(stream.row, frame);
      });
    },
  };
}

interface Counters {
  stored: Counter;
  lost: Counter;
}

function countersOf(metrics: Metrics | undefined): Counters | undefined {
  if (metrics === undefined) return undefined;
  return {
    stored: metrics.counter("blemees_events_stored_total", "Frames that the log has taken."),
    lost: metrics.counter(
      "blemees_event_persist_error_total",
      "event_persist_error: batches of frames of one session that the log did not take.",
    ),
  };
}

/** The first frame after a time without log: what the history does not have. */
export function recoveredNotice(backend: string, lost: number | undefined, after_seq: number): object {
  return {
    type: "agent.notice",
    backend,
    level: "warn",
    category: "event_persist_recovered",
    text:
      lost === undefined
        ? `frames after seq ${after_seq} are missing from the history: they could not be stored, or the store was damaged`
        : `${lost} frames could not be stored and are missing from the history`,
    data: { ...(lost === undefined ? {} : { lost }), after_seq },
  };
}
