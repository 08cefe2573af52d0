// Which sessions may continue after a limit: of those that wait for the same window one goes first, and the others follow
// when its turn has succeeded. Pure.
import { createHash } from "node:crypto";
import type { QuotaWait } from "../../protocol/quota.ts";

export interface Waiter {
  readonly session_id: string;
  /** The account and window that it waits for. */
  readonly key: string;
  readonly wait: QuotaWait;
  /** An attempt to continue failed; not before this time. */
  readonly not_before_ms?: number;
  /** Something else holds its queue too, such as its budget. */
  readonly isHeld?: true;
}

export interface Line {
  readonly waiters: readonly Waiter[];
  /** Windows that a session is trying now: it was let go, and its turn has not ended. */
  readonly trying: ReadonlySet<string>;
  /** Windows whose first session has succeeded, and which nobody has found exhausted since. */
  readonly proven: ReadonlySet<string>;
  readonly max_wait_ms: number;
  readonly now_ms: number;
}

export interface LinePlan {
  /** Their quota is read, then they continue. */
  readonly first: readonly Waiter[];
  /** They continue. */
  readonly follow: readonly Waiter[];
  readonly give_up: readonly Waiter[];
  /** When to look again, at the latest. */
  readonly next_at_ms: number | undefined;
}

const MAX_JITTER_MS = 30_000;
/** Of the time it waits. */
const JITTER = 0.1;

export function planLine({ waiters, trying, proven, max_wait_ms, now_ms }: Line): LinePlan {
  const first: Waiter[] = [];
  const follow: Waiter[] = [];
  const give_up: Waiter[] = [];
  const taken = new Set(trying);
  const later: number[] = [];
  for (const waiter of [...waiters].sort(compareWaiters)) {
    const { key, wait } = waiter;
    const last_ms = wait.since_ms + max_wait_ms;
    if (last_ms <= now_ms) give_up.push(waiter);
    else if (wait.asks === true || waiter.isHeld === true) later.push(last_ms);
    else if (getDueMs(waiter) > now_ms) later.push(Math.min(getDueMs(waiter), last_ms));
    else if (proven.has(key)) follow.push(waiter);
    else if (taken.has(key))
      later.push(last_ms); // mutation: one-goes-first
    else {
      taken.add(key);
      first.push(waiter);
    }
  }
  return { first, follow, give_up, next_at_ms: later.length === 0 ? undefined : Math.min(...later) };
}

/** Those that have waited longest go first; the order does not depend on the clock. */
export function compareWaiters(a: Waiter, b: Waiter): number {
  const byTime = getDueMs(a) - getDueMs(b) || a.wait.since_ms - b.wait.since_ms;
  return byTime || (a.session_id < b.session_id ? -1 : 1);
}

/** After the reset, and not all at the same moment. */
export function getDueMs({ session_id, wait, not_before_ms = 0 }: Waiter): number {
  const jitterMs = Math.min(MAX_JITTER_MS, Math.max(0, wait.until_ms - wait.since_ms) * JITTER);
  return Math.max(wait.until_ms + Math.ceil(jitterMs * hashToFraction(session_id)), not_before_ms);
}

/** From 0 to 1, always the same for a session. */
function hashToFraction(text: string): number {
  return createHash("sha256").update(text).digest().readUInt16BE(0) / 0xffff;
}
