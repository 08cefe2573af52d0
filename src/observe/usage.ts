// What a turn used, as one row that is kept longer than the turn's other rows, and the sums of such rows. Pure.
import { isObject, type JsonObject } from "../base/json.ts";
import { asCount } from "../base/values.ts";
import type { SessionRow } from "../protocol/session.ts";
import type { UsageSums } from "../protocol/usage-report.ts";

/** One row of `turn_usage`. */
export interface TurnUsage {
  session_id: string;
  turn_id: string;
  ended_at_ms: number;
  agent: string;
  /** Absent in rows that were made from older ones. */
  project?: string;
  duration_ms?: number;
  waited_ms?: number;
  /** Without what was read from the cache. */
  input_tokens?: number;
  cached_tokens?: number;
  output_tokens?: number;
  cost_usd?: number;
}

/** Sums of a group of turns. `session_id`: of turns whose project was not recorded. */
export interface UsageSlice extends UsageSums {
  key: string;
  from_ms?: number;
  session_id?: string;
}

/** The repository that a session works in, else its directory. Rows of older versions have no `project`. */
export function findProject({
  project,
  worktree,
  cwd,
}: {
  [K in "project" | "cwd"]?: SessionRow[K] | undefined;
} & { worktree?: { repository: string } | undefined }): string | undefined {
  return project ?? worktree?.repository ?? cwd;
}

/** Tokens of `agent.result`, so that input, cached and output add up to all tokens. */
export function readTokens(
  usage: unknown,
  inputHasCached: boolean,
): Pick<TurnUsage, "input_tokens" | "cached_tokens" | "output_tokens"> {
  if (!isObject(usage)) return {};
  const input = asCount(usage["input_tokens"]);
  const cached = asCount(usage["cache_read_input_tokens"]);
  const written = asCount(usage["cache_creation_input_tokens"]) ?? 0;
  const output = asCount(usage["output_tokens"]);
  const fresh = inputHasCached ? Math.max(0, (input ?? 0) - (cached ?? 0)) : (input ?? 0) + written;
  return {
    ...(input === undefined && written === 0 ? {} : { input_tokens: fresh }),
    ...(cached === undefined ? {} : { cached_tokens: cached }),
    ...(output === undefined ? {} : { output_tokens: output }),
  };
}

export function readCost({ cost_usd }: JsonObject): { cost_usd?: number } {
  return typeof cost_usd === "number" && Number.isFinite(cost_usd) ? { cost_usd } : {};
}

export function createSums(): UsageSums {
  return { turns: 0, turns_without_tokens: 0, turns_without_cost: 0, duration_ms: 0, waited_ms: 0 };
}

/** Sums of one turn. */
export function toSums(row: TurnUsage): UsageSums {
  const { input_tokens, cached_tokens, output_tokens, cost_usd } = row;
  const tokens = { input_tokens, cached_tokens, output_tokens, cost_usd };
  const known = Object.fromEntries(Object.entries(tokens).filter(([, value]) => value !== undefined));
  return {
    turns: 1,
    ...known,
    turns_without_tokens: input_tokens === undefined && output_tokens === undefined ? 1 : 0,
    turns_without_cost: cost_usd === undefined ? 1 : 0,
    duration_ms: row.duration_ms ?? 0,
    waited_ms: row.waited_ms ?? 0,
  };
}

const ALWAYS = ["turns", "turns_without_tokens", "turns_without_cost", "duration_ms", "waited_ms"] as const;
const IF_KNOWN = ["input_tokens", "cached_tokens", "output_tokens", "cost_usd"] as const;

/** What neither knows stays absent. */
export function addSums(to: UsageSums, more: UsageSums): void {
  for (const key of ALWAYS) to[key] += more[key];
  for (const key of IF_KNOWN) {
    const added = more[key];
    if (added !== undefined) to[key] = (to[key] ?? 0) + added;
  }
}

/** Slices with the same key become one, in the order in which the keys are first seen. */
export function mergeSlices(slices: Iterable<UsageSlice>): UsageSlice[] {
  const merged = new Map<string, UsageSlice>();
  for (const slice of slices) {
    const id = JSON.stringify([slice.key, slice.session_id]);
    const known = merged.get(id);
    if (known === undefined) merged.set(id, { ...slice });
    else addSums(known, slice);
  }
  return [...merged.values()];
}
