// Moves wakes from a child's row to its parent's queue. A wake leaves the child's row only after the parent's queue has
// it, and the queue recognizes its id, so it is delivered once even across crashes. Failed deliveries are retried.
import { CodedError, toMessage } from "../../base/coded-error.ts";
import type { Log } from "../../base/log.ts";
import type { Counter, Metrics } from "../../base/metrics.ts";
import { Serial } from "../../base/serial.ts";
import type { QueuedMessage } from "../../protocol/queue.ts";
import type { SessionRow, Wake } from "../../protocol/session.ts";
import { parseWakeId, toWakeMessage } from "./wakes.ts";

const MAX_RETRY_MS = 60_000;

export interface DeliveryParts {
  /** The row of a session in memory; read it again after every await. */
  row(session_id: string): SessionRow | undefined;
  /** The row of any session. */
  find(session_id: string): Promise<SessionRow | undefined>;
  /** Resolves once the current row is stored; rejects if the write fails. */
  stored(session_id: string): Promise<void>;
  /**
   * Changes the row and resolves once stored. If the write fails it rejects, and the change stays in memory. Throws
   * `session_unknown`.
   */
  update(session_id: string, change: (row: SessionRow) => void): Promise<void>;
  /**
   * Resolves once the message is stored in the session's queue, immediately if it ever was (`queue`, `inputs`). Throws
   * `session_unknown`; after any other error the call is retried.
   */
  enqueue(session_id: string, message: QueuedMessage): Promise<void>;
  /** Removes a message from a queue; false if it is no longer there. */
  cancelQueued(session_id: string, message_id: string): Promise<boolean>;
  /** Whether the request is still pending. */
  isPending(session_id: string, request_id: string): boolean;
  now(): number;
  log: Log;
  metrics?: Metrics | undefined;
}

/** Deliveries of one child. */
interface Line {
  readonly steps: Serial;
  running: number;
  tries: number;
  retry?: NodeJS.Timeout;
  readonly added: Wake[];
  /** Wakes that are no longer true, and whose queue they may be in. */
  readonly recalled: Map<string, string>;
  /** The row may contain unsaved changes. */
  isUnstored: boolean;
}

export class WakeDelivery {
  readonly #parts: DeliveryParts;
  readonly #retryMs: number;
  readonly #lines = new Map<string, Line>();
  readonly #delivered: Counter | undefined;
  readonly #dropped: Counter | undefined;
  readonly #retries: Counter | undefined;
  /** By child: a wake in its row that must not be delivered yet. After a restart it is delivered. */
  readonly #held = new Map<string, string>();
  readonly #waiting: (() => void)[] = [];
  #isClosed = false;

  constructor(parts: DeliveryParts, retryMs: number) {
    this.#parts = parts;
    this.#retryMs = retryMs;
    this.#delivered = parts.metrics?.counter("blemees_wakes_total", "Wakes delivered to parents.");
    this.#dropped = parts.metrics?.counter(
      "blemees_wakes_dropped_total",
      "Wakes that were no longer needed.",
    );
    this.#retries = parts.metrics?.counter(
      "blemees_wake_retries_total",
      "Wake deliveries that were retried.",
    );
  }

  /** The child's row has wakes. */
  deliver(child_id: string): void {
    if (!this.#isClosed) this.#work(child_id, this.#line(child_id));
  }

  /** The child's row has this wake, but delivery waits for `release` or a newer turn. */
  hold(child_id: string, wake_id: string): void {
    this.#held.set(child_id, wake_id);
  }

  /** Allows delivery of the held wake. Returns its id. */
  release(child_id: string): string | undefined {
    const wake_id = this.#held.get(child_id);
    this.#held.delete(child_id);
    return wake_id;
  }

  /** Adds the wake to the child's row and delivers it. */
  add(child_id: string, wake: Wake): void {
    if (this.#isClosed) return;
    const line = this.#line(child_id);
    line.added.push(wake);
    this.#work(child_id, line);
  }

  /** The wake is no longer true: removes it if the parent has not read it yet. */
  recall(child_id: string, wake_id: string, parent_id: string): void {
    if (this.#isClosed) return;
    const line = this.#line(child_id);
    line.recalled.set(wake_id, parent_id);
    this.#work(child_id, line);
  }

  /** At daemon start: continues deliveries of the previous run. */
  resume(rows: Iterable<SessionRow>): void {
    for (const row of rows) {
      for (const { kind, message_id, from } of row.queue ?? []) {
        if (kind !== "wake" || from === undefined) continue;
        if (this.#isStale(from, message_id)) this.recall(from, message_id, row.session_id);
      }
      if ((row.wakes ?? []).length > 0) this.deliver(row.session_id);
    }
  }

  /** Resolves when no delivery is in progress or waiting for a retry. */
  async idle(): Promise<void> {
    if (this.#lines.size > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** Finishes deliveries in progress; others stay in their rows for the next start. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { retry } of this.#lines.values()) clearTimeout(retry);
    await Promise.all([...this.#lines.values()].map(({ steps }) => steps.idle()));
  }

  #line(child_id: string): Line {
    const known = this.#lines.get(child_id);
    if (known !== undefined) return known;
    const line: Line = {
      steps: new Serial(),
      running: 0,
      tries: 0,
      added: [],
      recalled: new Map(),
      isUnstored: false,
    };
    this.#lines.set(child_id, line);
    return line;
  }

  /** Serialized per child, so that a recall never overlaps a delivery. */
  #work(child_id: string, line: Line): void {
    line.running += 1;
    // `run` starts after the caller has handed the hook's row to the store.
    const working = line.steps.run(async () => {
      if (this.#isClosed) return;
      await this.#putAll(child_id, line);
      await this.#recallAll(child_id, line);
      await this.#tellAll(child_id, line);
      line.tries = 0;
    });
    void working
      .catch((error: unknown) => this.#onFailure(child_id, line, error))
      .finally(() => {
        line.running -= 1;
        if (line.running > 0 || line.retry !== undefined) return;
        this.#lines.delete(child_id);
        if (this.#lines.size === 0) for (const resolve of this.#waiting.splice(0)) resolve();
      });
  }

  async #onFailure(child_id: string, line: Line, error: unknown): Promise<void> {
    const isGone = await this.#parts.find(child_id).then(
      (row) => row === undefined,
      () => false, // the store cannot be read now
    );
    if (this.#isClosed || isGone) return;
    this.#retries?.add();
    this.#parts.log.warn("wake.delayed", { session_id: child_id, message: toMessage(error) });
    clearTimeout(line.retry);
    const delayMs = Math.min(MAX_RETRY_MS, this.#retryMs * 2 ** line.tries);
    line.tries += 1;
    line.retry = setTimeout(() => {
      delete line.retry;
      this.deliver(child_id);
    }, delayMs);
    line.retry.unref();
  }

  /** After this the child's row, including its wakes, is stored. */
  async #putAll(child_id: string, line: Line): Promise<void> {
    if ((await this.#parts.find(child_id)) === undefined) return;
    const added = line.added.splice(0);
    if (added.length > 0 || line.isUnstored) {
      await this.#save(child_id, line, (row) => {
        for (const wake of added) putWake(row, wake);
      });
      return;
    }
    line.isUnstored = true;
    await this.#parts.stored(child_id);
    line.isUnstored = false;
  }

  async #recallAll(child_id: string, line: Line): Promise<void> {
    for (const [wake_id, parent_id] of [...line.recalled]) {
      const row = await this.#parts.find(child_id);
      const isHere = row?.wakes?.some((wake) => wake.wake_id === wake_id) === true;
      if (isHere) await this.#drop(child_id, wake_id, line);
      const isGone = isHere || (await this.#unqueue(parent_id, wake_id));
      if (isGone) this.#note(child_id, wake_id, "settled");
      line.recalled.delete(wake_id);
    }
  }

  async #unqueue(parent_id: string, wake_id: string): Promise<boolean> {
    try {
      return await this.#parts.cancelQueued(parent_id, wake_id);
    } catch (error) {
      if (isUnknown(error)) return false;
      throw error;
    }
  }

  async #tellAll(child_id: string, line: Line): Promise<void> {
    for (;;) {
      const row = await this.#parts.find(child_id);
      const held = this.#held.get(child_id);
      const wake = row?.wakes?.find(({ wake_id }) => wake_id !== held);
      if (row === undefined || wake === undefined || this.#isClosed) return;
      const fate = await this.#tell(row, wake);
      await this.#drop(child_id, wake.wake_id, line);
      this.#note(child_id, wake.wake_id, fate, wake);
    }
  }

  async #tell(row: SessionRow, wake: Wake): Promise<Fate> {
    const { session_id, parent } = row;
    if (parent === undefined) return "parent_gone";
    if (this.#isStale(session_id, wake.wake_id, wake)) return "settled";
    try {
      await this.#parts.enqueue(parent, toWakeMessage(wake, session_id, this.#parts.now()));
      return "delivered";
    } catch (error) {
      if (isUnknown(error)) return "parent_gone";
      throw error;
    }
  }

  #drop(child_id: string, wake_id: string, line: Line): Promise<void> {
    return this.#save(child_id, line, (row) => dropWake(row, wake_id));
  }

  async #save(child_id: string, line: Line, change: (row: SessionRow) => void): Promise<void> {
    line.isUnstored = true;
    await this.#parts.update(child_id, change);
    line.isUnstored = false;
  }

  /** A settled request, or a stall of a finished turn. Results stay true. */
  #isStale(child_id: string, wake_id: string, wake?: Wake): boolean {
    const about = parseWakeId(child_id, wake_id.replace(/_again$/, ""));
    if (about === undefined) return false;
    if (wake?.kind === "blocked" || (wake === undefined && about.startsWith("req_"))) {
      return !this.#parts.isPending(child_id, about);
    }
    const turn_id = /^(.*)_stall_\d+$/.exec(about)?.[1];
    return turn_id !== undefined && this.#parts.row(child_id)?.turn?.turn_id !== turn_id;
  }

  #note(session_id: string, wake_id: string, fate: Fate, wake?: Wake): void {
    const { log } = this.#parts;
    if (fate === "delivered") {
      this.#delivered?.add(1, wake === undefined ? {} : { kind: wake.kind });
      log.info("wake.queued", { session_id, wake_id });
      return;
    }
    this.#dropped?.add(1, { reason: fate });
    log.info("wake.dropped", { session_id, wake_id, reason: fate });
  }
}

type Fate = "delivered" | "parent_gone" | "settled";

function isUnknown(error: unknown): boolean {
  return error instanceof CodedError && error.code === "session_unknown";
}

/** Once: the same event has the same id. */
export function putWake(row: SessionRow, wake: Wake): void {
  if (row.wakes?.some(({ wake_id }) => wake_id === wake.wake_id)) return;
  row.wakes = [...(row.wakes ?? []), wake];
}

export function dropWake(row: SessionRow, wake_id: string): void {
  const left = (row.wakes ?? []).filter((wake) => wake.wake_id !== wake_id);
  if (left.length > 0) row.wakes = left;
  else delete row.wakes;
}
