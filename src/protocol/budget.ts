// Budgets: limits of a session and everything below it, what they count, and what clients see of them.
import * as z from "zod";
import { Usage } from "./usage.ts";

/** At least a hundredth of a cent, so that it never looks like nothing. */
const amount = z
  .number()
  .min(0.0001, { message: "expected an amount of at least 0.0001" })
  .max(1_000_000_000);
const count = z.int().min(0);
const limit = z.int().min(1);

/**
 * Limits of a session and its descendants. A session without a limit draws on that of its nearest ancestor; a limit of
 * its own is reserved from it, and what is left returns when it stops.
 */
export const Budget = z.strictObject({
  max_cost_usd: amount.optional(),
  /** Turns started, whatever their outcome. */
  max_turns: limit.optional(),
  /** Output tokens and input tokens that were not read from the cache. */
  max_tokens: limit.optional(),
  /** Seconds in turns, added up over all sessions; without the time that a person takes to answer a request. */
  max_wall_s: limit.optional(),
});
export type Budget = z.infer<typeof Budget>;
export type BudgetLimit = keyof Budget;

/** What is absent stays as it is; null removes a limit. */
export const BudgetChange = z
  .strictObject({
    max_cost_usd: amount.nullable().optional(),
    max_turns: limit.nullable().optional(),
    max_tokens: limit.nullable().optional(),
    max_wall_s: limit.nullable().optional(),
  })
  .refine((change) => Object.keys(change).length > 0, {
    message: "expected max_cost_usd, max_turns, max_tokens or max_wall_s",
  });
export type BudgetChange = z.infer<typeof BudgetChange>;

/** What turns have used so far, as budgets count it. */
export const Spent = z.strictObject({
  cost_usd: z.number().min(0),
  tokens: count,
  turns: count,
  wall_ms: count,
  /** Turns that used tokens and have no price. */
  unpriced_turns: count,
  /** The largest of these turns. */
  largest: z.strictObject({ cost_usd: z.number().min(0), tokens: count }),
});
export type Spent = z.infer<typeof Spent>;

/** What a turn has used so far, as its agent reports it. */
export const TurnUse = z.strictObject({
  usage: Usage.optional(),
  cost_usd: z.number().min(0).optional(),
  /** How long it waited for answers. */
  waited_ms: count.optional(),
  /** When this was noted. */
  at_ms: z.int(),
});
export type TurnUse = z.infer<typeof TurnUse>;

/** Of a deleted child and those below it: still counted for its parent. Without an id: the sum of several. */
export const RemovedSpending = z.strictObject({ session_id: z.string().optional(), spent: Spent });
export type RemovedSpending = z.infer<typeof RemovedSpending>;

/** One limit that applies to a session, its own or an ancestor's. Amounts are USD, tokens, turns or seconds. */
export const BudgetView = z.strictObject({
  limit_of: z.enum(["max_cost_usd", "max_turns", "max_tokens", "max_wall_s"]),
  limit: z.number(),
  /** By all sessions that it covers, and by the turns that are running. */
  used: z.number(),
  /** Set aside for descendants with limits of their own, and not used yet. */
  reserved: z.number(),
  /** The ancestor whose limit it is; absent: its own. */
  holder: z.string().optional(),
  /** Some of what it covers has no known price: `used` is too low. */
  is_unpriced: z.literal(true).optional(),
});
export type BudgetView = z.infer<typeof BudgetView>;

/** USD per million tokens. */
export const Price = z.strictObject({
  input: z.number().min(0),
  /** Read from the cache; default: as `input`. */
  cached_input: z.number().min(0).optional(),
  output: z.number().min(0),
});
export type Price = z.infer<typeof Price>;
