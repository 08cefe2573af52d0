// The durable queue of a session: messages that wait until its agent is free. It is part of the session's row, so that
// a message leaves the queue in the same write in which its turn begins: delivered at most once, in order (DESIGN R8).
import * as z from "zod";
import { UserMessage } from "./content.ts";

/** `user`: from a client. `wake`: told by the daemon about a child session. */
export const INPUT_KINDS = ["user", "wake"] as const;

export const QueuedMessage = z.strictObject({
  message_id: z.string(),
  kind: z.enum(INPUT_KINDS),
  message: UserMessage,
  queued_at_ms: z.int(),
  /** The session whose agent sent it; for a wake, the child that it is about. */
  from: z.string().optional(),
});
export type QueuedMessage = z.infer<typeof QueuedMessage>;

/**
 * `queued → delivered → done`; `queued → cancelled`; `queued → failed` when the agent cannot take it. A message whose
 * turn was cut by a crash is `done` too, with that outcome.
 */
export const INPUT_STATES = ["queued", "delivered", "done", "cancelled", "failed"] as const;

/** What became of a message: the newest of a session are remembered, also to recognise one that is sent twice. */
export const InputRecord = z.strictObject({
  message_id: z.string(),
  kind: z.enum(INPUT_KINDS),
  state: z.enum(INPUT_STATES),
  queued_at_ms: z.int(),
  /** The client's idempotency key and a hash of what it sent with it. */
  key: z.string().optional(),
  hash: z.string().optional(),
  /** The turn that it began. */
  turn_id: z.string().optional(),
  /** How that turn ended: the subtype of its `agent.result`. */
  outcome: z.string().optional(),
  error: z.strictObject({ code: z.string(), message: z.string() }).optional(),
});
export type InputRecord = z.infer<typeof InputRecord>;
