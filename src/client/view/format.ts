// Text shared by all screens: states, durations, counts, costs. Not sanitized; each screen does that when it draws.
import { computeWaitedMs, NO_WAIT } from "../../base/wait-clock.ts";
import { formatNotRun } from "../../protocol/not-run.ts";
import type { SessionView } from "../../protocol/views.ts";
import type { NoticeEntry, ResultEntry, ToolEntry, ToolStatus, View } from "./types.ts";

export { getChangeLabel } from "../../protocol/change-labels.ts";

type State = SessionView["activity_state"];

/** Labels in lists; the panel of a session shows the state name. */
export const STATE_LABELS: Readonly<Record<State, string>> = {
  working: "working",
  thinking: "thinking",
  waiting_input: "has a question",
  waiting_permission: "needs approval",
  idle: "idle",
  stopped: "stopped",
  starting: "starting",
};

export function formatState(session: SessionView): string {
  const { activity_state, stalled, held, pending_requests } = session;
  if (session.failed && pending_requests === 0) return held === undefined ? "failed" : "failed, held";
  const isWaiting = activity_state === "waiting_input" || activity_state === "waiting_permission";
  const state = STATE_LABELS[activity_state] ?? activity_state;
  const word = pending_requests > 0 && !isWaiting ? `${state}, asking` : state;
  return [word, ...(stalled ? ["stalled"] : []), ...(held === undefined ? [] : ["held"])].join(", ");
}

/** Name, title or start of the id. */
export function getSessionName({ name, title, session_id }: SessionView): string {
  return name ?? title ?? session_id.slice(0, 8);
}

export const TOOL_STATUS_LABELS: Readonly<Record<ToolStatus, string>> = {
  running: "running",
  waiting: "waiting for you",
  done: "done",
  failed: "failed",
  not_run: "not run",
  unknown: "no result",
};

/** The status, or why the tool did not run. */
export function formatToolStatus({ status, not_run }: Pick<ToolEntry, "status" | "not_run">): string {
  return not_run === undefined ? TOOL_STATUS_LABELS[status] : formatNotRun(not_run);
}

/** Working time of the running turn, without the time spent waiting for the user. */
export function computeTurnMs(startedMs: number, turn: View["turn"], nowMs: number): number {
  return Math.max(0, nowMs - startedMs - computeWaitedMs(turn?.waits ?? NO_WAIT, nowMs));
}

/** The same for a finished turn. */
export function computeWorkedMs({ duration_ms, waited_ms = 0 }: ResultTimes): number | undefined {
  return duration_ms === undefined ? undefined : Math.max(0, duration_ms - waited_ms);
}

type ResultTimes = Pick<ResultEntry, "duration_ms" | "waited_ms">;

/** Running time of a tool, without the time spent waiting for the user. */
export function computeTookMs({ status, at_ms, ended_at_ms, waited_ms = 0 }: ToolTimes): number | undefined {
  return status === "not_run" || at_ms === undefined || ended_at_ms === undefined
    ? undefined
    : Math.max(0, ended_at_ms - at_ms - waited_ms);
}

type ToolTimes = Pick<ToolEntry, "status" | "at_ms" | "ended_at_ms" | "waited_ms">;

/** "Bash: npm test", "Task explorer: look around" */
export function formatTool({ name, title, agent }: { name: string; title: string; agent?: string }): string {
  const who = agent === undefined || agent === title ? name : `${name} ${agent}`;
  return title === "" ? who : `${who}: ${title}`;
}

/** The text with its category, unless the text already implies it. */
export function formatNotice({ category, text }: Pick<NoticeEntry, "category" | "text">): string {
  if (category === "blemeesd.stderr") return `agent: ${text}`;
  return category === "local" || category.includes(".") ? text : `${category}: ${text}`;
}

const NOTICE_LEADS: ReadonlyMap<string, string> = new Map([
  ["blemeesd.stderr", "agent: "],
  ["subagent_started", "started "],
  ["subagent_finished", "ended "],
]);

/** The same for a row whose style shows the category. */
export function formatNoticeRow({ category, text }: Pick<NoticeEntry, "category" | "text">): string {
  return `${NOTICE_LEADS.get(category) ?? ""}${text}`;
}

const UNITS: readonly (readonly [number, string])[] = [
  [86_400, "d"],
  [3_600, "h"],
  [60, "m"],
];

/** An age in one unit: `3s`, `12m`, `5h`, `3d`. */
export function formatAge(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  const [size, name] = UNITS.find(([unit]) => seconds >= unit) ?? [1, "s"];
  return `${Math.floor(seconds / size)}${name}`;
}

/** A duration: `80ms`, `1.5s`, `42s`, `2m 03s`, `1h 05m`. */
export function formatDuration(ms: number): string {
  const length = Math.max(0, ms);
  if (length < 100) return `${Math.round(length)}ms`;
  if (length < 9_950) return `${(length / 1000).toFixed(1)}s`;
  const seconds = Math.round(length / 1000);
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m ${two(seconds % 60)}s`;
  return `${Math.floor(minutes / 60)}h ${two(minutes % 60)}m`;
}

/** `950`, `12.3k`, `1.2M`. */
export function formatTokens(count: number): string {
  if (count < 1_000) return String(Math.max(0, Math.round(count)));
  if (count < 99_950) return `${short(count / 1_000)}k`;
  if (count < 999_500) return `${Math.round(count / 1_000)}k`;
  return `${short(count / 1_000_000)}M`;
}

/** `$0.12`, `<$0.01` */
export function formatCost(usd: number): string {
  if (usd > 0 && usd < 0.005) return "<$0.01";
  return `$${usd.toFixed(2)}`;
}

function short(value: number): string {
  return value.toFixed(1).replace(/\.0$/, "");
}

function two(value: number): string {
  return String(value).padStart(2, "0");
}
