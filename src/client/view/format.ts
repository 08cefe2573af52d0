// Text shared by all screens: states, durations, counts, costs. Not sanitized; each screen does that when it draws.
import { computeWaitedMs, NO_WAIT } from "../../base/wait-clock.ts";
import { formatNotRun } from "../../protocol/not-run.ts";
import type { SessionView } from "../../protocol/views.ts";
import { formatUntil } from "./quota-text.ts";
import type { NoticeEntry, ResultEntry, ToolEntry, ToolStatus, View } from "./types.ts";

export { getChangeLabel, getChangeVerb } from "../../protocol/change-labels.ts";

type State = SessionView["activity_state"];

/** What a session is shown as: its activity, or what matters more to the user. */
export type ShownState = State | "stalled" | "held" | "failed";

/** The words for people, the same in every face. The API and `--json` name the activity. */
const STATE_LABELS: Readonly<Record<ShownState, string>> = {
  working: "working",
  thinking: "thinking",
  waiting_input: "has a question",
  waiting_permission: "needs approval",
  idle: "idle",
  stopped: "stopped",
  starting: "starting",
  waiting_quota: "waiting_quota",
  stalled: "stalled",
  held: "held",
  failed: "failed",
};

type Situated = Pick<SessionView, "activity_state" | "pending_requests" | "stalled" | "held" | "failed">;

/** The most urgent of what is true of it. */
export function findShownState(session: Situated): ShownState {
  const { activity_state, pending_requests, stalled, held, failed } = session;
  if (pending_requests > 0)
    return activity_state === "waiting_input" ? "waiting_input" : "waiting_permission";
  if (stalled) return "stalled";
  if (activity_state !== "idle" && activity_state !== "stopped") return activity_state;
  if (failed) return "failed";
  return held === undefined ? activity_state : "held";
}

/** `waiting_quota until 17:00`, `needs approval`, … */
export function formatState(session: Situated & Pick<SessionView, "quota_wait">): string {
  const state = findShownState(session);
  const { quota_wait } = session;
  if (state === "waiting_quota" && quota_wait !== undefined) return formatUntil(quota_wait, Date.now());
  return nameState(state);
}

/** Also of a state that is not known: a newer daemon may have more. */
export function nameState(state: string): string {
  return (STATE_LABELS as Partial<Record<string, string>>)[state] ?? state;
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

/** `unknown` if no agent reported it. */
export function formatTokenSum(count: number | undefined): string {
  return count === undefined ? "unknown" : formatTokens(count);
}

/** `$1.20`, `unknown`, or `$1.20 + unknown` if some turns have no cost. */
export function formatSpending({ cost_usd, turns_without_cost }: Spending): string {
  if (cost_usd === undefined) return "unknown";
  return turns_without_cost === 0 ? formatCost(cost_usd) : `${formatCost(cost_usd)} + unknown`;
}

interface Spending {
  cost_usd?: number | undefined;
  turns_without_cost: number;
}

function short(value: number): string {
  return value.toFixed(1).replace(/\.0$/, "");
}

function two(value: number): string {
  return String(value).padStart(2, "0");
}
