// Rows for `list_sessions` and `session_info`: live sessions, transcripts of the agents, and stored sessions, merged by
// (backend, session_id).

import type { Backend } from "../../backends/types.ts";
import { defined } from "../../base/values.ts";
import type { ActivityState, SessionRow, SessionSummary } from "../../protocol/session.ts";
import type { Store } from "../../store/types.ts";
import { countContextTokens } from "../core/usage.ts";
import type { Session } from "../session.ts";
import type { SessionInfo } from "../types.ts";

export interface ListFilter {
  cwd?: string;
  live?: boolean;
}

export interface ListSources {
  live: readonly Session[];
  backends: readonly Backend[];
  store: Store;
}

export async function listSessions(sources: ListSources, filter: ListFilter): Promise<SessionSummary[]> {
  const cold = filter.live === true ? [] : await coldRows(sources, filter);
  const liveIds = new Map<string, Session>();
  for (const session of sources.live) {
    for (const id of listIds(session.row)) liveIds.set(makeKey(session.row.backend, id), session);
  }
  const transcripts = new Map<Session, SessionSummary>();
  const rows: SessionSummary[] = [];
  for (const row of cold) {
    const session = liveIds.get(makeKey(row.backend, row.session_id));
    if (session === undefined) rows.push(row);
    else transcripts.set(session, row);
  }
  if (filter.live !== false) {
    for (const session of sources.live) {
      if (filter.cwd === undefined || session.row.cwd === filter.cwd) {
        rows.push({ ...transcripts.get(session), ...liveRow(session) });
      }
    }
  }
  return rows.sort((a, b) => activeAt(b) - activeAt(a));
}

export function getLiveInfo(session: Session): SessionInfo {
  return {
    ...rowInfo(session.row),
    attached: session.owner !== undefined,
    subprocess_running: session.isRunning,
  };
}

/** A session that is not in memory: its stored row over the agent's transcript. */
export async function getColdInfo(
  sources: Omit<ListSources, "live">,
  session_id: string,
): Promise<SessionInfo | undefined> {
  const row = await sources.store.loadRow(session_id);
  if (row !== undefined) return rowInfo(row);
  for (const backend of sources.backends) {
    const found = await backend.findTranscript?.(session_id);
    if (found === undefined) continue;
    return {
      session_id,
      backend: backend.name,
      native_session_id: session_id,
      ...defined({ model: found.model, cwd: found.cwd }),
      turns: 0,
      last_turn_usage: {},
      cumulative_usage: {},
      ...defined({ last_turn_at_ms: found.mtime_ms }),
      context_tokens: 0,
      attached: false,
      subprocess_running: false,
      last_seq: 0,
    };
  }
  return undefined;
}

function rowInfo(row: SessionRow): SessionInfo {
  return {
    session_id: row.session_id,
    backend: row.backend,
    native_session_id: row.native_session_id ?? row.session_id,
    ...defined({ model: row.model, cwd: row.cwd }),
    turns: row.turns,
    ...defined({ last_turn_at_ms: row.last_turn_at_ms }),
    last_turn_usage: row.last_turn_usage,
    cumulative_usage: row.cumulative_usage,
    context_tokens: countContextTokens(row.last_turn_usage),
    attached: false,
    subprocess_running: false,
    last_seq: row.last_seq,
  };
}

/** The agents' own transcripts; for agents without any, the stored sessions. */
async function coldRows(sources: ListSources, filter: ListFilter): Promise<SessionSummary[]> {
  const scope = defined({ cwd: filter.cwd });
  const lists = await Promise.all(sources.backends.map((backend) => backend.listTranscripts?.(scope) ?? []));
  const silent = sources.backends.filter((b) => b.listTranscripts === undefined).map((b) => b.name);
  const live = new Set(sources.live.map((session) => session.row.session_id));
  const transcripts = lists.flat();
  const native_ids = transcripts.map(({ session_id }) => session_id);
  const [named, ...rows] = await Promise.all([
    native_ids.length === 0 ? [] : sources.store.rows({ native_ids }),
    ...silent.map((backend) => sources.store.rows({ ...scope, backend })),
  ]);
  const byNative = new Map<string, SessionRow>();
  for (const row of named) {
    if (row.native_session_id !== undefined) byNative.set(makeKey(row.backend, row.native_session_id), row);
  }
  const stored = rows.flat().filter((row) => !live.has(row.session_id));
  return [
    ...transcripts.map((row) => ourOwn(row, byNative.get(makeKey(row.backend, row.session_id)))),
    ...stored.map(storedRow),
  ];
}

/** An agent lists a conversation under its own id; resuming needs ours, which has the history. */
function ourOwn(transcript: SessionSummary, row: SessionRow | undefined): SessionSummary {
  if (row === undefined || row.session_id === transcript.session_id) return transcript;
  return { ...transcript, ...storedRow(row), native_session_id: transcript.session_id };
}

function storedRow(row: SessionRow): SessionSummary {
  return {
    session_id: row.session_id,
    backend: row.backend,
    attached: false,
    ...defined({ cwd: row.cwd, model: row.model }),
    ...(row.title === undefined ? {} : { title: row.title, preview: row.title }),
    started_at_ms: row.started_at_ms,
    last_active_at_ms: row.last_active_at_ms,
    last_seq: row.last_seq,
  };
}

function liveRow(session: Session): SessionSummary {
  const { row, owner, activity } = session;
  return {
    session_id: row.session_id,
    backend: row.backend,
    attached: owner !== undefined,
    ...defined({
      cwd: row.cwd,
      model: row.model,
      title: row.title,
      native_session_id: row.native_session_id,
    }),
    started_at_ms: row.started_at_ms,
    last_active_at_ms: row.last_active_at_ms,
    ...(owner?.peer_pid === undefined ? {} : { owner_pid: owner.peer_pid }),
    last_seq: row.last_seq,
    turn_active: session.isTurnActive,
    activity_state: toSocketState(activity, session.isRunning),
    pending_requests: session.pending.length,
  };
}

function listIds(row: SessionRow): string[] {
  return row.native_session_id === undefined ? [row.session_id] : [row.session_id, row.native_session_id];
}

function makeKey(backend: string, session_id: string): string {
  return `${backend}\n${session_id}`;
}

function activeAt(row: SessionSummary): number {
  return row.last_active_at_ms ?? row.mtime_ms ?? 0;
}

/** The socket's clients know fewer states. */
function toSocketState(activity: ActivityState, isRunning: boolean): SessionSummary["activity_state"] {
  if (activity === "waiting_quota") return isRunning ? "idle" : "stopped";
  return activity === "starting" ? "stopped" : activity;
}
