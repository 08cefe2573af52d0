// What an agent did, in one vocabulary for all backends: the source of `sm children`, `sm tail` and the messages that wake
// a parent. The names are part of the session-manager format (docs/http.md).
import * as z from "zod";
import { NOT_RUN_REASONS } from "./not-run.ts";

export const ACTION_KINDS = ["command", "file_change", "tool", "message", "request", "turn"] as const;

/** `success`: it ran and reported success. `not_run` says whether the call ran at all. */
export const ACTION_STATUSES = [
  "running",
  "waiting",
  "success",
  "failed",
  "interrupted",
  "cancelled",
  "timeout",
] as const;
export type ActionStatus = (typeof ACTION_STATUSES)[number];

export const Action = z.strictObject({
  session_id: z.string(),
  /** The backend; the Codex app-server is `codex-app`. */
  source_provider: z.string(),
  action_kind: z.enum(ACTION_KINDS),
  /** One line: "ran npm test", "edited src/a.ts (+3 -1)". */
  summary_text: z.string(),
  status: z.enum(ACTION_STATUSES),
  /** Why a call that was asked for never ran; absent when it ran. */
  not_run: z.enum(NOT_RUN_REASONS).optional(),
  /** A call that needed approval starts when it was approved. */
  started_at_ms: z.int(),
  ended_at_ms: z.int().optional(),
  /** How long the turn waited for answers. */
  waited_ms: z.int().optional(),
  turn_id: z.string().optional(),
  item_id: z.string().optional(),
  exit_code: z.int().optional(),
});
export type Action = z.infer<typeof Action>;
