// A session that has reached a limit of its account. Its turn ends with the error, its message returns to the front of the
// queue in the same write, and the queue is held until `resume`. sessions/quota decides when that is.
import type { ResultEvent } from "../../protocol/events.ts";
import type { FailureCode } from "../../protocol/failures.ts";
import { toNotice } from "../../protocol/notices.ts";
import type { QueuedMessage } from "../../protocol/queue.ts";
import { type AfterLimit, LIMIT_CODES, type OnLimit, type QuotaWait } from "../../protocol/quota.ts";
import { failInput } from "./input-notices.ts";
import { listParts } from "./merge-wakes.ts";
import { putBack } from "./queue.ts";
import { getQueue, isWaitingQuota, type SessionState, type Turn } from "./state.ts";
import type { Step } from "./step.ts";

/** What the core cannot know about a turn that ended by a limit. */
export interface QuotaFacts {
  /** The session's own setting, or the configured one. */
  readonly on_limit: OnLimit;
  /** When its account's exhausted windows are reset. */
  readonly resets_at_ms?: number;
  readonly window?: string;
  /** A message waits at most this long. */
  readonly max_wait_ms: number;
}

export type QuotaOrder =
  /** The limit was reset, or a person does not want to wait. */
  | { readonly do: "resume" }
  /** The quota was read, and it is still exhausted. */
  | { readonly do: "postpone"; readonly until_ms: number; readonly window?: string }
  /** A person was asked and wants this session to wait, now and later. */
  | { readonly do: "agree" }
  /** A person was asked and does not. */
  | { readonly do: "decline" }
  /** A person does not want to wait any longer. */
  | { readonly do: "cancel" }
  /** It waited too long. */
  | { readonly do: "give_up" };

/** Without a known reset, and when a reset did not help. Doubled with every attempt. */
const BACKOFF_MS = 60_000;
const MAX_BACKOFF_MS = 3_600_000;
/** The longest error text kept with a wait. */
const MAX_TEXT = 2_000;

/** Whether a turn that ended like this may be followed by a wait. */
export function isLimit({ subtype, error }: ResultEvent): boolean {
  return subtype === "error" && LIMIT_CODES.has(error?.code);
}

/** The wait after this turn; undefined if its message does not return to the queue. */
export function planWait(
  { row }: SessionState,
  turn: Turn,
  result: ResultEvent,
  facts: QuotaFacts | undefined,
  at_ms: number,
): QuotaWait | undefined {
  if (facts === undefined || facts.on_limit === "fail" || !isLimit(result)) return undefined;
  const entry = getEntry(turn);
  const message_ids = entry === undefined ? [] : listParts(entry).map(({ message_id }) => message_id);
  const isFromQueue = row.inputs?.some(({ message_id, turn_id }) => {
    return turn_id === turn.turn_id && message_ids.includes(message_id);
  });
  if (isFromQueue !== true || row.stopped_at_ms !== undefined) return undefined;
  const before: AfterLimit = turn.after_limit ?? { since_ms: at_ms, attempts: 0 };
  const until_ms = findUntil(result, facts, before.attempts, at_ms);
  if (until_ms > before.since_ms + facts.max_wait_ms) return undefined; // mutation: waits-are-capped
  const { window } = facts;
  return {
    since_ms: before.since_ms,
    until_ms,
    ...(window === undefined ? {} : { window }),
    code: result.error?.code as FailureCode,
    message: (result.error?.message ?? "").slice(0, MAX_TEXT),
    message_ids,
    attempts: before.attempts + 1,
    ...(facts.on_limit === "ask" ? { asks: true as const } : {}),
  };
}

function findUntil(
  { error }: ResultEvent,
  { resets_at_ms }: QuotaFacts,
  attempts: number,
  at_ms: number,
): number {
  const after = error?.retry_after_ms === undefined ? undefined : at_ms + error.retry_after_ms;
  const known = Math.max(resets_at_ms ?? 0, after ?? 0);
  const backoff = at_ms + Math.min(BACKOFF_MS * 2 ** attempts, MAX_BACKOFF_MS);
  if (known <= at_ms) return backoff;
  return attempts === 0 ? known : Math.max(known, backoff);
}

/** The message that a turn was given, if it can return to the queue. */
function getEntry({ message, wake }: Turn): QueuedMessage | undefined {
  return message ?? wake;
}

/** Returns the turn's message to the front of the queue, under its old id. The caller writes it with the turn's end. */
export function beginWait(step: Step, turn: Turn, wait: QuotaWait): void {
  const entry = getEntry(turn);
  for (const part of entry === undefined ? [] : listParts(entry).toReversed()) {
    const back = putBack(step.state.row, part); // mutation: limited-messages-return
    step.set({ row: back.row });
    if (back.record !== undefined) step.emit({ kind: "input_changed", input: back.record });
  }
  step.setRow({ quota_wait: wait });
  step.set({ isPastLimit: false });
  report(step, wait.asks === true ? "asking" : "waiting", wait);
}

/** What a turn remembers of its message, so that it can return to the queue. */
export function rememberMessage(
  { row }: SessionState,
  entry: QueuedMessage,
): Pick<Turn, "message" | "after_limit"> {
  const { quota_wait } = row;
  const mayWait = row.on_limit === undefined ? row.managed === true : row.on_limit !== "fail";
  return {
    // Of a wake, the turn knows it anyway.
    ...(mayWait && entry.kind !== "wake" ? { message: entry } : {}),
    ...(quota_wait === undefined ? {} : { after_limit: toAfterLimit(quota_wait) }),
  };
}

function toAfterLimit({ since_ms, attempts, window }: QuotaWait): AfterLimit {
  return { since_ms, attempts, ...(window === undefined ? {} : { window }) };
}

/** A message leaves the queue: the wait is over, in the write that starts its turn. */
export function endWait(step: Step): void {
  step.dropFromRow("quota_wait");
  step.set({ isPastLimit: false });
}

/** The queue is empty, so the wait is over. */
export function dropEmptyWait(step: Step): void {
  const { quota_wait } = step.state.row;
  if (quota_wait === undefined || getQueue(step.state.row).length > 0) return;
  endWait(step);
  report(step, "cancelled", quota_wait);
  step.save();
}

export function onQuota(step: Step, order: QuotaOrder, job_id: string | undefined): void {
  const { quota_wait: wait } = step.state.row;
  if (wait === undefined || !isWaitingQuota(step.state)) {
    if (job_id !== undefined) step.refuse(job_id, notWaitingFailure(step.state));
    return;
  }
  switch (order.do) {
    case "resume":
      // Kept in the row until a message leaves the queue: a restart before that waits again.
      step.set({ isPastLimit: true });
      report(step, "resumed", wait);
      break;
    case "postpone":
      postpone(step, wait, order);
      break;
    case "agree": {
      const { asks: _asked, ...rest } = wait;
      step.setRow({ on_limit: "wait", quota_wait: rest });
      report(step, "waiting", rest);
      break;
    }
    case "decline":
      step.setRow({ on_limit: "fail" });
      fail(step, wait, "cancelled");
      break;
    case "cancel":
      fail(step, wait, "cancelled");
      break;
    case "give_up":
      fail(step, wait, "given_up");
  }
  if (job_id === undefined) step.save();
  else step.write({ for: "row", job_id });
}

function postpone(step: Step, wait: QuotaWait, { until_ms, window }: QuotaOrder & { do: "postpone" }): void {
  if (until_ms === wait.until_ms) return;
  const { window: _old, ...rest } = wait;
  const next: QuotaWait = { ...rest, until_ms, ...(window === undefined ? {} : { window }) };
  step.setRow({ quota_wait: next });
  report(step, "waiting", next);
}

/** Its messages fail with the limit's error; those after them are next. */
function fail(step: Step, wait: QuotaWait, state: "cancelled" | "given_up"): void {
  endWait(step);
  report(step, state, wait);
  for (const message_id of wait.message_ids) {
    const entry = getQueue(step.state.row).find((one) => one.message_id === message_id);
    if (entry !== undefined) failInput(step, entry, wait);
  }
}

type WaitEvent = "waiting" | "asking" | "resumed" | "cancelled" | "given_up";

const TEXTS: Record<WaitEvent, string> = {
  waiting: "a limit of the account is reached; the message is delivered again after its reset",
  asking: "a limit of the account is reached; a person decides whether the session waits for its reset",
  resumed: "the session no longer waits for its limit",
  cancelled: "the message is not delivered again",
  given_up: "the limit was not reset in time; the message is not delivered again",
};

function report(step: Step, state: WaitEvent, { until_ms, window }: QuotaWait): void {
  const data = { state, until_ms, ...(window === undefined ? {} : { window }) };
  const level = state === "resumed" || state === "cancelled" ? "info" : "warn";
  step.publish(toNotice(step.state.row.backend, "quota_wait", { level, text: TEXTS[state], data }));
}

function notWaitingFailure({ row }: SessionState): { code: string; message: string } {
  const message = `session ${row.session_id} does not wait for a limit`;
  return { code: "quota_not_waiting", message };
}
