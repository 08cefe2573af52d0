// The daemon's replies as tables and short lines.
import type { Reply } from "../../client/index.ts";
import { formatAge } from "../../client/view/format.ts";
import { formatTable } from "../output.ts";

type Status = Reply<"blemeesd.status">;
type Sessions = Reply<"blemeesd.list_sessions">["sessions"];
type Info = Reply<"blemeesd.session_info">;

export function formatStatus(status: Status, columns: number): string[] {
  const { sessions, config } = status;
  const backends = Object.entries(status.backends).map(([name, version]) => `${name} ${version}`);
  return formatTable(
    [
      ["daemon", `${status.daemon}, pid ${status.pid}, up ${formatAge(status.uptime_s * 1000)}`],
      ["protocol", status.protocol],
      ["socket", status.socket_path],
      ["backends", backends.join(", ") || "none found"],
      [
        "sessions",
        `${sessions.total} of ${config.max_concurrent_sessions}: ${sessions.attached} attached, ${sessions.detached} detached, ${sessions.active_turns} working`,
      ],
      ["connections", String(status.connections)],
    ],
    columns,
  );
}

export function formatSessions(sessions: Sessions, columns: number, nowMs: number): string[] {
  const rows = sessions.map((session) => {
    const activeMs = session.last_active_at_ms ?? session.mtime_ms;
    return [
      session.session_id,
      session.backend,
      describeState(session),
      activeMs === undefined ? "-" : `${formatAge(nowMs - activeMs)} ago`,
      session.cwd ?? "-",
      session.title ?? session.preview ?? "",
    ];
  });
  return formatTable([["SESSION", "BACKEND", "STATE", "ACTIVE", "CWD", "TITLE"], ...rows], columns);
}

export function formatInfo(info: Info, columns: number): string[] {
  const { last_turn_usage: last, cumulative_usage: all } = info;
  const rows: [string, string | undefined][] = [
    ["session", info.session_id],
    ["backend", info.backend],
    ["native id", info.native_session_id === info.session_id ? undefined : info.native_session_id],
    ["model", info.model],
    ["cwd", info.cwd],
    [
      "state",
      `${info.attached ? "attached" : "detached"}, agent ${info.subprocess_running ? "running" : "stopped"}`,
    ],
    ["turns", String(info.turns)],
    [
      "last turn",
      info.last_turn_at_ms === undefined ? undefined : new Date(info.last_turn_at_ms).toISOString(),
    ],
    ["tokens", `${all.input_tokens ?? 0} in, ${all.output_tokens ?? 0} out`],
    [
      "last tokens",
      info.turns === 0 ? undefined : `${last.input_tokens ?? 0} in, ${last.output_tokens ?? 0} out`,
    ],
    ["context", `${info.context_tokens} tokens`],
    ["last seq", String(info.last_seq)],
  ];
  return formatTable(
    rows.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
    columns,
  );
}

function describeState(session: Sessions[number]): string {
  // Only live sessions have turn_active; of others the daemon may know the history.
  if (session.turn_active === undefined) return session.last_seq === undefined ? "on disk" : "closed";
  if (session.activity_state !== undefined) return session.activity_state;
  if (session.turn_active) return "working";
  return session.attached ? "attached" : "detached";
}
