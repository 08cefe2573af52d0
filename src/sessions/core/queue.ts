// The queue stored in a session's row, as pure functions that return the next row. Used by delivery.ts.

import { createHash } from "node:crypto";
import { CodedError } from "../../base/coded-error.ts";
import { isObject } from "../../base/json.ts";
import { defined } from "../../base/values.ts";
import type { UserMessage } from "../../protocol/content.ts";
import type { ResultEvent } from "../../protocol/events.ts";
import { readText } from "../../protocol/message-text.ts";
import type { InputRecord, QueuedMessage } from "../../protocol/queue.ts";
import type { SessionRow } from "../../protocol/session.ts";

type QueueRow = Readonly<Pick<SessionRow, "session_id" | "queue" | "inputs">>;

/** The next row, and the message's record if it was found. */
export interface Queued<R> {
  row: R;
  record: InputRecord | undefined;
}

/** The queue is part of the row, which is written with every turn, so it must stay small. Of each kind: wakes leave room for users. */
const MAX_QUEUED = 100;
const MAX_QUEUED_CHARS = 4 * 1024 * 1024;
/** Number of finished messages kept to recognize duplicate keys and wakes. */
const MAX_RECORDS = 200;

export interface NewInput {
  message: UserMessage;
  kind: QueuedMessage["kind"];
  /** Goes to the front. */
  isFirst?: boolean;
  /** For the running turn; false: its agent takes messages only between turns. */
  steer?: boolean;
  /** The turn that it is for. */
  for_turn?: string;
  /** Skips the size check: it was in this queue a moment ago. */
  isForced?: boolean;
  key?: string;
  from?: string;
  brief?: string;
  /** A wake delivered again after a crash keeps its id. */
  message_id: string;
}

/** The record of the same message, if it was sent before. Throws if its key was used for a different message. */
export function findRepeated(row: QueueRow, { key, message_id, message }: NewInput): InputRecord | undefined {
  const records = row.inputs ?? [];
  const same = records.find((record) => record.message_id === message_id);
  if (same !== undefined || key === undefined) return same;
  const found = records.find((record) => record.key === key);
  if (found !== undefined && found.hash !== hashValue(message)) throw keyReusedError(key);
  return found;
}

export function keyReusedError(key: string): CodedError {
  return new CodedError(
    "idempotency_mismatch",
    `the idempotency key ${JSON.stringify(key)} was used before with another body; use a new key`,
  );
}

/** Independent of key order. */
export function hashValue(value: unknown): string {
  const sorted = JSON.stringify(value, (_key, part: unknown) =>
    isObject(part) ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1))) : part,
  );
  return createHash("sha256").update(sorted).digest("hex");
}

/** Adds the message to the row. Throws `queue_full`. */
export function enqueue<R extends QueueRow>(
  row: R,
  input: NewInput,
  nowMs: number,
): { row: R; record: InputRecord } {
  const queue = row.queue ?? [];
  if (input.isForced !== true) checkRoom(row.session_id, queue, input);
  const { kind, message, message_id, from, brief, key, for_turn } = input;
  const entry: QueuedMessage = {
    message_id,
    kind,
    message,
    queued_at_ms: nowMs,
    ...defined({ from, brief, for_turn }),
  };
  const record: InputRecord = {
    message_id,
    kind,
    state: "queued",
    queued_at_ms: nowMs,
    ...(key === undefined ? {} : { key, hash: hashValue(message) }),
    ...defined({ for_turn }),
  };
  const next = {
    queue: queue.toSpliced(findPlace(queue, input), 0, entry),
    inputs: boundRecords([...(row.inputs ?? []), record]),
  };
  return { row: { ...row, ...next }, record };
}

/** Those for the running turn come before all others, in the order in which they were sent. */
function findPlace(queue: readonly QueuedMessage[], { isFirst, for_turn }: NewInput): number {
  if (isFirst === true) return 0;
  if (for_turn === undefined) return queue.length;
  const after = queue.findIndex((entry) => entry.for_turn !== for_turn);
  return after === -1 ? queue.length : after;
}

function checkRoom(session_id: string, queue: readonly QueuedMessage[], { kind, message }: NewInput): void {
  const chars = queue.reduce((sum, entry) => sum + JSON.stringify(entry.message).length, 0);
  const isFull = chars + JSON.stringify(message).length > MAX_QUEUED_CHARS;
  const { length } = queue.filter((entry) => entry.kind === kind);
  if (length < MAX_QUEUED && !isFull) return;
  if (queue.length === 0) {
    const message = `the message exceeds ${MAX_QUEUED_CHARS >> 20} MB; put long content in a file and give its path`;
    throw new CodedError("oversize_message", message);
  }
  const limit = isFull ? `${MAX_QUEUED_CHARS >> 20} MB` : `${MAX_QUEUED} messages`;
  throw new CodedError(
    "queue_full",
    `the queue of session ${session_id} is full (limit ${limit}, ${queue.length} queued); cancel some with \`sm queue\`, or wait`,
  );
}

/** Its turn starts. */
export function markDelivered<R extends QueueRow>(row: R, message_id: string, turn_id: string): Queued<R> {
  return change(dropQueued(row, message_id), message_id, { state: "delivered", turn_id });
}

/** Returns a message to its place: the agent refused it, or its cancellation could not be stored. */
export function putBack<R extends QueueRow>(row: R, entry: QueuedMessage, place = 0): Queued<R> {
  // It could not be stored in the first place.
  const isKnown = row.inputs?.some(({ message_id }) => message_id === entry.message_id); // mutation: unstored-never-was
  if (isKnown !== true) return { row, record: undefined };
  const queue = (row.queue ?? []).toSpliced(place, 0, entry);
  return change({ ...row, queue }, entry.message_id, { state: "queued", turn_id: undefined });
}

export function markFailed<R extends QueueRow>(
  row: R,
  message_id: string,
  { code, message }: { code: string; message: string },
): Queued<R> {
  const failed = { state: "failed", turn_id: undefined, error: { code, message } } as const;
  return change(dropQueued(row, message_id), message_id, failed);
}

export function markCancelled<R extends QueueRow>(row: R, message_id: string): Queued<R> {
  if (row.queue?.some((entry) => entry.message_id === message_id) !== true) return { row, record: undefined };
  return change(dropQueued(row, message_id), message_id, { state: "cancelled" });
}

/** The turn has ended: its message, or its merged wakes, are done. */
export function markDone<R extends QueueRow>(
  row: R,
  { turn_id, subtype, error }: ResultEvent,
): { row: R; records: InputRecord[] } {
  const records: InputRecord[] = [];
  const inputs = row.inputs?.map((record): InputRecord => {
    if (record.state !== "delivered" || record.turn_id !== turn_id) return record;
    const done: InputRecord = {
      ...record,
      state: "done",
      outcome: subtype,
      ...(error === undefined
        ? {}
        : { error: { code: String(error.code ?? "error"), message: error.message } }),
    };
    records.push(done);
    return done;
  });
  return { row: records.length === 0 ? row : { ...row, inputs }, records };
}

const AGAIN = "_again";

/** Requeues a wake whose turn was cut by a restart, once: otherwise the parent would wait forever. */
export function wakeAgain<R extends QueueRow>(row: R, wake: QueuedMessage, nowMs: number): R {
  if (wake.message_id.endsWith(AGAIN)) return row;
  const text = `(The daemon was restarted while you worked on this message; here it is again.)\n${readText(wake.message, "\n")}`;
  const { from } = wake;
  const again: NewInput = {
    message: { role: "user", content: text },
    kind: "wake",
    isFirst: true,
    isForced: true,
    message_id: `${wake.message_id}${AGAIN}`,
    ...defined({ from }),
  };
  return findRepeated(row, again) === undefined ? enqueue(row, again, nowMs).row : row;
}

/** Removes all traces of a message that could not be stored. */
export function unqueue<R extends QueueRow>(row: R, message_id: string): R {
  const { inputs, ...rest } = dropQueued(row, message_id);
  const left = inputs?.filter((record) => record.message_id !== message_id) ?? [];
  return (left.length > 0 ? { ...rest, inputs: left } : rest) as R;
}

function dropQueued<R extends QueueRow>(row: R, message_id: string): R {
  const { queue, ...rest } = row;
  const left = queue?.filter((entry) => entry.message_id !== message_id) ?? [];
  return (left.length > 0 ? { ...rest, queue: left } : rest) as R;
}

function change<R extends QueueRow>(
  row: R,
  message_id: string,
  fields: { [K in keyof InputRecord]?: InputRecord[K] | undefined },
): Queued<R> {
  const before = row.inputs?.find((record) => record.message_id === message_id);
  if (before === undefined) return { row, record: undefined };
  const merged = Object.entries({ ...before, ...fields }).filter(([, value]) => value !== undefined);
  const record = Object.fromEntries(merged) as InputRecord;
  return { row: { ...row, inputs: row.inputs?.map((one) => (one === before ? record : one)) }, record };
}

/** Drops the oldest finished records. */
function boundRecords(records: InputRecord[]): InputRecord[] {
  let excess = records.length - MAX_RECORDS;
  if (excess <= 0) return records;
  return records.filter((record) => {
    if (excess <= 0 || record.state === "queued" || record.state === "delivered") return true;
    excess -= 1;
    return false;
  });
}
