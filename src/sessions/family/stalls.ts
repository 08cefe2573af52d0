// Silences: a turn runs, nothing is asked, and no event comes for too long. Each is told once; the next event ends it.
import type { SessionRow } from "../../protocol/session.ts";

/** A session whose agent is up. */
export interface Running {
  row: SessionRow;
  /** When its agent last said anything, in this life of the daemon. */
  last_event_at_ms?: number | undefined;
  /** Something is asked, or an answer is on its way: it is somebody else's turn to speak. */
  isAsking: boolean;
}

export interface Silence {
  row: SessionRow;
  turn_id: string;
  /** Which silence of the turn, from 1. */
  number: number;
  silentMs: number;
}

interface Told {
  turn_id: string;
  count: number;
  /** Where the silence began that was told last. */
  sinceMs: number;
}

export class Stalls {
  readonly #stallMs: number;
  readonly #told = new Map<string, Told>();
  /** When the last question was settled: an agent that waited for it could say nothing. */
  readonly #answered = new Map<string, number>();
  #notBeforeMs = 0;

  constructor(stallMs: number) {
    this.#stallMs = stallMs;
  }

  /** The silences that were not told yet; they count as told now. */
  check(running: Iterable<Running>, nowMs: number): Silence[] {
    const found: Silence[] = [];
    for (const { row, last_event_at_ms = 0, isAsking } of running) {
      const { session_id, turn } = row;
      if (turn === undefined || isAsking) continue;
      const answeredMs = this.#answered.get(session_id) ?? 0;
      const sinceMs = Math.max(turn.started_at_ms, last_event_at_ms, answeredMs, this.#notBeforeMs);
      if (nowMs - sinceMs < this.#stallMs) continue;
      const told = this.#told.get(session_id);
      const isSameTurn = told?.turn_id === turn.turn_id;
      if (isSameTurn && told.sinceMs === sinceMs) continue;
      const number = isSameTurn ? told.count + 1 : 1;
      this.#told.set(session_id, { turn_id: turn.turn_id, count: number, sinceMs });
      found.push({ row, turn_id: turn.turn_id, number, silentMs: nowMs - sinceMs });
    }
    return found;
  }

  /** Silence counts from here: the machine slept, and so did the agents. */
  startOver(nowMs: number): void {
    this.#notBeforeMs = nowMs;
  }

  answered(session_id: string, nowMs: number): void {
    this.#answered.set(session_id, nowMs);
  }

  /** The turn is over. How many of its silences were told. */
  ended(session_id: string, turn_id: string | undefined): number {
    const told = this.#told.get(session_id);
    this.#told.delete(session_id);
    this.#answered.delete(session_id);
    return told !== undefined && told.turn_id === turn_id ? told.count : 0;
  }
}
