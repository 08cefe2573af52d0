// What agents did over time, for charts: turns and their cost, tools and their duration, and time spent waiting for answers.
// From the observability database, which prunes the oldest.
import * as z from "zod";
import { ACTION_STATUSES } from "./actions.ts";

export const TurnStat = z.strictObject({
  session_id: z.string(),
  backend: z.string(),
  turn_id: z.string().optional(),
  started_at_ms: z.int(),
  /** Absent while running. */
  ended_at_ms: z.int().optional(),
  status: z.enum(ACTION_STATUSES),
  input_tokens: z.int().optional(),
  output_tokens: z.int().optional(),
  cost_usd: z.number().optional(),
  time_to_first_token_ms: z.int().optional(),
});
export type TurnStat = z.infer<typeof TurnStat>;

export const ToolStat = z.strictObject({
  session_id: z.string(),
  turn_id: z.string().optional(),
  /** "Bash", "apply_patch"; the item type if the agent gives no name. */
  tool: z.string(),
  started_at_ms: z.int(),
  ended_at_ms: z.int().optional(),
  /** From start to end, without time spent waiting for approval. */
  latency_ms: z.int().optional(),
  status: z.enum(ACTION_STATUSES),
});
export type ToolStat = z.infer<typeof ToolStat>;

export const WaitStat = z.strictObject({
  session_id: z.string(),
  request_id: z.string(),
  started_at_ms: z.int(),
  /** Absent while pending. */
  ended_at_ms: z.int().optional(),
  /** The outcome: the decision, "answers", or why there was none. */
  outcome: z.string().optional(),
});
export type WaitStat = z.infer<typeof WaitStat>;

/** Each list oldest first. */
export const Stats = z.strictObject({
  since_ms: z.int(),
  until_ms: z.int(),
  turns: z.array(TurnStat),
  tools: z.array(ToolStat),
  waits: z.array(WaitStat),
  /** The limit was reached: the oldest are omitted. */
  is_cut: z.boolean(),
});
export type Stats = z.infer<typeof Stats>;
