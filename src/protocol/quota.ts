// Limits of the accounts that agents use, and what a session does when it reaches one. Agents report windows with
// `rate_limits` notices; sessions/quota keeps the latest report of each.
import * as z from "zod";
import { FAILURES, type FailureCode } from "./failures.ts";

/**
 * When a turn ends because a limit is reached. `wait`: its message is delivered again after the reset. `ask`: a person decides,
 * once for the session. `fail`: the message is done, with the error.
 */
export const ON_LIMIT = ["wait", "ask", "fail"] as const;
export const OnLimit = z.enum(ON_LIMIT);
export type OnLimit = z.infer<typeof OnLimit>;

/** Failures that go away when a limit is reset. */
export const LIMIT_CODES: ReadonlySet<unknown> = new Set<FailureCode>(["rate_limited", "quota_exhausted"]);

/** One limit of an account, as last reported. */
export const QuotaWindow = z.strictObject({
  backend: z.string(),
  /** What the agent's sessions share a limit by; `default` unless the backend knows better. */
  account: z.string(),
  /** `5h`, `7d`, `7d opus`; `retry` is the wait that a refused request was given. */
  window: z.string(),
  used_percent: z.number().optional(),
  resets_at_ms: z.int().optional(),
  window_minutes: z.int().optional(),
  /** Requests are refused until the reset. */
  reached: z.literal(true).optional(),
  reported_at_ms: z.int(),
});
export type QuotaWindow = z.infer<typeof QuotaWindow>;

/** A session that waits: its queue is not delivered before `until_ms`. */
export const QuotaWait = z.strictObject({
  /** When its message first reached a limit. */
  since_ms: z.int(),
  until_ms: z.int(),
  /** Absent: not known. */
  window: z.string().optional(),
  code: z.enum(Object.keys(FAILURES) as [FailureCode]),
  /** What the agent said. */
  message: z.string(),
  /** Returned to the queue. */
  message_ids: z.array(z.string()),
  /** Turns of them that ended by a limit. */
  attempts: z.int(),
  /** A person decides whether it waits. */
  asks: z.literal(true).optional(),
});
export type QuotaWait = z.infer<typeof QuotaWait>;

/** Of a turn whose message has waited. */
export const AfterLimit = QuotaWait.pick({ since_ms: true, attempts: true, window: true });
export type AfterLimit = z.infer<typeof AfterLimit>;

/** In views. */
export const QuotaWaitView = QuotaWait.pick({ since_ms: true, until_ms: true, window: true, asks: true });
export type QuotaWaitView = z.infer<typeof QuotaWaitView>;

export const QuotaReply = z.strictObject({
  /** By backend and account; the shortest windows first. */
  windows: z.array(QuotaWindow),
  /** Sessions that wait for one, in the order in which they continue. */
  waiting: z.array(
    QuotaWaitView.extend({
      session_id: z.string(),
      name: z.string().optional(),
      title: z.string().optional(),
      backend: z.string(),
      account: z.string(),
    }),
  ),
});
export type QuotaReply = z.infer<typeof QuotaReply>;

/** What a person may do with a wait. `resume`: at once. `cancel`: its message fails with the limit's error. */
export const QUOTA_ORDERS = ["resume", "cancel"] as const;
export const QuotaBody = z.strictObject({ order: z.enum(QUOTA_ORDERS) });
export type QuotaBody = z.infer<typeof QuotaBody>;
