// The durable queue: delivers one message at a time, in order, when the agent is free. A message is stored before its
// sender gets a reply, and its removal from the queue is stored before the agent gets it: delivered at most once.

import { CodedError } from "../../base/coded-error.ts";
import { defined } from "../../base/values.ts";
import type { InputRecord, QueuedMessage } from "../../protocol/queue.ts";
import { startAgain } from "./continuing.ts";
import { failInput, tell, tellDelivered } from "./input-notices.ts";
import { listParts, mergeWakes } from "./merge-wakes.ts";
import {
  enqueue,
  findRepeated,
  markCancelled,
  markDelivered,
  type NewInput,
  putBack,
  unqueue,
} from "./queue.ts";
import { dropEmptyWait, endWait, rememberMessage } from "./quota.ts";
import { NOT_STORED } from "./refusals.ts";
import {
  type Failure,
  getQueue,
  getTurn,
  isAsking,
  isClosing,
  isRepeating,
  isSteering,
  isUnstored,
  isWaitingQuota,
  type SessionState,
  type Write,
} from "./state.ts";
import { askBack, explainQueued, findSteerable, giveSteers } from "./steering.ts";
import type { Step } from "./step.ts";
import { beginTurn, forgetTurn, setTurn } from "./turn-steps.ts";

export const RETRY_MS = 2_000;
const MAX_RETRY_MS = 60_000;
/** Something else goes first; when it is done, the queue continues on its own. */
const LATER: ReadonlySet<string> = new Set([
  "session_busy",
  "pending_structured_request",
  "budget_exhausted",
]);
/** The message never reached the agent, so its turn did not start. */
const REFUSALS: ReadonlySet<string> = new Set(["invalid_message", "store_failed"]);

/** The message that can be delivered now. */
export function findNextMessage(state: SessionState): QueuedMessage | undefined {
  if (isClosing(state) || state.around.isQuiet || getTurn(state) !== undefined || isAsking(state))
    return undefined;
  if (isRepeating(state)) return undefined; // mutation: repeated-before-delivered
  if (isSteering(state)) return undefined; // mutation: steers-are-settled-first
  if (state.budget?.hold !== undefined) return undefined; // mutation: budgets-hold-the-queue
  // Stopped by the user: only a new message from the user restarts it.
  const [first] = getQueue(state.row);
  if (first === undefined || state.row.stopped_at_ms !== undefined) return undefined;
  if (isWaitingQuota(state)) return undefined; // mutation: limits-hold-the-queue
  return isUnstored(state, first.message_id) ? undefined : first; // mutation: only-stored-is-delivered
}

export function onEnqueue(step: Step, job_id: string, input: NewInput): void {
  const { row } = step.state;
  try {
    const known = findRepeated(row, input);
    if (known !== undefined) {
      replyRepeated(step, job_id, known);
      return;
    }
    const for_turn = input.steer === true ? findSteerable(step.state) : undefined;
    step.set({ row: enqueue(row, { ...input, ...defined({ for_turn }) }, step.at_ms).row });
  } catch (error) {
    if (!(error instanceof CodedError)) throw error;
    step.refuse(job_id, error);
    return;
  }
  const { stopped_at_ms, archived_at_ms } = row;
  if (input.kind === "user") startAgain(step);
  step.dropFromRow("archived_at_ms");
  const { message_id } = input;
  const before = defined({
    stopped_at_ms: input.kind === "user" ? stopped_at_ms : undefined,
    archived_at_ms,
  });
  const note = input.steer === undefined ? undefined : explainQueued(step.state, input.steer);
  step.write({ for: "enqueue", job_id, message_id, ...before, ...defined({ note }) });
}

export function onCancel(step: Step, job_id: string, message_id: string): void {
  const { row } = step.state;
  const place = getQueue(row).findIndex((entry) => entry.message_id === message_id);
  const entry = getQueue(row)[place];
  const follower = getQueue(row)[place + 1]?.message_id;
  if (entry === undefined) {
    step.refuse(job_id, notWaitingFailure(step.state, message_id));
    return;
  }
  if (askBack(step, job_id, message_id)) return;
  step.set({ row: markCancelled(row, message_id).row });
  step.write({ for: "cancel", job_id, entry, ...defined({ follower }) });
}

/** A queue write has completed. */
export function onQueueWritten(step: Step, write: Write, isStored: boolean): void {
  switch (write.for) {
    case "enqueue":
      if (write.isRepeated === true)
        replyRepeated(step, write.job_id, findRecord(step.state, write.message_id));
      else if (isStored) onEnqueued(step, write);
      else undoEnqueue(step, write);
      break;
    case "cancel":
      if (isStored) onCancelled(step, write.job_id, write.entry.message_id);
      else undoCancel(step, write);
      break;
    case "handover":
      if (step.turn?.turn_id !== write.turn_id || isCutting(step.state, write.turn_id)) {
        // Interrupted before it was delivered.
        if (write.job_id !== undefined) step.reply(write.job_id);
        return;
      }
      // The owner sees by itself that its frames are not stored.
      if (isStored || write.job_id !== undefined) give(step, write);
      else onNotTaken(step, { turn_id: write.turn_id, entry: write.entry, failure: NOT_STORED });
      break;
    default:
  }
}

/** A duplicate: answered once the original is stored. */
function replyRepeated(step: Step, job_id: string, known: InputRecord | undefined): void {
  if (known === undefined) {
    step.refuse(job_id, NOT_STORED);
    return;
  }
  const { message_id } = known;
  const isWaiting = isUnstored(step.state, message_id); // mutation: repeated-when-stored
  if (isWaiting) {
    step.settle({ for: "enqueue", job_id, message_id, isRepeated: true });
  } else step.reply(job_id, { input: known, position: findPlace(step.state, message_id), repeated: true });
}

function onEnqueued(step: Step, { job_id, message_id, note }: Write & { for: "enqueue" }): void {
  const input = findRecord(step.state, message_id);
  if (input === undefined) {
    // It was cancelled since, and its record has already been dropped.
    step.refuse(job_id, notWaitingFailure(step.state, message_id));
    return;
  }
  step.emit({ kind: "input_changed", input });
  const position = findPlace(step.state, message_id);
  step.reply(job_id, { input, position, repeated: false, ...defined({ note }) });
  giveSteers(step);
  retryNow(step);
}

function undoEnqueue(step: Step, { job_id, message_id, ...write }: Write & { for: "enqueue" }): void {
  const { stopped_at_ms, archived_at_ms } = write;
  step.set({ row: unqueue(step.state.row, message_id) });
  step.setRow(defined({ stopped_at_ms, archived_at_ms }));
  step.refuse(job_id, NOT_STORED);
}

function onCancelled(step: Step, job_id: string, message_id: string): void {
  const input = findRecord(step.state, message_id);
  if (input?.state !== "cancelled") {
    // The message itself could not be stored, and may have been sent again since.
    step.refuse(job_id, notWaitingFailure(step.state, message_id));
    return;
  }
  tell(step, "input_cancelled", input);
  step.reply(job_id, { input });
  dropEmptyWait(step);
}

export function notWaitingFailure(state: SessionState, message_id: string): Failure {
  const known = findRecord(state, message_id);
  const why = known === undefined ? "is not known" : `is ${known.state} already`;
  return {
    code: "message_unknown",
    message: `message ${message_id} of session ${state.row.session_id} ${why}`,
  };
}

function undoCancel(step: Step, { job_id, entry, follower }: Write & { for: "cancel" }): void {
  const { row } = step.state;
  const place = getQueue(row).findIndex((one) => one.message_id === follower);
  step.set({ row: putBack(row, entry, place === -1 ? getQueue(row).length : place).row });
  step.refuse(job_id, NOT_STORED);
}

/** Starts the message's turn; the agent gets it once that is stored. */
export function handOver(step: Step, first: QueuedMessage): void {
  const { state } = step;
  const stored = getQueue(state.row).filter(({ message_id }) => !isUnstored(state, message_id));
  const entry = mergeWakes(first, stored);
  const records = listParts(entry).map(({ message_id }) => {
    const { row, record } = markDelivered(step.state.row, message_id, step.id);
    step.set({ row }); // mutation: leaves-the-queue
    return record;
  });
  step.set({ held: undefined, retry_ms: RETRY_MS });
  const remembered = rememberMessage(step.state, entry);
  endWait(step);
  beginTurn(step, "user", entry, remembered);
  for (const record of records) if (record !== undefined) tellDelivered(step, record, entry);
  step.write({ for: "handover", turn_id: step.id, entry }); // mutation: stored-before-given
}

function isCutting({ phase }: SessionState, turn_id: string): boolean {
  return phase.name === "interrupting" && phase.target === turn_id;
}

function give(step: Step, { turn_id, entry, job_id }: Write & { for: "handover" }): void {
  if (step.turn !== undefined) {
    const { undelivered: _given, ...turn } = step.turn;
    setTurn(step, { ...turn, isGiven: true });
  }
  const whose = job_id === undefined ? { entry } : { job_id };
  step.emit({ kind: "give", turn_id, message: entry.message, ...whose });
  giveSteers(step);
}

export interface NotTaken {
  readonly turn_id: string;
  readonly failure: Failure;
  readonly job_id?: string;
  readonly entry?: QueuedMessage;
}

/** The agent refused a message: requeue or fail it, and inform the client. */
export function onNotTaken(step: Step, { turn_id, failure, job_id, entry }: NotTaken): void {
  if (step.state.phase.name === "closed") {
    if (job_id !== undefined) step.refuse(job_id, failure);
    return;
  }
  const isRefused = REFUSALS.has(failure.code) && step.turn?.turn_id === turn_id;
  if (failure.code !== "session_busy" && !isRefused) {
    // A crashed agent reports its exit, which ends the turn.
    const fields = { message: failure.message };
    step.emit({ kind: "log", level: "warn", event: "session.send_failed", fields });
    if (job_id !== undefined) step.reply(job_id);
    return;
  }
  if (entry !== undefined) {
    if (failure.code === "invalid_message") failInput(step, entry, failure);
    else keepWaiting(step, entry, failure);
    step.save();
  }
  // Otherwise the agent has just started a turn of its own, which continues; the client is asked to wait for it.
  if (isRefused) forgetTurn(step, failure);
  if (job_id !== undefined) step.refuse(job_id, failure);
}

export function keepWaiting(step: Step, entry: QueuedMessage, failure: Failure): void {
  const { turn } = step;
  if (turn?.wake?.message_id === entry.message_id || turn?.message?.message_id === entry.message_id) {
    const { wake: _kept, message: _back, ...rest } = turn;
    setTurn(step, rest);
  }
  const parts = listParts(entry).toReversed(); // mutation: parts-go-back
  for (const part of parts) {
    const back = putBack(step.state.row, part);
    step.set({ row: back.row });
    if (back.record !== undefined) step.emit({ kind: "input_changed", input: back.record });
  }
  hold(step, failure);
}

/** Blocks the queue for a while; a new message retries at once. */
export function hold(step: Step, { code, message }: Failure): void {
  if (LATER.has(code)) return;
  // A slot can free up at any moment, and this is not a failure.
  const retry_ms = code === "session_exists" ? RETRY_MS / 2 : step.state.retry_ms;
  step.emit({ kind: "log", level: "warn", event: "session.queue_held", fields: { message, retry_ms } });
  step.set({ held: { message } });
  if (isClosing(step.state) || step.state.around.isQuiet) return;
  const [first] = getQueue(step.state.row);
  if (first !== undefined && retry_ms > RETRY_MS) {
    // Keyed by message id, so it is reported once per message.
    step.emit({ kind: "input_failed", message_id: first.message_id, error: { code, message } });
    step.save();
  }
  step.set({ retry_ms: Math.min(retry_ms * 2, MAX_RETRY_MS) });
  step.emit({ kind: "set_timer", name: "retry", ms: retry_ms });
}

export function retryNow(step: Step): void {
  if (step.state.held === undefined) return;
  step.set({ held: undefined });
  step.emit({ kind: "clear_timer", name: "retry" });
}

function findRecord({ row }: SessionState, message_id: string): InputRecord | undefined {
  return row.inputs?.find((record) => record.message_id === message_id);
}

function findPlace({ row }: SessionState, message_id: string): number {
  return Math.max(
    0,
    getQueue(row).findIndex((entry) => entry.message_id === message_id),
  );
}
