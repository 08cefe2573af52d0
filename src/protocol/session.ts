// What the daemon keeps about a session: the row in the store (and the JSONL driver's `<id>.usage.json`).
import * as z from "zod";
import { InputRecord, QueuedMessage } from "./queue.ts";
import { Usage } from "./usage.ts";

/** No id ever becomes a path or an argument unchecked (DESIGN R10). */
export const SessionId = z.string().regex(/^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/, {
  message: "expected 1-128 characters of [A-Za-z0-9._-], not starting with '.' or '-'",
});

/** What a session may spend. Stored and shown; the agents themselves keep to what they know of it. */
export const Budget = z.strictObject({
  max_cost_usd: z.number().min(0).optional(),
  max_turns: z.int().min(1).optional(),
  max_tokens: z.int().min(1).optional(),
});
export type Budget = z.infer<typeof Budget>;

/** How the last turn ended. */
export const LastResult = z.strictObject({
  turn_id: z.string(),
  subtype: z.string(),
  ended_at_ms: z.int(),
  /** The end of what the agent said, bounded. */
  text: z.string().optional(),
  error: z.strictObject({ code: z.string(), message: z.string() }).optional(),
});
export type LastResult = z.infer<typeof LastResult>;

export const WAKE_KINDS = ["finished", "failed", "interrupted", "blocked", "stalled"] as const;
export type WakeKind = (typeof WAKE_KINDS)[number];

/** Something that the parent must be told and was not yet. Its id is the id of the message that tells it. */
export const Wake = z.strictObject({
  wake_id: z.string(),
  kind: z.enum(WAKE_KINDS),
  at_ms: z.int(),
  text: z.string(),
});
export type Wake = z.infer<typeof Wake>;

export const SessionRow = z.object({
  session_id: SessionId,
  backend: z.string(),
  /** The `options.<backend>` block of the last open. */
  options: z.record(z.string(), z.unknown()),
  cwd: z.string().optional(),
  native_session_id: z.string().optional(),
  rollout_path: z.string().optional(),
  model: z.string().optional(),
  title: z.string().optional(),
  started_at_ms: z.int(),
  last_active_at_ms: z.int(),
  last_seq: z.int().min(0),
  /** Only in a row from the store: what was given out behind this seq, up to `last_seq`, is gone. */
  lost_after: z.int().min(0).optional(),
  turns: z.int().min(0),
  last_turn_at_ms: z.int().optional(),
  last_turn_usage: Usage,
  cumulative_usage: Usage,
  cost_usd: z.number().optional(),
  /** The conversation began in this daemon (not by resuming a foreign one), so nothing to resume is no error. */
  began_here: z.boolean(),
  /** Clients other than the owner may answer requests. */
  answers: z.enum(["owner", "any"]).optional(),
  /** What people call it. */
  name: z.string().optional(),
  /** The session whose agent spawned it. */
  parent: SessionId.optional(),
  /** Spawned for everybody: it lives without an owner, and its agent stays between turns. */
  managed: z.boolean().optional(),
  budget: Budget.optional(),
  /** Its parent is woken by what happens to it; absent means yes. */
  wakes_parent: z.boolean().optional(),
  /** Wakes on their way to the parent. */
  wakes: z.array(Wake).optional(),
  /** Called for this session, beside what the configuration says. */
  notify_url: z.string().optional(),
  /** The idempotency key of the spawn, and a hash of what was asked with it. */
  spawn: z.strictObject({ key: z.string(), hash: z.string() }).optional(),
  /** Ended by a person or a parent: only a client's message starts it again, a wake does not. */
  stopped_at_ms: z.int().optional(),
  queue: z.array(QueuedMessage).optional(),
  inputs: z.array(InputRecord).optional(),
  last_result: LastResult.optional(),
  /** The turn that runs; present after a crash means it never got its result. */
  turn: z
    .object({
      turn_id: z.string(),
      started_at_ms: z.int(),
      /** The wake that began it: told once more when the daemon dies with the turn, for nobody else would. */
      wake: QueuedMessage.optional(),
    })
    .optional(),
});
export type SessionRow = z.infer<typeof SessionRow>;

/** What a session does, as clients of the socket know it. */
export const ACTIVITY_STATES = [
  "working",
  "thinking",
  "waiting_input",
  "waiting_permission",
  "idle",
  "stopped",
] as const;
/** The same where managers look. `starting`: its agent is on its way up; on the socket that is still `stopped`. */
export const SESSION_STATES = [...ACTIVITY_STATES, "starting"] as const;
export type ActivityState = (typeof SESSION_STATES)[number];
/** What a list can be filtered by. `failed` is told by the view's field of that name. */
export const FILTER_STATES = [...SESSION_STATES, "failed"] as const;
export type FilterState = (typeof FILTER_STATES)[number];

/** One row of a `blemeesd.sessions` reply: a live session, a transcript on disk, or both merged (spec §5.16). */
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
