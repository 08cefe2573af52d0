// Waits until a session is idle, blocked or stopped, or until a message's turn is over. Driven by Changes, never by
// polling: it subscribes before it checks, so that no change is missed.

import { CodedError } from "../../base/coded-error.ts";
import type { InputRecord } from "../../protocol/queue.ts";
import type { SessionRow } from "../../protocol/session.ts";
import type { SessionView, WaitReply } from "../../protocol/views.ts";
import { findBudgetHold } from "../core/budget.ts";
import { unknownSessionError } from "../core/refusals.ts";
import { isAsking, isSettling } from "../core/state.ts";
import type { WaitOrder } from "../manager-types.ts";
import type { Ledger } from "../requests/ledger.ts";
import type { SessionTable } from "../table.ts";
import type { Changes } from "./changes.ts";

const MAX_TIMER_MS = 2_147_483_647;

export interface WaitState {
  row: Pick<SessionRow, "queue" | "inputs" | "stopped_at_ms">;
  isTurnActive: boolean;
  isRunning: boolean;
  /** Background work, a message on its way to the agent, or an answer being stored. */
  isBusy: boolean;
  /** A turn's result is not stored yet, so it must not be visible. */
  isSettling: boolean;
  /** Number of pending requests, and one for a budget that holds its messages. */
  pending: number;
}

export interface WaitParts {
  changes: Changes;
  /** Undefined if the session does not exist. */
  state(session_id: string): WaitState | undefined | Promise<WaitState | undefined>;
  view(session_id: string): SessionView | Promise<SessionView>;
}

/** An aborted wait returns immediately, like a timeout. Rejects if the session is unknown or gets deleted. */
export async function waitFor(order: WaitOrder, parts: WaitParts): Promise<WaitReply> {
  const { session_id } = order;
  const alarm = new Alarm(order);
  const end = parts.changes.onTouch(session_id, () => alarm.ring());
  try {
    for (;;) {
      const rung = alarm.next();
      const found = parts.state(session_id);
      // Synchronously: the row is live.
      const state = found instanceof Promise ? await found : found;
      if (state === undefined) throw unknownSessionError(session_id);
      const input = findInput(order, state);
      const reason = findReason(order, state, input) ?? (alarm.isOver ? "timeout" : undefined);
      if (reason !== undefined) {
        return { reason, session: await parts.view(session_id), ...(input !== undefined && { input }) };
      }
      await rung;
    }
  } finally {
    end();
    alarm.close();
  }
}

/** Rings on changes, on timeout, and when the wait is cancelled. */
class Alarm {
  isOver: boolean;
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #signal: AbortSignal | undefined;
  readonly #stop = () => {
    this.isOver = true;
    this.ring();
  };
  #wake: () => void = () => undefined;

  constructor({ timeoutMs, signal }: WaitOrder) {
    this.isOver = timeoutMs <= 0 || signal?.aborted === true;
    this.#signal = signal;
    signal?.addEventListener("abort", this.#stop, { once: true });
    if (!this.isOver) this.#timer = setTimeout(this.#stop, Math.min(timeoutMs, MAX_TIMER_MS));
  }

  /** Resolves with the next ring. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  ring(): void {
    this.#wake();
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#signal?.removeEventListener("abort", this.#stop);
  }
}

const OVER: ReadonlySet<InputRecord["state"]> = new Set(["done", "cancelled", "failed"]);

function findInput({ session_id, message_id }: WaitOrder, { row }: WaitState): InputRecord | undefined {
  if (message_id === undefined) return undefined;
  const input = row.inputs?.find((record) => record.message_id === message_id);
  if (input !== undefined) return input;
  const message = `session ${session_id} has no message ${message_id}, or no longer remembers it; see GET /sessions/${session_id}/queue`;
  throw new CodedError("message_unknown", message);
}

function findReason(
  { until }: WaitOrder,
  state: WaitState,
  input: InputRecord | undefined,
): WaitReply["reason"] | undefined {
  const { row, pending } = state;
  if (state.isSettling) return undefined;
  if (input !== undefined && OVER.has(input.state)) return "input_done";
  if (row.stopped_at_ms !== undefined && !state.isRunning) return "stopped";
  if (until.includes("blocked") && pending > 0) return "blocked";
  if (input !== undefined || !until.includes("idle")) return undefined;
  // A message leaves the queue when its turn starts, so a message in delivery keeps the session from being idle.
  const isQuiet = !state.isTurnActive && !state.isBusy && pending === 0;
  return isQuiet && (row.queue?.length ?? 0) === 0 ? "idle" : undefined;
}

/** At once if the session is in memory. */
export function findWaitState(
  session_id: string,
  parts: { table: SessionTable; ledger: Ledger },
): WaitState | undefined | Promise<WaitState | undefined> {
  const row = parts.table.row(session_id);
  if (row !== undefined) return toWaitState(row, parts);
  return parts.table
    .find(session_id)
    .then((found) => (found === undefined ? undefined : toWaitState(found, parts)));
}

/** The session's state, from its row and what is in memory. */
function toWaitState(row: SessionRow, { table, ledger }: { table: SessionTable; ledger: Ledger }): WaitState {
  const session = table.live.get(row.session_id);
  const isHeld = session?.state.budget?.isBlocked === true && findBudgetHold(session.state) !== undefined;
  const pending = ledger.listPending(row.session_id).length + (isHeld ? 1 : 0);
  return {
    row,
    isTurnActive: session?.isTurnActive === true,
    isRunning: session?.isRunning === true,
    isBusy: session?.isBusy === true || (pending === 0 && session !== undefined && isAsking(session.state)),
    isSettling: session !== undefined && isSettling(session.state),
    pending,
  };
}
