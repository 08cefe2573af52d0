// The notify hook's payload (sessions/notify/notify.ts): JSON on the command's stdin, or the body of the webhook.
import * as z from "zod";
import { SESSION_STATES } from "./session.ts";

/** `waits`: the agent is waiting for an answer. `stalled`: it has been silent for too long. */
export const NOTIFY_EVENTS = ["waits", "done", "failed", "stalled"] as const;
export type NotifyEvent = (typeof NOTIFY_EVENTS)[number];

export const NotifyPayload = z.strictObject({
  event: z.enum(NOTIFY_EVENTS),
  session_id: z.string(),
  name: z.string().optional(),
  backend: z.string(),
  parent: z.string().optional(),
  state: z.enum(SESSION_STATES),
  cwd: z.string().optional(),
  /** With `waits`. */
  request: z.strictObject({ request_id: z.string(), request_type: z.string(), title: z.string() }).optional(),
  /** With `waits`: the request was notified before and is still pending; how often this was repeated, from 1. */
  reminder: z.int().optional(),
  /** With `done` and `failed`. The text is an excerpt. */
  result: z
    .strictObject({
      subtype: z.string(),
      turn_id: z.string().optional(),
      text: z.string().optional(),
      error: z.strictObject({ code: z.string(), message: z.string() }).optional(),
    })
    .optional(),
  /** With `stalled`: how long nothing came. */
  silent_s: z.int().optional(),
  cost_usd: z.number().optional(),
  at_ms: z.int(),
});
export type NotifyPayload = z.infer<typeof NotifyPayload>;
