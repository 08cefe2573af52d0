// The row of a session of which only frames, or only the eight fields of an older sidecar, are known.
import type { SessionRow } from "../protocol/session.ts";

/** An older log never says its backend, but only Codex has a rollout file. */
export function defaultRow(known: Partial<SessionRow> & { session_id: string }, atMs: number): SessionRow {
  const activeAtMs = known.last_turn_at_ms ?? atMs;
  return {
    backend: known.rollout_path === undefined ? "claude" : "codex",
    options: {},
    started_at_ms: activeAtMs,
    last_active_at_ms: activeAtMs,
    last_seq: 0,
    turns: 0,
    last_turn_usage: {},
    cumulative_usage: {},
    // After a turn there is something to resume, so its absence would be worth an error.
    began_here: (known.turns ?? 0) === 0,
    ...known,
  };
}
