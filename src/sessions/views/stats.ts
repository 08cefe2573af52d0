// Adds what the sessions know better than the observability database: backends, running turns, pending requests. Pure.
import type { RequestRow } from "../../protocol/requests.ts";
import type { SessionRow } from "../../protocol/session.ts";
import type { Stats, TurnStat, WaitStat } from "../../protocol/stats.ts";

export interface NowKnown {
  /** The selected sessions in memory, by id. */
  rows: ReadonlyMap<string, Pick<SessionRow, "session_id" | "backend" | "turn">>;
  /** The backend that observed rows name by its provider. */
  toBackend(provider: string): string;
  /** Their pending requests. */
  pending: readonly Pick<RequestRow, "session_id" | "request_id" | "requested_at_ms">[];
  limit: number;
}

/**
 * An unfinished turn or request counts only while its session has it, because a killed daemon can lose an end. What is
 * running or pending now is included even if it started before the requested time.
 */
export function settleStats(observed: Stats, known: NowKnown): Stats {
  const { rows, limit } = known;
  const findTurnId = (session_id: string): string | undefined => rows.get(session_id)?.turn?.turn_id;
  const turns = observed.turns
    .filter((turn) => turn.ended_at_ms !== undefined || findTurnId(turn.session_id) === turn.turn_id)
    .map((turn) => ({ ...turn, backend: known.toBackend(turn.backend) }));
  const tools = observed.tools.filter(
    (tool) => tool.ended_at_ms !== undefined || findTurnId(tool.session_id) === tool.turn_id,
  );
  const open = new Set(known.pending.map(makeKey));
  const waits = observed.waits.filter((wait) => wait.ended_at_ms !== undefined || open.has(makeKey(wait)));
  const allTurns = [...turns, ...runningNow(turns, rows)];
  const allWaits = [...waits, ...waitingNow(waits, known.pending)];
  return {
    ...observed,
    turns: newest(allTurns, limit),
    tools,
    waits: newest(allWaits, limit),
    is_cut: observed.is_cut || Math.max(allTurns.length, allWaits.length) > limit,
  };
}

function runningNow(turns: readonly TurnStat[], rows: NowKnown["rows"]): TurnStat[] {
  const seen = new Set(turns.map(({ session_id, turn_id }) => `${session_id} ${turn_id}`));
  return [...rows.values()].flatMap(({ session_id, backend, turn }) =>
    turn === undefined || seen.has(`${session_id} ${turn.turn_id}`)
      ? []
      : [
          {
            session_id,
            backend,
            turn_id: turn.turn_id,
            started_at_ms: turn.started_at_ms,
            status: "running",
          },
        ],
  );
}

function waitingNow(waits: readonly WaitStat[], pending: NowKnown["pending"]): WaitStat[] {
  const seen = new Set(waits.map(makeKey));
  return pending
    .filter((request) => !seen.has(makeKey(request)))
    .map(({ session_id, request_id, requested_at_ms }) => ({
      session_id,
      request_id,
      started_at_ms: requested_at_ms,
    }));
}

function makeKey({ session_id, request_id }: { session_id: string; request_id: string }): string {
  return `${session_id} ${request_id}`;
}

/** Oldest first. */
function newest<T extends { started_at_ms: number }>(list: T[], limit: number): T[] {
  return list.sort((a, b) => a.started_at_ms - b.started_at_ms).slice(-limit);
}
