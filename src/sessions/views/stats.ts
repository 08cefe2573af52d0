// What the sessions themselves know better than the observability database: which backend a session has, which turns run
// and what waits now. Pure.
import type { RequestRow } from "../../protocol/requests.ts";
import type { SessionRow } from "../../protocol/session.ts";
import type { Stats, TurnStat, WaitStat } from "../../protocol/stats.ts";

export interface NowKnown {
  /** The sessions that are meant, by id. */
  rows: ReadonlyMap<string, Pick<SessionRow, "session_id" | "backend" | "turn">>;
  /** What waits for an answer in them. */
  pending: readonly Pick<RequestRow, "session_id" | "request_id" | "requested_at_ms">[];
  limit: number;
}

/**
 * What began and was not seen to end does so only while its session has it: a daemon that is killed can lose an end. What
 * runs or waits now is there also when it began before the time that was asked for.
 */
export function settledStats(observed: Stats, known: NowKnown): Stats {
  const { rows, limit } = known;
  const turnOf = (session_id: string): string | undefined => rows.get(session_id)?.turn?.turn_id;
  const turns = observed.turns
    .filter((turn) => turn.ended_at_ms !== undefined || turnOf(turn.session_id) === turn.turn_id)
    .map((turn) => ({ ...turn, backend: rows.get(turn.session_id)?.backend ?? turn.backend }));
  const tools = observed.tools.filter(
    (tool) => tool.ended_at_ms !== undefined || turnOf(tool.session_id) === tool.turn_id,
  );
  const open = new Set(known.pending.map(keyOf));
  const waits = observed.waits.filter((wait) => wait.ended_at_ms !== undefined || open.has(keyOf(wait)));
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
  const seen = new Set(waits.map(keyOf));
  return pending
    .filter((request) => !seen.has(keyOf(request)))
    .map(({ session_id, request_id, requested_at_ms }) => ({
      session_id,
      request_id,
      started_at_ms: requested_at_ms,
    }));
}

function keyOf({ session_id, request_id }: { session_id: string; request_id: string }): string {
  return `${session_id} ${request_id}`;
}

/** Oldest first. */
function newest<T extends { started_at_ms: number }>(list: T[], limit: number): T[] {
  return list.sort((a, b) => a.started_at_ms - b.started_at_ms).slice(-limit);
}
