// What an agent did, in the same few words for every backend: the projection behind `sm children`, `sm tail` and the
// messages that wake a parent (sm#288 "compatibility projection").
import * as z from "zod";
import { NOT_RUN_REASONS } from "./not-run.ts";

export const ACTION_KINDS = ["command", "file_change", "tool", "message", "request", "turn"] as const;
export type ActionKind = (typeof ACTION_KINDS)[number];

/**
 * `success`: it ran and said so. The others are the outcomes that sm#288 names; `not_run` says which of them never ran.
 */
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
  /** A call that had to be approved started when it was. */
  started_at_ms: z.int(),
  ended_at_ms: z.int().optional(),
  /** How much of a turn's time it waited for people. */
  waited_ms: z.int().optional(),
  turn_id: z.string().optional(),
  item_id: z.string().optional(),
  exit_code: z.int().optional(),
});
export type Action = z.infer<typeof Action>;
