// Creates the row of a session that has only frames, or only the eight fields of an older sidecar.
import type { SessionRow } from "../protocol/session.ts";

/** Older logs do not name the backend, but only Codex has a rollout file. */
export function createDefaultRow(
  known: Partial<SessionRow> & { session_id: string },
  atMs: number,
): SessionRow {
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
    // After a turn there is a native session to resume, and if it is missing that is an error.
    began_here: (known.turns ?? 0) === 0,
    ...known,
  };
}
