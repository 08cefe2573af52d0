// What the daemon keeps about a session: the row in the store (and the JSONL driver's `<id>.usage.json`).
import * as z from "zod";
import { Usage } from "./usage.ts";

/** No id ever becomes a path or an argument unchecked (DESIGN R10). */
export const SessionId = z.string().regex(/^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/, {
  message: "expected 1-128 characters of [A-Za-z0-9._-], not starting with '.' or '-'",
});

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
  turns: z.int().min(0),
  last_turn_at_ms: z.int().optional(),
  last_turn_usage: Usage,
  cumulative_usage: Usage,
  cost_usd: z.number().optional(),
  /** The conversation began in this daemon (not by resuming a foreign one), so nothing to resume is no error. */
  began_here: z.boolean(),
  /** Clients other than the owner may answer requests. */
  answers: z.enum(["owner", "any"]).optional(),
  /** The turn that runs; present after a crash means it never got its result. */
  turn: z.object({ turn_id: z.string(), started_at_ms: z.int() }).optional(),
});
export type SessionRow = z.infer<typeof SessionRow>;

export const ACTIVITY_STATES = [
  "working",
  "thinking",
  "waiting_input",
  "waiting_permission",
  "idle",
  "stopped",
] as const;
export type ActivityState = (typeof ACTIVITY_STATES)[number];

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
