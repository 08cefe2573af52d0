// What agents did over time, for charts: turns with what they cost, tools with how long they took, and what waited for
// a person. Made from the observability database; the oldest are pruned there.
import * as z from "zod";
import { ACTION_STATUSES } from "./actions.ts";

export const TurnStat = z.strictObject({
  session_id: z.string(),
  backend: z.string(),
  turn_id: z.string().optional(),
  started_at_ms: z.int(),
  /** Absent while it runs. */
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
  /** "Bash", "apply_patch"; the kind of item where the agent gives no name. */
  tool: z.string(),
  started_at_ms: z.int(),
  ended_at_ms: z.int().optional(),
  /** From its start to its end; the time it waited for a person is not in it. */
  latency_ms: z.int().optional(),
  status: z.enum(ACTION_STATUSES),
});
export type ToolStat = z.infer<typeof ToolStat>;

export const WaitStat = z.strictObject({
  session_id: z.string(),
  request_id: z.string(),
  started_at_ms: z.int(),
  /** Absent while it waits. */
  ended_at_ms: z.int().optional(),
  /** How it ended: the decision, "answers", or why there was none. */
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
  /** There were more than were asked for: the oldest are left out. */
  is_cut: z.boolean(),
});
export type Stats = z.infer<typeof Stats>;
