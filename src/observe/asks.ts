// What was asked about a call before it could run, and how long that took. A call whose requests were never accepted
// did not run, whatever its result says. Plain data; only requests.ts and reduce.ts change it.
import { endWait, NO_WAIT, startWait, type WaitClock, waitedMs } from "../base/wait-clock.ts";
import { type NotRunReason, notRunReason, type Verdict, verdictOf } from "../protocol/not-run.ts";
import type { RequestRow } from "../protocol/requests.ts";
import { type Call, toPatch } from "./calls.ts";

/** The requests about one call. */
export interface Asks {
  readonly verdicts: Map<string, Verdict>;
  clock: WaitClock;
  /** What the requests say about the files: they know more than the input of the call does. */
  change?: Partial<Call>;
}

/** Requests about calls that never show up are forgotten when so many others are open. */
const MAX_ASKS = 500;

export function noteAsk(asks: Map<string, Asks>, row: RequestRow, nowMs: number): void {
  const { item_id, request_id } = row;
  if (item_id === undefined) return;
  const verdict = verdictOf(row);
  let known = asks.get(item_id);
  if (known === undefined) {
    // The end of something that this daemon did not see begin, or whose call is over.
    if (verdict !== "waiting") return;
    known = { verdicts: new Map(), clock: NO_WAIT };
    asks.set(item_id, known);
    const [oldest] = asks.keys();
    if (asks.size > MAX_ASKS && oldest !== undefined) asks.delete(oldest);
  }
  known.verdicts.set(request_id, verdict);
  if (row.payload.changes !== undefined) known.change = toPatch(row.payload.changes);
  known.clock =
    verdict === "waiting"
      ? startWait(known.clock, request_id, row.requested_at_ms)
      : endWait(known.clock, request_id, row.resolved_at_ms ?? nowMs);
}

/** Undefined: nothing was asked, or it was accepted. */
export function notRun(asks: Asks | undefined, cause: NotRunReason): NotRunReason | undefined {
  return notRunReason(asks?.verdicts.values() ?? [], cause);
}

export function isWaiting(asks: Asks | undefined): boolean {
  return (asks?.clock.open.length ?? 0) > 0;
}

export function waitOf(asks: Asks | undefined, nowMs: number): number {
  return asks === undefined ? 0 : waitedMs(asks.clock, nowMs);
}
