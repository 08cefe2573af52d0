// What turns used, added up by day, agent, project or session. Counted when a turn ends.
import * as z from "zod";

export const USAGE_GROUPS = ["day", "agent", "project", "session"] as const;
export type UsageGroupBy = (typeof USAGE_GROUPS)[number];

/** Sums over turns. A sum that no turn reported is absent: it is unknown, not 0. */
export const UsageSums = z.strictObject({
  turns: z.int(),
  /** Without what was read from the cache. */
  input_tokens: z.int().optional(),
  /** Input that was read from the cache. */
  cached_tokens: z.int().optional(),
  output_tokens: z.int().optional(),
  /** Turns whose agent reported no tokens. */
  turns_without_tokens: z.int(),
  cost_usd: z.number().optional(),
  /** Turns whose agent reported no cost: `cost_usd` does not include them. */
  turns_without_cost: z.int(),
  /** From start to end of the turns. */
  duration_ms: z.int(),
  /** The part of that spent waiting for answers. */
  waited_ms: z.int(),
});
export type UsageSums = z.infer<typeof UsageSums>;

export const UsageGroup = UsageSums.extend({
  /** The day (`2026-01-31`), the agent's name, the project's directory or the session's id; empty if that is not known. */
  key: z.string(),
  /** When the day starts. Only by day. */
  from_ms: z.int().optional(),
  /** Name or title of the session. Only by session, like `agent` and `project`. */
  name: z.string().optional(),
  agent: z.string().optional(),
  project: z.string().optional(),
});
export type UsageGroup = z.infer<typeof UsageGroup>;

export const UsageReply = z.strictObject({
  by: z.enum(USAGE_GROUPS),
  from_ms: z.int(),
  /** Exclusive. */
  to_ms: z.int(),
  /** The zone of the days. */
  time_zone: z.string(),
  /** Days oldest first; others most expensive first, then by tokens. */
  groups: z.array(UsageGroup),
  /** Of all groups, also those on other pages. */
  total: UsageSums,
  /** The end of the first recorded turn: nothing is known of earlier ones. */
  recorded_since_ms: z.int().optional(),
  /** Pass it as `after` for the next page. */
  next: z.string().optional(),
});
export type UsageReply = z.infer<typeof UsageReply>;
