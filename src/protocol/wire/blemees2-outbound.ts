// Every `blemees/2` frame that the daemon sends. Separate from the inbound table because the daemon needs only their types:
// building the schemas would add some milliseconds to every start.
import * as z from "zod";
import { ERRORS } from "../errors.ts";
import { AgentEvent } from "../events.ts";
import { RequestRow } from "../requests.ts";
import { SessionSummary } from "../session.ts";
import { Usage } from "../usage.ts";
import { frame } from "./blemees2.ts";

const id = z.string().optional();
const backends = z.record(z.string(), z.string());
const count = z.int().min(0);
/** `seq` is absent only if writing to the log failed; then `persisted` is false. */
const envelope = {
  session_id: z.string(),
  seq: z.int().min(1).optional(),
  persisted: z.literal(false).optional(),
};

export const OUTBOUND = {
  "blemeesd.hello_ack": frame("blemeesd.hello_ack", {
    daemon: z.string(),
    protocol: z.string(),
    pid: z.int(),
    backends,
    /** Only for clients that sent features in their hello. */
    features: z.array(z.string()).optional(),
  }),
  "blemeesd.opened": frame("blemeesd.opened", {
    id,
    session_id: z.string(),
    backend: z.string(),
    subprocess_pid: z.int().optional(),
    last_seq: count,
    native_session_id: z.string().optional(),
  }),
  "blemeesd.closed": frame("blemeesd.closed", { id, session_id: z.string() }),
  "blemeesd.interrupted": frame("blemeesd.interrupted", { session_id: z.string(), was_idle: z.boolean() }),
  "blemeesd.session_taken": frame("blemeesd.session_taken", {
    session_id: z.string(),
    by_peer_pid: z.int().optional(),
  }),
  "blemeesd.session_closed": frame("blemeesd.session_closed", { session_id: z.string(), reason: z.string() }),
  "blemeesd.replay_gap": frame("blemeesd.replay_gap", {
    session_id: z.string(),
    since_seq: count,
    first_available_seq: count,
  }),
  /** A watcher fell behind and is being fed from the log; nothing is lost, and live frames follow. */
  "blemeesd.catching_up": frame("blemeesd.catching_up", {
    session_id: z.string(),
    since_seq: count,
    last_seq: count,
  }),
  "blemeesd.watching": frame("blemeesd.watching", { id, session_id: z.string(), last_seq: count }),
  "blemeesd.unwatched": frame("blemeesd.unwatched", {
    id,
    session_id: z.string(),
    was_watching: z.boolean(),
  }),
  "blemeesd.pong": frame("blemeesd.pong", { id, data: z.unknown().optional() }),
  "blemeesd.status_reply": z.looseObject({
    type: z.literal("blemeesd.status_reply"),
    id,
    daemon: z.string(),
    protocol: z.string(),
    pid: z.int(),
    uptime_s: z.number(),
    socket_path: z.string(),
    backends,
    connections: count,
    sessions: z.looseObject({
      total: count,
      attached: count,
      detached: count,
      active_turns: count,
      by_backend: z.record(z.string(), count),
    }),
    config: z.looseObject({
      ring_buffer_size: count,
      event_log_enabled: z.boolean(),
      idle_timeout_s: z.number(),
      shutdown_grace_s: z.number(),
      max_concurrent_sessions: count,
      max_line_bytes: count,
    }),
  }),
  "blemeesd.session_info_reply": z.looseObject({
    type: z.literal("blemeesd.session_info_reply"),
    id,
    session_id: z.string(),
    backend: z.string(),
    native_session_id: z.string(),
    model: z.string().optional(),
    cwd: z.string().optional(),
    turns: count,
    last_turn_at_ms: z.int().optional(),
    last_turn_usage: Usage,
    cumulative_usage: Usage,
    context_tokens: count,
    attached: z.boolean(),
    subprocess_running: z.boolean(),
    last_seq: count,
  }),
  "blemeesd.sessions": frame("blemeesd.sessions", {
    id,
    cwd: z.string().optional(),
    sessions: z.array(SessionSummary),
  }),
  "blemeesd.requests": frame("blemeesd.requests", {
    id,
    session_id: z.string().optional(),
    requests: z.array(RequestRow),
    /** There are more: pass this as `after`. */
    next: z.string().optional(),
  }),
  /** The request's current state. `repeated`: it was answered before, and that answer counts. */
  "blemeesd.responded": frame("blemeesd.responded", {
    id,
    session_id: z.string(),
    request_id: z.string(),
    repeated: z.boolean(),
    request: RequestRow,
    /** What could not be done as requested, such as a reason that the agent does not accept. */
    notice: z.string().optional(),
  }),
  "blemeesd.stderr": frame("blemeesd.stderr", { ...envelope, line: z.string() }),
  /** With `seq` and `backend` in a session's stream; without them as the reply to a request. */
  "blemeesd.error": frame("blemeesd.error", {
    id,
    session_id: z.string().optional(),
    seq: envelope.seq,
    persisted: envelope.persisted,
    backend: z.string().optional(),
    code: z.enum(Object.keys(ERRORS) as [keyof typeof ERRORS]),
    message: z.string(),
    /** Machine-readable details, such as the pending request. */
    data: z.record(z.string(), z.unknown()).optional(),
  }),
} as const;

/** One schema per type: an event of events.ts with a stream envelope. */
export const AGENT_FRAMES = Object.fromEntries(
  AgentEvent.options.map((option) => [option.shape.type.value, option.extend(envelope)]),
) as Record<string, z.ZodObject>;

export type Outbound = { [T in keyof typeof OUTBOUND]: z.infer<(typeof OUTBOUND)[T]> }[keyof typeof OUTBOUND];
