// Token counters of a session, as a pure reducer over results.
import type { ResultEvent } from "../../protocol/events.ts";
import type { SessionRow } from "../../protocol/session.ts";
import { USAGE_KEYS, type Usage } from "../../protocol/usage.ts";

export type UsageFields = Pick<
  SessionRow,
  "turns" | "last_turn_at_ms" | "last_turn_usage" | "cumulative_usage" | "cost_usd"
>;

export function createUsage(): UsageFields {
  return {
    turns: 0,
    last_turn_usage: {},
    cumulative_usage: {
      input_tokens: 0,
      output_tokens: 0,
      cache_read_input_tokens: 0,
      cache_creation_input_tokens: 0,
    },
  };
}

/** A result without usage counts neither as a turn nor for the time of the last one. */
export function addUsage(fields: UsageFields, result: ResultEvent, nowMs: number): UsageFields {
  const { usage } = result;
  if (usage === undefined) return fields;
  const cumulative: Usage = { ...fields.cumulative_usage };
  for (const key of USAGE_KEYS) {
    const added = usage[key];
    if (added !== undefined) cumulative[key] = (cumulative[key] ?? 0) + added;
  }
  return {
    turns: fields.turns + 1,
    last_turn_at_ms: nowMs,
    last_turn_usage: usage,
    cumulative_usage: cumulative,
    ...(fields.cost_usd === undefined && result.cost_usd === undefined
      ? {}
      : { cost_usd: (fields.cost_usd ?? 0) + (result.cost_usd ?? 0) }),
  };
}

/** The input side of the last turn: what the model's context window held. */
export function countContextTokens(lastTurn: Usage): number {
  return (
    (lastTurn.input_tokens ?? 0) +
    (lastTurn.cache_read_input_tokens ?? 0) +
    (lastTurn.cache_creation_input_tokens ?? 0)
  );
}
