// Sessions as managers see them: the same shapes on every wire.
import * as z from "zod";
import { Action } from "./actions.ts";
import { Budget, BudgetView } from "./budget.ts";
import { InputRecord } from "./queue.ts";
import { OnLimit, QuotaWaitView, QuotaWindow } from "./quota.ts";
import { RequestRow } from "./requests.ts";
import { LastResult, SESSION_STATES } from "./session.ts";
import { Usage } from "./usage.ts";
import { SessionWorktree } from "./worktrees.ts";

/** A session with its activity. */
export const SessionView = z.strictObject({
  session_id: z.string(),
  backend: z.string(),
  /** The backend as session managers name it: the Codex app-server is `codex-app`. */
  provider: z.string(),
  name: z.string().optional(),
  title: z.string().optional(),
  cwd: z.string().optional(),
  /** The directory of its repository, the main one for worktrees; else `cwd`. */
  project: z.string().optional(),
  /** Sorted; absent: none. */
  labels: z.array(z.string()).optional(),
  /** It was put away: lists leave it out unless asked for it. */
  archived_at_ms: z.int().optional(),
  model: z.string().optional(),
  /** How much it may do without asking: the agent's own name of it, if known. */
  permission_mode: z.string().optional(),
  parent: z.string().optional(),
  /** Its agent has the tools for managing other agents. */
  manager: z.literal(true).optional(),
  /** MCP servers that its agent gets, by name. */
  mcp: z.array(z.string()).optional(),
  children: z.array(z.string()),
  managed: z.boolean(),
  activity_state: z.enum(SESSION_STATES),
  /** Idle because the last turn failed or the agent did not start. */
  failed: z.literal(true).optional(),
  /** A client owns it over the socket. */
  attached: z.boolean(),
  running: z.boolean(),
  turn: z.strictObject({ turn_id: z.string(), started_at_ms: z.int() }).optional(),
  /** No event for longer than `stall_s` during a turn, and nothing pending. */
  stalled: z.boolean(),
  last_result: LastResult.optional(),
  last_action: Action.optional(),
  pending_requests: z.int(),
  /** Including all descendants. */
  family_pending_requests: z.int(),
  queued: z.int(),
  /** Why the queue is not delivered although the agent is free. */
  held: z.string().optional(),
  /** Present in `waiting_quota`. */
  quota_wait: QuotaWaitView.optional(),
  /** The limits of its account, as last reported. */
  quota: z.array(QuotaWindow).optional(),
  /** Absent: the daemon's setting. */
  on_limit: OnLimit.optional(),
  turns: z.int(),
  usage: Usage,
  context_tokens: z.int(),
  cost_usd: z.number().optional(),
  budget: Budget.optional(),
  /** The limits that apply to it, its own and those of its ancestors. */
  budgets: z.array(BudgetView).optional(),
  worktree: SessionWorktree.optional(),
  started_at_ms: z.int(),
  last_active_at_ms: z.int(),
  /** When the agent last sent anything since the daemon started. */
  last_event_at_ms: z.int().optional(),
  stopped_at_ms: z.int().optional(),
  last_seq: z.int(),
});
export type SessionView = z.infer<typeof SessionView>;

/** What names the session of a request. */
export const AskingSession = SessionView.pick({
  session_id: true,
  name: true,
  title: true,
  cwd: true,
  project: true,
  parent: true,
  worktree: true,
});
export type AskingSession = z.infer<typeof AskingSession>;

/** Why the history has a gap: `retention` pruned it, `persistence_error` could not write it. */
export const GAP_REASONS = ["retention", "persistence_error", "unknown"] as const;

export const EventView = z.strictObject({
  session_id: z.string(),
  /** null: never stored (`persisted: false`). */
  seq: z.int().nullable(),
  persisted: z.boolean(),
  /** When it was stored; null if that is not known. */
  timestamp_ms: z.int().nullable(),
  type: z.string(),
  turn_id: z.string().nullable(),
  /** One bounded line. */
  preview: z.string(),
  /** The frame, as on the socket. */
  frame: z.record(z.string(), z.unknown()),
});
export type EventView = z.infer<typeof EventView>;

/** Cursor fields as in the session-manager format. */
export const EventsPage = z.strictObject({
  events: z.array(EventView),
  /** The oldest stored event; null if there is none. */
  earliest_seq: z.int().nullable(),
  latest_seq: z.int(),
  /** Pass this as `since_seq` to continue. */
  next_seq: z.int(),
  history_gap: z.boolean(),
  gap_reason: z.enum(GAP_REASONS).nullable(),
  /** With `include_unpersisted`: frames that could not be stored and are still in memory. */
  unpersisted: z.array(EventView).optional(),
});
export type EventsPage = z.infer<typeof EventsPage>;

export const WAIT_REASONS = ["idle", "blocked", "stopped", "input_done", "timeout"] as const;
export const WaitReply = z.strictObject({
  reason: z.enum(WAIT_REASONS),
  session: SessionView,
  /** State of the message that was waited for. */
  input: InputRecord.optional(),
});
export type WaitReply = z.infer<typeof WaitReply>;

/** An event of the global stream. `reset`: events may have been missed; reload all sessions. */
export const ChangeView = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("session"), session: SessionView }),
  z.strictObject({ kind: z.literal("session_removed"), session_id: z.string() }),
  z.strictObject({ kind: z.literal("request"), request: RequestRow }),
  z.strictObject({ kind: z.literal("queue"), session_id: z.string(), input: InputRecord }),
  z.strictObject({ kind: z.literal("reset") }),
]);
export type ChangeView = z.infer<typeof ChangeView>;
