// The one path of an event: added to its session's stream, stored together with all others of this tick, then sent.
// Clients see only stored frames. One write is in progress at a time; frames that arrive meanwhile form the next one,
// so batches grow with the load.

import type { Log } from "../../base/log.ts";
import type { Counter, Metrics } from "../../base/metrics.ts";
import { defined } from "../../base/values.ts";
import type { Observer } from "../../observe/types.ts";
import type { RequestRow } from "../../protocol/requests.ts";
import type { Losses } from "../../store/losses.ts";
import type { AppendOrder, AppendOutcome, Store } from "../../store/types.ts";
import type { Stream, Taken } from "./stream.ts";

export interface Publisher {
  /** `sync`: must be on disk before a client sees it (turn ends). */
  publish(stream: Stream, frame: object, sync?: boolean): void;
  /** Frames of a conversation that happened elsewhere: nobody counts them as work of this session. */
  publishPast(stream: Stream, frames: readonly object[]): void;
  /** The stream's row changed without a frame. */
  saveRow(stream: Stream): void;
  /** Stores and sends what this stream has now, unless another write is in progress. */
  flush(stream: Stream): void;
  /**
   * A ledger row and the frame that announces it: stored together, before any client sees the frame. `owed` is a frame
   * that comes first. Returns the reason if it could not be stored; then nothing was sent.
   */
  publishRequest(
    stream: Stream,
    row: RequestRow,
    frame: object | undefined,
    owed?: object,
  ): Promise<string | undefined>;
  /**
   * Ignores every later call; a later `publishRequest` never resolves, because nothing may follow from it. Resolves when
   * everything published before is stored, or known to be lost.
   */
  close(): Promise<void>;
}

/** Observers and metrics. */
export interface PublisherExtras {
  observer?: Pick<Observer, "frame" | "request">;
  metrics?: Metrics;
  /** Remembers across restarts what could not be stored. */
  losses?: () => Losses | undefined;
}

export function createPublisher(store: Store, log: Log, extras: PublisherExtras = {}): Publisher {
  const { observer } = extras;
  const counted = makeCounters(extras.metrics);
  const waiting = new Set<Stream>();
  let scheduled = false;
  let writing = false;
  let isClosed = false;
  const closing: (() => void)[] = [];

  function mark(stream: Stream): void {
    waiting.add(stream);
    if (!writing) schedule();
  }

  function schedule(): void {
    if (scheduled) return;
    scheduled = true;
    // After pending promises: the start of a turn, its message and its notice are one write. Nothing waits for another
    // turn of the event loop.
    process.nextTick(flushTick);
  }

  function flushTick(): void {
    scheduled = false;
    if (!writing) flush();
  }

  function flush(): void {
    const taken: [Stream, Taken][] = [];
    const requests: RequestRow[] = [];
    const order: AppendOrder = { batches: [], rows: [], sync: false };
    for (const stream of waiting) {
      if (!stream.hasWork) continue;
      const part = stream.take(makeRecoveredNotice);
      taken.push([stream, part]);
      if (part.tails.length > 0) order.batches.push(part.batch);
      if (part.row !== undefined) order.rows.push(part.row);
      for (const { row } of part.requests) requests.push(row);
      if (part.sync) order.sync = true;
    }
    waiting.clear();
    if (taken.length === 0) {
      endClosing();
      return;
    }
    if (requests.length > 0) order.requests = requests;
    // A store that keeps nothing still keeps the ledger while the daemon runs.
    if (!store.durable && requests.length === 0) {
      for (const [stream, part] of taken) stream.settle(part, undefined, undefined);
      endClosing();
      return;
    }
    writing = true;
    const outcome = store.append(order);
    if (!(outcome instanceof Promise)) {
      settle(taken, order, outcome);
      return;
    }
    outcome.then(
      (known) => settle(taken, order, known),
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
        if (failure !== undefined) extras.losses?.()?.record(stream.session_id, last_seq);
        else if (part.tails.length > 0) extras.losses?.()?.clear(stream.session_id);
      }
    } finally {
      // A subscriber never delays the next write.
      writing = false;
      if (waiting.size > 0) schedule();
      else endClosing();
    }
    if (fault !== undefined) log.error("store.append_failed", { message: fault, batches: batches.length });
    if (failed > 0) {
      counted?.lost.add(failed);
      log.error("event_persist_error", { message: fault, batches: failed });
    }
  }

  function endClosing(): void {
    for (const resolve of closing.splice(0)) resolve();
  }

  return {
    publish(stream, frame, sync = false) {
      if (isClosed) return;
      stream.add(frame, sync);
      mark(stream);
      observer?.frame(stream.row, frame);
    },
    publishPast(stream, frames) {
      if (isClosed) return;
      for (const frame of frames) stream.add(frame, false);
      mark(stream);
    },
    saveRow(stream) {
      if (isClosed) return;
      stream.touchRow();
      mark(stream);
    },
    flush(stream) {
      if (!isClosed && !writing && stream.hasWork) flush();
    },
    publishRequest(stream, row, frame, owed) {
      return new Promise((resolve) => {
        if (isClosed) return;
        if (owed !== undefined) stream.addRequest(row, owed, () => undefined);
        stream.addRequest(row, frame, (failure) => {
          resolve(failure);
          if (failure === undefined && row.undecided !== true) observer?.request(row);
        });
        mark(stream);
        if (owed !== undefined) observer?.frame(stream.row, owed);
        if (frame !== undefined) observer?.frame(stream.row, frame);
      });
    },
    async close() {
      isClosed = true;
      // What is read from now on is not stored, so the frames that wait must not be stored with its mark.
      for (const stream of waiting) stream.keepMark();
      if (scheduled || writing) await new Promise<void>((resolve) => closing.push(resolve));
    },
  };
}

interface Counters {
  stored: Counter;
  lost: Counter;
}

function makeCounters(metrics: Metrics | undefined): Counters | undefined {
  if (metrics === undefined) return undefined;
  return {
    stored: metrics.counter("blemees_events_stored_total", "Frames stored in the log."),
    lost: metrics.counter(
      "blemees_event_persist_error_total",
      "event_persist_error: batches of frames of one session that could not be stored.",
    ),
  };
}

/** The first frame after failed writes: reports what the history lacks. */
export function makeRecoveredNotice(backend: string, lost: number | undefined, after_seq: number): object {
  return {
    type: "agent.notice",
    backend,
    level: "warn",
    category: "event_persist_recovered",
    text:
      lost === undefined
        ? `frames after seq ${after_seq} are missing from the history: they could not be stored, or the store was damaged`
        : `${lost} frames could not be stored and are missing from the history`,
    data: { ...defined({ lost }), after_seq },
  };
}
