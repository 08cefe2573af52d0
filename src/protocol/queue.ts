// The durable queue of a session: messages waiting until its agent is free. It is part of the session's row, so that a
// message leaves the queue in the same write that starts its turn: delivered at most once, in order.
import * as z from "zod";
import { UserMessage } from "./content.ts";

/** `user`: from a client. `wake`: sent by the daemon about a child session. */
export const INPUT_KINDS = ["user", "wake"] as const;

const OneMessage = z.strictObject({
  message_id: z.string(),
  kind: z.enum(INPUT_KINDS),
  message: UserMessage,
  queued_at_ms: z.int(),
  /** The session whose agent sent it; for a wake, the child it is about. */
  from: z.string().optional(),
  /** For a wake: what it says when it is delivered with others, as one message. */
  brief: z.string().optional(),
  /** The turn that it was to be added to. If it is not, it is delivered like any other message. */
  for_turn: z.string().optional(),
});

export const QueuedMessage = OneMessage.extend({
  /** The wakes that were delivered as this one message. Absent while they wait. */
  merged: z.array(OneMessage).optional(),
});
export type QueuedMessage = z.infer<typeof QueuedMessage>;

/**
 * `queued → delivered → done`; `queued → cancelled`; `queued → failed` if the agent cannot take it. A message whose turn
 * was cut off by a crash is also `done`, with that outcome.
 */
export const INPUT_STATES = ["queued", "delivered", "done", "cancelled", "failed"] as const;

/** What happened to a message. The latest of each session are kept, also to recognize duplicates. */
export const InputRecord = z.strictObject({
  message_id: z.string(),
  kind: z.enum(INPUT_KINDS),
  state: z.enum(INPUT_STATES),
  queued_at_ms: z.int(),
  /** The client's idempotency key, and a hash of the body sent with it. */
  key: z.string().optional(),
  hash: z.string().optional(),
  /** The turn that it started, or was added to. */
  turn_id: z.string().optional(),
  /** The turn that was running, if it was to be added to it. */
  for_turn: z.string().optional(),
  /** How that turn ended: the subtype of its `agent.result`. */
  outcome: z.string().optional(),
  error: z.strictObject({ code: z.string(), message: z.string() }).optional(),
});
export type InputRecord = z.infer<typeof InputRecord>;
