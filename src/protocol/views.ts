// What is shown of sessions to whoever manages them: the same shapes on every wire.
import * as z from "zod";
import { Action } from "./actions.ts";
import { InputRecord } from "./queue.ts";
import { RequestRow } from "./requests.ts";
import { Budget, LastResult, SESSION_STATES } from "./session.ts";
import { Usage } from "./usage.ts";

/** A session as a manager sees it. */
export const SessionView = z.strictObject({
  session_id: z.string(),
  backend: z.string(),
  /** The backend in the words of session managers: the Codex app-server is `codex-app`. */
  provider: z.string(),
  name: z.string().optional(),
  title: z.string().optional(),
  cwd: z.string().optional(),
  model: z.string().optional(),
  parent: z.string().optional(),
  children: z.array(z.string()),
  managed: z.boolean(),
  activity_state: z.enum(SESSION_STATES),
  /** It is at rest because its last turn failed, or because its agent did not start. */
  failed: z.literal(true).optional(),
  /** A client drives it over the socket. */
  attached: z.boolean(),
  running: z.boolean(),
  turn: z.strictObject({ turn_id: z.string(), started_at_ms: z.int() }).optional(),
  /** No event for longer than `stall_s` although a turn runs and nothing is asked. */
  stalled: z.boolean(),
  last_result: LastResult.optional(),
  last_action: Action.optional(),
  pending_requests: z.int(),
  /** Also those of all sessions below it. */
  family_pending_requests: z.int(),
  queued: z.int(),
  /** Why nothing of the queue is delivered although its agent is free. */
  held: z.string().optional(),
  turns: z.int(),
  usage: Usage,
  context_tokens: z.int(),
  cost_usd: z.number().optional(),
  budget: Budget.optional(),
  started_at_ms: z.int(),
  last_active_at_ms: z.int(),
  /** When its agent last said anything, in this life of the daemon. */
  last_event_at_ms: z.int().optional(),
  stopped_at_ms: z.int().optional(),
  last_seq: z.int(),
});
export type SessionView = z.infer<typeof SessionView>;

/** Why the history has a hole: `retention` pruned it, `persistence_error` could not write it. */
export const GAP_REASONS = ["retention", "persistence_error", "unknown"] as const;

export const EventView = z.strictObject({
  session_id: z.string(),
  /** null: it was never stored (`persisted: false`). */
  seq: z.int().nullable(),
  persisted: z.boolean(),
  /** When it was stored; null where the store keeps no times (JSONL files). */
  timestamp_ms: z.int().nullable(),
  type: z.string(),
  turn_id: z.string().nullable(),
  /** One bounded line for people. */
  preview: z.string(),
  /** The frame as on the socket. */
  frame: z.record(z.string(), z.unknown()),
});
export type EventView = z.infer<typeof EventView>;

/** The cursor contract of sm#288. */
export const EventsPage = z.strictObject({
  events: z.array(EventView),
  /** The oldest stored event; null when there is none. */
  earliest_seq: z.int().nullable(),
  latest_seq: z.int(),
  /** Ask with `since_seq` of this for what follows. */
  next_seq: z.int(),
  history_gap: z.boolean(),
  gap_reason: z.enum(GAP_REASONS).nullable(),
  /** On demand (`include_unpersisted`): what could not be stored, as far as it is still in memory. */
  unpersisted: z.array(EventView).optional(),
});
export type EventsPage = z.infer<typeof EventsPage>;

export const WAIT_REASONS = ["idle", "blocked", "stopped", "input_done", "timeout"] as const;
export const WaitReply = z.strictObject({
  reason: z.enum(WAIT_REASONS),
  session: SessionView,
  /** What became of the message that was waited for. */
  input: InputRecord.optional(),
});
export type WaitReply = z.infer<typeof WaitReply>;

/** What the global stream tells. `reset`: something may have been missed, look at all sessions anew. */
export const ChangeView = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("session"), session: SessionView }),
  z.strictObject({ kind: z.literal("session_removed"), session_id: z.string() }),
  z.strictObject({ kind: z.literal("request"), request: RequestRow }),
  z.strictObject({ kind: z.literal("queue"), session_id: z.string(), input: InputRecord }),
  z.strictObject({ kind: z.literal("reset") }),
]);
export type ChangeView = z.infer<typeof ChangeView>;
