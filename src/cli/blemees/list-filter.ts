// The flags that say which sessions `sm all` lists.
import { resolve } from "node:path";
import { defined } from "../../base/values.ts";
import type { FilterState, SessionsFilter, TranscriptsFilter } from "../../client/index.ts";
import {
  type Arguments,
  defineFlag,
  didYouMean,
  type Flag,
  readNumberFlag,
  readTextFlag,
  UsageError,
} from "../command.ts";

/** Listed here, so that the schemas are not loaded. */
const STATES: Record<FilterState, true> = {
  working: true,
  thinking: true,
  waiting_input: true,
  waiting_permission: true,
  idle: true,
  stopped: true,
  starting: true,
  waiting_quota: true,
  failed: true,
};

export const STATE_NAMES = Object.keys(STATES) as readonly FilterState[];

/** What users call these states together. */
const SHORTCUTS = {
  waiting: ["waiting_input", "waiting_permission"],
  working: ["starting", "working", "thinking"],
  failed: ["failed"],
} as const satisfies Record<string, readonly FilterState[]>;

export const FILTERS: readonly Flag[] = [
  defineFlag("--waiting", "only sessions that wait for an answer"),
  defineFlag("--working", "only sessions at work"),
  defineFlag("--failed", "only sessions whose last turn failed, or whose agent did not start"),
  defineFlag("--state STATE", `only these states, separated by commas: ${STATE_NAMES.join(", ")}`),
  defineFlag("--live", "only live sessions (in the daemon's memory)"),
  defineFlag("-a, --agent NAME", "only sessions of this agent"),
  defineFlag("--project NAME", "only sessions of this project: its directory, or the last part of that"),
  defineFlag("-l, --label LABEL", "only sessions with this label; may be repeated: with all of them", {
    isMany: true,
  }),
  defineFlag("--cwd DIR", "only sessions in this directory"),
  defineFlag("--newer AGE", "only sessions that were active in this time: 30m, 12h, 7d, 2w"),
  defineFlag("--older AGE", "only sessions that were not"),
  defineFlag("--min-cost USD", "only sessions that cost at least this much"),
  defineFlag("--archived", "the archived sessions instead of the others"),
  defineFlag("--limit N", "only the N most recently active"),
];

export function readFilter(given: Arguments, nowMs: number): SessionsFilter {
  const agent = readTextFlag(given, "agent");
  const labels = given.many["label"] ?? [];
  return {
    ...(agent === undefined ? {} : { backend: agent === "codex-app" ? "codex" : agent }),
    ...defined({
      cwd: readTextFlag(given, "cwd"),
      project: readProject(given),
      state: readStates(given),
      min_cost_usd: readNumberFlag(given, "min-cost"),
      active_after_ms: readAge(given, "newer", nowMs),
      active_before_ms: readAge(given, "older", nowMs),
      limit: readLimit(given),
    }),
    ...(labels.length === 0 ? {} : { labels }),
    ...(given.flags["live"] ? { live: true } : {}),
    archived: given.flags["archived"] === true,
  };
}

/** Of sessions that were started outside. */
export function readOutsideFilter(given: Arguments, nowMs: number): TranscriptsFilter {
  const others = ["waiting", "working", "failed", "state", "live", "label", "cwd", "min-cost", "archived"];
  const odd = others.find((name) => given.flags[name] !== undefined);
  if (odd !== undefined) throw new UsageError(`--${odd} does not go with --outside`);
  return defined({
    agent: readTextFlag(given, "agent"),
    project: readProject(given),
    active_after_ms: readAge(given, "newer", nowMs),
    active_before_ms: readAge(given, "older", nowMs),
    limit: readLimit(given),
  });
}

function readStates(given: Arguments): FilterState[] | undefined {
  const named = readTextFlag(given, "state")?.split(",") ?? [];
  for (const name of named)
    if (!STATE_NAMES.includes(name as never))
      throw new UsageError(
        `unknown state "${name}"${didYouMean(name, STATE_NAMES) || `; the states are ${STATE_NAMES.join(", ")}`}`,
      );
  const meant = Object.entries(SHORTCUTS).flatMap(([flag, states]) => (given.flags[flag] ? states : []));
  const all = [...new Set([...(named as FilterState[]), ...meant])];
  return all.length === 0 ? undefined : all;
}

const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** The time that long ago. */
function readAge(given: Arguments, flag: string, nowMs: number): number | undefined {
  const text = readTextFlag(given, flag);
  if (text === undefined) return undefined;
  const [, count, unit = ""] = /^(\d{1,6})([mhdw])$/.exec(text) ?? [];
  const ms = Number(count) * (UNITS[unit] ?? 0);
  if (count !== undefined && ms > 0) return Math.max(0, nowMs - ms);
  throw new UsageError(`--${flag} must be an age such as 30m, 12h, 7d or 2w, not ${JSON.stringify(text)}`);
}

function readLimit(given: Arguments): number | undefined {
  return readNumberFlag(given, "limit", { least: 1, isWhole: true });
}

/** A path as the daemon knows it; a name stays. */
function readProject(given: Arguments): string | undefined {
  const project = readTextFlag(given, "project");
  const isPath = project !== undefined && (project.includes("/") || project === "." || project === "..");
  return isPath ? resolve(project) : project;
}
