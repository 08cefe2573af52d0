// The stored row of a session (also in `<id>.usage.json`), and the session states that clients see.
import * as z from "zod";
import { Budget, RemovedSpending, Spent, TurnUse } from "./budget.ts";
import { InputRecord, QueuedMessage } from "./queue.ts";
import { AfterLimit, OnLimit, QuotaWait } from "./quota.ts";
import { Usage } from "./usage.ts";
import { SessionWorktree } from "./worktrees.ts";

/** Checked before an id becomes part of a path or an argument. */
export const SESSION_ID = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/;
export const SessionId = z.string().regex(SESSION_ID, {
  message: "expected 1-128 characters of [A-Za-z0-9._-], not starting with '.' or '-'",
});

/** A word for finding and grouping sessions. No commas: lists of labels are separated by them. */
export const Label = z.string().regex(/^[A-Za-z0-9_][A-Za-z0-9._:/@-]{0,39}$/, {
  message: "expected 1-40 characters of [A-Za-z0-9._:/@-], not starting with punctuation",
});
/** A table `[mcp.NAME]` of the daemon's config file. */
export const McpName = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$/, {
  message: "expected 1-40 characters of [A-Za-z0-9_-], starting with a letter or digit",
});

export const MAX_LABELS = 16;
export const Labels = z.array(Label).max(MAX_LABELS, { message: `expected at most ${MAX_LABELS} labels` });

/** How the last turn ended. */
export const LastResult = z.strictObject({
  turn_id: z.string(),
  subtype: z.string(),
  ended_at_ms: z.int(),
  /** The end of the agent's last message, bounded. */
  text: z.string().optional(),
  error: z.strictObject({ code: z.string(), message: z.string() }).optional(),
});
export type LastResult = z.infer<typeof LastResult>;

export const WAKE_KINDS = ["finished", "failed", "interrupted", "blocked", "stalled"] as const;
export type WakeKind = (typeof WAKE_KINDS)[number];

/** An event the parent has not been sent yet. Its id becomes the id of the message. */
export const Wake = z.strictObject({
  wake_id: z.string(),
  kind: z.enum(WAKE_KINDS),
  at_ms: z.int(),
  text: z.string(),
  /** Replaces `text` when several wakes are delivered as one message. */
  brief: z.string().optional(),
});
export type Wake = z.infer<typeof Wake>;

export const SessionRow = z.object({
  session_id: SessionId,
  backend: z.string(),
  /** The `options.<backend>` block of the last open. */
  options: z.record(z.string(), z.unknown()),
  cwd: z.string().optional(),
  /** The root of the repository that `cwd` is in, the main one for worktrees; else `cwd`. */
  project: z.string().optional(),
  native_session_id: z.string().optional(),
  rollout_path: z.string().optional(),
  model: z.string().optional(),
  /** The agent's own name of it, as last reported or set. */
  permission_mode: z.string().optional(),
  title: z.string().optional(),
  started_at_ms: z.int(),
  last_active_at_ms: z.int(),
  last_seq: z.int().min(0),
  /** Only in stored rows: frames after this seq, up to `last_seq`, were sent to clients but are lost. */
  lost_after: z.int().min(0).optional(),
  turns: z.int().min(0),
  last_turn_at_ms: z.int().optional(),
  last_turn_usage: Usage,
  cumulative_usage: Usage,
  cost_usd: z.number().optional(),
  /** The conversation started in this daemon, so having nothing to resume is not an error. */
  began_here: z.boolean(),
  /** Clients other than the owner may answer requests. */
  answers: z.enum(["owner", "any"]).optional(),
  /** Display name. */
  name: z.string().optional(),
  /** Sorted; absent: none. */
  labels: z.array(z.string()).optional(),
  /** Put away by the user: lists leave it out, until it is used again. */
  archived_at_ms: z.int().optional(),
  /** The session whose agent spawned it. */
  parent: SessionId.optional(),
  /** The first session of its family, if it is another one. */
  root: SessionId.optional(),
  /** Spawned by a manager: it lives without an owner, and its agent stays up between turns. */
  managed: z.boolean().optional(),
  budget: Budget.optional(),
  /** Since when it holds its budget: later grants get what earlier ones leave. */
  granted_at_ms: z.int().optional(),
  /** What its turns have used. Absent in rows of earlier versions: see the counters above. */
  spent: Spent.optional(),
  removed_spending: z.array(RemovedSpending).optional(),
  /** Whether events of this session wake its parent; absent means yes. */
  wakes_parent: z.boolean().optional(),
  /** Its agent may answer requests of its own descendants. */
  may_answer: z.literal(true).optional(),
  /** Its agent has the tools for managing other agents. */
  manager: z.literal(true).optional(),
  /** The MCP servers that its agent gets, by their names in the daemon's configuration. */
  mcp: z.array(McpName).optional(),
  /** Wakes not yet delivered to the parent. */
  wakes: z.array(Wake).optional(),
  /** Hook for this session, in addition to the configured one. */
  notify_url: z.string().optional(),
  /** Instead of the settings of these names; 0: never. */
  request_timeout_s: z.number().optional(),
  remind_s: z.number().optional(),
  /** The idempotency key of the spawn, and a hash of its body. */
  spawn: z.strictObject({ key: z.string(), hash: z.string() }).optional(),
  /** The worktree that was made for it. */
  worktree: SessionWorktree.optional(),
  /** Stopped by the user or the parent: a client's message starts it again, a wake does not. */
  stopped_at_ms: z.int().optional(),
  queue: z.array(QueuedMessage).optional(),
  inputs: z.array(InputRecord).optional(),
  last_result: LastResult.optional(),
  /** When a limit of its account is reached; absent: the configured one for managed sessions, `fail` for others. */
  on_limit: OnLimit.optional(),
  /** Why the queue is not delivered now. */
  quota_wait: QuotaWait.optional(),
  /** The current turn. Present after a crash: it has no result yet, and gets one here if its agent is gone. */
  turn: z
    .object({
      turn_id: z.string(),
      started_at_ms: z.int(),
      /** The agent started it by itself; absent: a message did. */
      origin: z.literal("agent").optional(),
      /** Its `task_started` notice is in the log. */
      is_announced: z.literal(true).optional(),
      /** The wake that started the turn. Sent again if the daemon dies during the turn. */
      wake: QueuedMessage.optional(),
      /** The message of a user that started the turn, if it is delivered again after a limit. */
      message: QueuedMessage.optional(),
      after_limit: AfterLimit.optional(),
      /** The queued message that started it, until this process of the agent is given it: the next daemon does, if this one dies before. */
      undelivered: z.object({ entry: QueuedMessage, generation: z.string() }).optional(),
      /** What it has used so far, for the case that it gets no result. */
      used: TurnUse.optional(),
    })
    .optional(),
});
export type SessionRow = z.infer<typeof SessionRow>;

/** Session states on the socket. */
export const ACTIVITY_STATES = [
  "working",
  "thinking",
  "waiting_input",
  "waiting_permission",
  "idle",
  "stopped",
] as const;
/**
 * States for managers. `starting`: the agent is starting; on the socket this is still `stopped`. `waiting_quota`: its
 * messages wait for the reset of a limit; on the socket `idle`, or `stopped` without an agent.
 */
export const SESSION_STATES = [...ACTIVITY_STATES, "starting", "waiting_quota"] as const;
export type ActivityState = (typeof SESSION_STATES)[number];
/** Filters for lists. `failed` is the view's field of that name. */
export const FILTER_STATES = [...SESSION_STATES, "failed"] as const;
export type FilterState = (typeof FILTER_STATES)[number];

/** One row of a `blemeesd.sessions` reply: a live session, a transcript on disk, or both merged. */
export const SessionSummary = z.strictObject({
  session_id: z.string(),
  backend: z.string(),
  attached: z.boolean(),
  cwd: z.string().optional(),
  model: z.string().optional(),
  title: z.string().optional(),
  started_at_ms: z.int().optional(),
  last_active_at_ms: z.int().optional(),
  owner_pid: z.int().optional(),
  last_seq: z.int().min(0).optional(),
  turn_active: z.boolean().optional(),
  activity_state: z.enum(ACTIVITY_STATES).optional(),
  pending_requests: z.int().min(0).optional(),
  native_session_id: z.string().optional(),
  mtime_ms: z.int().optional(),
  size: z.int().optional(),
  preview: z.string().optional(),
  rollout_path: z.string().optional(),
});
export type SessionSummary = z.infer<typeof SessionSummary>;
