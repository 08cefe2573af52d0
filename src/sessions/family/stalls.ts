// Detects stalls: a turn is running, nothing is pending, and no event has arrived for too long. Each stall is reported
// once and ends with the next event.
import type { SessionRow } from "../../protocol/session.ts";

/** A session whose agent is running. */
export interface Running {
  row: SessionRow;
  /** Time of the agent's last output since the daemon started. */
  last_event_at_ms?: number | undefined;
  /** A request is pending or its answer is on its way, so silence is expected. */
  isAsking: boolean;
}

export interface Silence {
  row: SessionRow;
  turn_id: string;
  /** Number of this stall in the turn, from 1. */
  number: number;
  silentMs: number;
}

interface ReportedStall {
  turn_id: string;
  count: number;
  /** Start of the stall that was reported last. */
  sinceMs: number;
}

export class Stalls {
  readonly #stallMs: number;
  readonly #reported = new Map<string, ReportedStall>();
  /** When the last request was settled; silence before that was waiting. */
  readonly #answered = new Map<string, number>();
  #notBeforeMs = 0;

  constructor(stallMs: number) {
    this.#stallMs = stallMs;
  }

  /** Stalls that have not been reported yet; marks them as reported. */
  check(running: Iterable<Running>, nowMs: number): Silence[] {
    const found: Silence[] = [];
    for (const { row, last_event_at_ms = 0, isAsking } of running) {
      const { session_id, turn } = row;
      if (turn === undefined || isAsking) continue;
      const answeredMs = this.#answered.get(session_id) ?? 0;
      const sinceMs = Math.max(turn.started_at_ms, last_event_at_ms, answeredMs, this.#notBeforeMs);
      if (nowMs - sinceMs < this.#stallMs) continue;
      const reported = this.#reported.get(session_id);
      const isSameTurn = reported?.turn_id === turn.turn_id;
      if (isSameTurn && reported.sinceMs === sinceMs) continue;
      const number = isSameTurn ? reported.count + 1 : 1;
      this.#reported.set(session_id, { turn_id: turn.turn_id, count: number, sinceMs });
      found.push({ row, turn_id: turn.turn_id, number, silentMs: nowMs - sinceMs });
    }
    return found;
  }

  /** Restarts all silence timers, after the machine was suspended. */
  startOver(nowMs: number): void {
    this.#notBeforeMs = nowMs;
  }

  onAnswer(session_id: string, nowMs: number): void {
    this.#answered.set(session_id, nowMs);
  }

  /** The turn is over. Returns how many of its stalls were reported. */
  onTurnEnd(session_id: string, turn_id: string | undefined): number {
    const reported = this.#reported.get(session_id);
    this.#reported.delete(session_id);
    this.#answered.delete(session_id);
    return reported !== undefined && reported.turn_id === turn_id ? reported.count : 0;
  }
}
