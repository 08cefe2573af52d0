// Brings the messages of a session's queue to its agent: one at a time, in order, when it is free. A message is stored
// before its sender hears of it, and its leaving the queue is stored before the agent gets it: delivered at most once.
import { CodedError, messageOf } from "../base/coded-error.ts";
import type { Log } from "../base/log.ts";
import type { Serial } from "../base/serial.ts";
import type { ResultEvent } from "../protocol/events.ts";
import { textOf } from "../protocol/message-text.ts";
import type { InputRecord, QueuedMessage } from "../protocol/queue.ts";
import type { SessionRow } from "../protocol/session.ts";
import type { Conversation } from "./conversation.ts";
import type { Publisher } from "./publish.ts";
import {
  enqueue,
  findRepeated,
  markCancelled,
  markDelivered,
  markDone,
  markFailed,
  type NewInput,
  putBack,
  unqueue,
} from "./queue.ts";
import type { Stream } from "./stream.ts";

const RETRY_MS = 2_000;
const MAX_RETRY_MS = 60_000;
/** The history tells what was said; nobody types more, and a file that is sent is a file. */
const MAX_TEXT = 64 * 1024;
/** The session has something else to do first; whatever that is wakes the queue again. */
const LATER: ReadonlySet<string> = new Set(["session_busy", "pending_structured_request"]);

export interface DeliveryParts {
  row: SessionRow;
  stream: Stream;
  conversation: Conversation;
  publisher: Publisher;
  log: Log;
  /** Operations that start or end the agent, one after another. */
  ops: Serial;
  isClosed(): boolean;
  /** Starts the agent. Throws when that cannot be, or may not be now. */
  start(): Promise<void>;
  changed(input: InputRecord): void;
  /** Nothing waits any more, and the last one was called off. */
  drained(): void;
  /** The agent cannot be given it, or not for long now. The row is stored afterwards. */
  failed(message_id: string, error: { code: string; message: string }): void;
}

export class Delivery {
  /** Why nothing is delivered although the agent is free. */
  held: string | undefined;
  readonly #parts: DeliveryParts;
  #timer: NodeJS.Timeout | undefined;
  #retryMs = RETRY_MS;
  #isPumping = false;
  /** Messages whose senders were not told yet that they are stored. */
  readonly #unstored = new Set<string>();

  constructor(parts: DeliveryParts) {
    this.#parts = parts;
  }

  get queued(): readonly QueuedMessage[] {
    return this.#parts.row.queue ?? [];
  }

  /** Something is on its way that must not be cut off. */
  get isEngaged(): boolean {
    return (
      this.queued.length > 0 || this.#parts.row.inputs?.some(({ state }) => state === "delivered") === true
    );
  }

  /** Resolves when it is stored. Throws `queue_full`, `idempotency_mismatch`, `store_failed`. */
  async add(input: NewInput): Promise<{ input: InputRecord; position: number; repeated: boolean }> {
    const { row } = this.#parts;
    const known = findRepeated(row, input);
    if (known !== undefined)
      return { input: known, position: this.#placeOf(known.message_id), repeated: true };
    const record = enqueue(row, input, Date.now());
    const { stopped_at_ms } = row;
    if (input.kind === "user") delete row.stopped_at_ms;
    const { message_id } = record;
    this.#unstored.add(message_id);
    try {
      await this.store();
    } catch (error) {
      unqueue(row, message_id);
      if (stopped_at_ms !== undefined) row.stopped_at_ms = stopped_at_ms;
      this.pump();
      throw error;
    } finally {
      this.#unstored.delete(message_id);
    }
    this.#parts.changed(record);
    const position = this.#placeOf(message_id);
    this.#retryNow();
    return { input: record, position, repeated: false };
  }

  async cancel(message_id: string): Promise<InputRecord> {
    const { row } = this.#parts;
    const place = this.queued.findIndex((entry) => entry.message_id === message_id);
    const entry = this.queued[place];
    const follower = this.queued[place + 1]?.message_id;
    const cancelled = markCancelled(row, message_id);
    if (cancelled === undefined) {
      const known = row.inputs?.find((record) => record.message_id === message_id);
      const why = known === undefined ? "is not known" : `is ${known.state} already`;
      throw new CodedError("message_unknown", `message ${message_id} of session ${row.session_id} ${why}`);
    }
    if (this.queued.length === 0) this.#parts.drained();
    try {
      await this.store();
    } catch (error) {
      const at = this.queued.findIndex((one) => one.message_id === follower);
      if (entry !== undefined) putBack(row, entry, at === -1 ? this.queued.length : at);
      this.pump();
      throw error;
    }
    this.#tell("input_cancelled", cancelled);
    return cancelled;
  }

  /** Called when the turn's result is about to be stored. */
  turnEnding(result: ResultEvent): void {
    const done = markDone(this.#parts.row, result);
    if (done !== undefined) this.#parts.changed(done);
  }

  /** Delivers the next message if the agent is free. Whatever may have freed it calls this. */
  pump(): void {
    if (this.#isPumping || this.#timer !== undefined || this.#next() === undefined) return;
    this.#isPumping = true;
    void this.#parts.ops
      .run(() => this.#deliver())
      .then(
        () => undefined,
        (error: unknown) => this.#hold(error),
      )
      .finally(() => {
        this.#isPumping = false;
        if (this.held === undefined) this.pump();
      });
  }

  /** The row is on the disk. Throws `store_failed` when it is not. */
  async store(): Promise<void> {
    const { publisher, stream } = this.#parts;
    publisher.saveRow(stream);
    await stream.settled();
    if (!stream.isRowOwed) return;
    throw new CodedError("store_failed", "the disk did not take it, so nothing was done; look at the log");
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** What may go to the agent now. */
  #next(): QueuedMessage | undefined {
    const { row, conversation } = this.#parts;
    if (this.#parts.isClosed() || conversation.isTurnActive || conversation.isAsking) return undefined;
    // Ended by a person: only a new message of a person starts it again.
    const [first] = this.queued;
    if (first === undefined || row.stopped_at_ms !== undefined) return undefined;
    return this.#unstored.has(first.message_id) ? undefined : first;
  }

  async #deliver(): Promise<void> {
    const { row, conversation } = this.#parts;
    await conversation.calm();
    if (this.#next() === undefined) return;
    if (!conversation.isRunning) await this.#parts.start();
    // Only now: much may have happened while it started.
    const entry = this.#next();
    if (entry === undefined) return;
    const { taken } = await conversation.send(entry.message, {
      begun: (turn_id) => {
        const record = markDelivered(row, entry.message_id, turn_id);
        if (entry.kind === "wake" && row.turn !== undefined) row.turn.wake = entry;
        if (record !== undefined) this.#tell("input_delivered", record, entry);
      },
      isStale: () => this.#next() !== entry,
      stored: () => this.store(),
      isTold: entry.kind === "wake",
    });
    this.held = undefined;
    this.#retryMs = RETRY_MS;
    // Not waited for: a stuck agent that does not read must not hold up close and takeover.
    taken.catch((error: unknown) => this.#refused(entry, error));
  }

  #refused(entry: QueuedMessage, error: unknown): void {
    const { row, publisher, stream } = this.#parts;
    if (error instanceof CodedError && error.code === "invalid_message") {
      const failed = markFailed(row, entry.message_id, error);
      if (failed !== undefined) this.#tell("input_failed", failed, entry);
      this.#parts.failed(entry.message_id, { code: error.code, message: error.message });
      if (this.queued.length === 0) this.#parts.drained();
    } else {
      if (row.turn?.wake?.message_id === entry.message_id) delete row.turn.wake;
      const back = putBack(row, entry);
      if (back !== undefined) this.#parts.changed(back);
      this.#hold(error);
    }
    publisher.saveRow(stream);
    this.pump();
  }

  /** Tried again after a while; a client that sends something tries it at once. */
  #hold(error: unknown): void {
    if (error instanceof CodedError && LATER.has(error.code)) return;
    this.held = messageOf(error);
    // There may be room again at any moment, and it is nobody's failure.
    const isCrowded = error instanceof CodedError && error.code === "session_exists";
    if (isCrowded) this.#retryMs = RETRY_MS / 2;
    this.#parts.log.warn("session.queue_held", { message: this.held, retry_ms: this.#retryMs });
    clearTimeout(this.#timer);
    if (this.#parts.isClosed()) return;
    const [first] = this.queued;
    if (first !== undefined && this.#retryMs > RETRY_MS) {
      // Told by its id, so once for each message.
      const code = error instanceof CodedError ? error.code : "internal";
      this.#parts.failed(first.message_id, { code, message: this.held });
      this.#parts.publisher.saveRow(this.#parts.stream);
    }
    this.#timer = setTimeout(() => this.#retryNow(), this.#retryMs);
    this.#timer.unref();
    this.#retryMs = Math.min(this.#retryMs * 2, MAX_RETRY_MS);
  }

  #retryNow(): void {
    this.close();
    this.held = undefined;
    this.pump();
  }

  #placeOf(message_id: string): number {
    return Math.max(
      0,
      this.queued.findIndex((entry) => entry.message_id === message_id),
    );
  }

  #tell(category: string, input: InputRecord, entry?: QueuedMessage): void {
    const { row, publisher, stream } = this.#parts;
    const { message_id, kind, turn_id, error } = input;
    publisher.publish(stream, {
      type: "agent.notice",
      backend: row.backend,
      level: error === undefined ? "info" : "warn",
      category,
      ...(entry === undefined ? {} : { text: textOf(entry.message, "\n").slice(0, MAX_TEXT) }),
      data: {
        message_id,
        kind,
        ...(entry?.from === undefined ? {} : { from: entry.from }),
        ...(turn_id === undefined ? {} : { turn_id }),
        ...(error === undefined ? {} : { error }),
      },
    });
    this.#parts.changed(input);
  }
}
