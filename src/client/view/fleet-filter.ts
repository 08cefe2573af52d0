// Filters of the session list: words, and terms such as `is:failed`, `#label`, `project:NAME`, `agent:NAME`, `age>7d` and
// `cost>1`. Pure; shared by the terminal UI and the dashboard.
import { defined } from "../../base/values.ts";
import type { SessionView } from "../../protocol/views.ts";
import { getProject } from "./asker.ts";
import { type FleetRow, getActiveMs } from "./fleet.ts";
import { formatState } from "./format.ts";

export const STATE_FILTERS = ["waiting", "working", "failed", "idle", "stopped"] as const;
export type StateFilter = (typeof STATE_FILTERS)[number];

export interface FleetFilter {
  /** In one of these states. */
  states?: readonly StateFilter[];
  /** A project's directory, or the last part of that. */
  project?: string;
  /** It has all of these. */
  labels?: readonly string[];
  agent?: string;
  /** Idle for at least, or less than, this long. */
  olderMs?: number;
  newerMs?: number;
  minCostUsd?: number;
  /** Only archived sessions, or only others. */
  archived?: boolean;
  /** All of them are in what names the session, in lower case. */
  words?: readonly string[];
}

const UNITS_MS: Readonly<Record<string, number>> = {
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** `is:failed`, `age>7d` */
const TERM = /^(is|project|agent|label|age|cost)(?::|(?=[<>]))(.+)$/;

/** What is not a term is a word. */
export function parseFleetFilter(text: string): FleetFilter {
  const states: StateFilter[] = [];
  const words: string[] = [];
  const labels: string[] = [];
  const more: FleetFilter = {};
  for (const word of text.split(/\s+/).filter((one) => one !== "")) {
    const [, name = "", value = ""] = TERM.exec(word) ?? [];
    const state = STATE_FILTERS.find((one) => one === value);
    const [, sign, count, unit = ""] = /^([<>])(\d+(?:\.\d+)?)([mhdw]?)$/.exec(value) ?? [];
    const ageMs = Number(count) * (UNITS_MS[unit] ?? Number.NaN);
    if (word.startsWith("#") && word.length > 1) labels.push(word.slice(1));
    else if (name === "label") labels.push(value);
    else if (name === "is" && state !== undefined) states.push(state);
    else if (name === "is" && value === "archived") more.archived = true;
    else if (name === "project") more.project = value;
    else if (name === "agent") more.agent = value;
    else if (name === "age" && sign === ">" && ageMs >= 0) more.olderMs = ageMs;
    else if (name === "age" && sign === "<" && ageMs >= 0) more.newerMs = ageMs;
    else if (name === "cost" && sign === ">" && unit === "") more.minCostUsd = Number(count);
    else words.push(word.toLowerCase());
  }
  return {
    ...more,
    ...(words.length === 0 ? {} : { words }),
    ...(labels.length === 0 ? {} : { labels }),
    ...(states.length === 0 ? {} : { states }),
  };
}

export function fitsFilter(
  { session }: Pick<FleetRow, "session">,
  filter: FleetFilter,
  nowMs: number,
): boolean {
  const { states, project, labels, agent, olderMs, newerMs, minCostUsd, archived, words } = filter;
  const idleMs = nowMs - getActiveMs(session);
  return (
    (states === undefined || states.some((state) => isInState(session, state))) &&
    (archived === undefined || archived === (session.archived_at_ms !== undefined)) &&
    (project === undefined || session.project === project || getProject(session) === project) &&
    (labels ?? []).every((label) => session.labels?.includes(label) === true) &&
    (agent === undefined || session.backend === agent || session.provider === agent) &&
    (olderMs === undefined || idleMs >= olderMs) &&
    (newerMs === undefined || idleMs < newerMs) &&
    (minCostUsd === undefined || (session.cost_usd ?? -1) >= minCostUsd) &&
    (words === undefined || words.length === 0 || hasWords(session, words))
  );
}

/** `waiting`: for a person. `failed`: at rest after an error. A session in none of the first three is idle or stopped. */
export function isInState(session: SessionView, state: StateFilter): boolean {
  const { pending_requests, turn, activity_state, failed } = session;
  const isWaiting = pending_requests > 0;
  const isWorking = !isWaiting && (turn !== undefined || activity_state === "starting");
  if (state === "waiting") return isWaiting;
  if (state === "working") return isWorking;
  if (state === "failed") return failed === true;
  return !isWaiting && !isWorking && failed !== true && activity_state === state;
}

function hasWords(session: SessionView, words: readonly string[]): boolean {
  const { name, title, provider, backend, model, cwd, project, session_id, labels = [] } = session;
  const state = STATE_FILTERS.filter((one) => isInState(session, one));
  const known = defined({ name, title, provider, backend, model, cwd, project, session_id });
  const text = [...Object.values(known), ...labels, ...state, formatState(session)].join(" ").toLowerCase();
  return words.every((word) => text.includes(word));
}
