// The bodies of the HTTP API (servers/http): one schema a shape, from which OpenAPI and docs/http.md are made.
import * as z from "zod";
import { Action } from "../actions.ts";
import { UserMessage } from "../content.ts";
import { InputRecord, QueuedMessage } from "../queue.ts";
import { Answer, RESOLUTION_SOURCES, RequestRow } from "../requests.ts";
import { ACTIVITY_STATES, Budget, LastResult, SessionId } from "../session.ts";
import { Usage } from "../usage.ts";

/** A key of the client's choice: the same key with the same body is carried out once. */
export const IdempotencyKey = z.string().min(1).max(200);

export const ErrorBody = z.strictObject({
  error: z.strictObject({
    code: z.string(),
    message: z.string(),
    data: z.record(z.string(), z.unknown()).optional(),
  }),
});

/** A session as a manager sees it. */
export const SessionView = z.strictObject({
  session_id: z.string(),
  backend: z.string(),
  /** The backend in the words of session managers: the Codex app-server is `codex-app`. */
  provider: z.string(),
  name: z.string().optional(),
  title: z.string().optional(),
  cwd: z.string().optional(),
  model: z.string().optional(),
  parent: z.string().optional(),
  children: z.array(z.string()),
  managed: z.boolean(),
  activity_state: z.enum(ACTIVITY_STATES),
  /** A client drives it over the socket. */
  attached: z.boolean(),
  running: z.boolean(),
  turn: z.strictObject({ turn_id: z.string(), started_at_ms: z.int() }).optional(),
  /** No event for longer than `stall_s` although a turn runs and nothing is asked. */
  stalled: z.boolean(),
  last_result: LastResult.optional(),
  last_action: Action.optional(),
  pending_requests: z.int(),
  /** Also those of all sessions below it. */
  family_pending_requests: z.int(),
  queued: z.int(),
  turns: z.int(),
  usage: Usage,
  context_tokens: z.int(),
  cost_usd: z.number().optional(),
  budget: Budget.optional(),
  started_at_ms: z.int(),
  last_active_at_ms: z.int(),
  /** When its agent last said anything, in this life of the daemon. */
  last_event_at_ms: z.int().optional(),
  stopped_at_ms: z.int().optional(),
  last_seq: z.int(),
});
export type SessionView = z.infer<typeof SessionView>;

/** The most recently active one first. */
export const SessionsReply = z.strictObject({ sessions: z.array(SessionView) });

export const SpawnBody = z.strictObject({
  /** One of both; `codex-app` is the backend `codex`. */
  backend: z.string().optional(),
  provider: z.string().optional(),
  session_id: SessionId.optional(),
  /** The first message; without one the agent is started and waits. */
  prompt: z.string().min(1).optional(),
  /** The first message with images or other blocks, instead of `prompt`. */
  message: UserMessage.optional(),
  cwd: z.string().min(1).optional(),
  model: z.string().min(1).optional(),
  name: z.string().min(1).max(200).optional(),
  parent: SessionId.optional(),
  /** The backend's own options, as `options.<backend>` of `blemeesd.open`; they win over cwd, model and approvals. */
  options: z.record(z.string(), z.unknown()).optional(),
  /** Whether the agent asks before it acts. Default true: the requests wait in the ledger. */
  approvals: z.boolean().optional(),
  budget: Budget.optional(),
  /** Whether its parent is woken. Default true. */
  wakes_parent: z.boolean().optional(),
  notify_url: z.url().optional(),
  idempotency_key: IdempotencyKey.optional(),
});
export type SpawnBody = z.infer<typeof SpawnBody>;

export const SpawnReply = z.strictObject({
  session: SessionView,
  /** The message that the prompt became. */
  message_id: z.string().optional(),
  /** The same key was used before: this is what was spawned then. */
  repeated: z.boolean(),
});

export const RenameBody = z.strictObject({
  /** null takes the name away. */
  name: z.string().min(1).max(200).nullable(),
});

export const InputBody = z.strictObject({
  text: z.string().min(1).optional(),
  /** With images or other blocks, instead of `text`. */
  message: UserMessage.optional(),
  /** Interrupt what runs and go in front of the queue. */
  now: z.boolean().optional(),
  idempotency_key: IdempotencyKey.optional(),
});

export const InputReply = z.strictObject({
  input: InputRecord,
  /** How many messages go before it. */
  position: z.int(),
  repeated: z.boolean(),
});

export const QueueReply = z.strictObject({
  session_id: z.string(),
  /** The next one to be delivered first. */
  queued: z.array(QueuedMessage),
  /** What became of the last ones, newest first. */
  recent: z.array(InputRecord),
  /** Why nothing is delivered although the session is idle. */
  held: z.string().optional(),
});

export const InterruptReply = z.strictObject({ session_id: z.string(), was_idle: z.boolean() });
export const TreeBody = z.strictObject({ tree: z.boolean().optional() });
export const StoppedReply = z.strictObject({ stopped: z.array(z.string()) });
export const DeletedReply = z.strictObject({ deleted: z.array(z.string()) });

/** Why the history has a hole: `retention` pruned it, `persistence_error` could not write it. */
export const GAP_REASONS = ["retention", "persistence_error", "unknown"] as const;

export const EventView = z.strictObject({
  session_id: z.string(),
  /** null: it was never stored (`persisted: false`). */
  seq: z.int().nullable(),
  persisted: z.boolean(),
  /** When it was stored; null where the store keeps no times (JSONL files). */
  timestamp_ms: z.int().nullable(),
  type: z.string(),
  turn_id: z.string().nullable(),
  /** One bounded line for people. */
  preview: z.string(),
  /** The frame as on the socket. */
  frame: z.record(z.string(), z.unknown()),
});
export type EventView = z.infer<typeof EventView>;

/** The cursor contract of sm#288. */
export const EventsPage = z.strictObject({
  events: z.array(EventView),
  /** The oldest stored event; null when there is none. */
  earliest_seq: z.int().nullable(),
  latest_seq: z.int(),
  /** Ask with `since_seq` of this for what follows. */
  next_seq: z.int(),
  history_gap: z.boolean(),
  gap_reason: z.enum(GAP_REASONS).nullable(),
  /** On demand (`include_unpersisted`): what could not be stored, as far as it is still in memory. */
  unpersisted: z.array(EventView).optional(),
});
export type EventsPage = z.infer<typeof EventsPage>;

export const RequestsReply = z.strictObject({ requests: z.array(RequestRow), next: z.string().optional() });

/** sm#288's payloads beside ours: `{decision}` or `{answers}`, with what else may stand there. */
export const RespondBody = z.intersection(
  Answer,
  z.object({
    /** From the row: the answer counts only for what was seen. */
    shown_hash: z.string().optional(),
    source: z.enum(RESOLUTION_SOURCES).optional(),
  }),
);
export const RespondReply = z.strictObject({ request: RequestRow, repeated: z.boolean() });

/** Newest first. */
export const ActionsReply = z.strictObject({ session_id: z.string(), actions: z.array(Action) });

/** The session first, then what is below it, parents before their children. */
export const FamilyReply = z.strictObject({
  sessions: z.array(z.strictObject({ depth: z.int(), session: SessionView })),
});

export const WAIT_REASONS = ["idle", "blocked", "stopped", "input_done", "timeout"] as const;
export const WaitReply = z.strictObject({
  reason: z.enum(WAIT_REASONS),
  session: SessionView,
  /** What became of the message that was waited for. */
  input: InputRecord.optional(),
});
export type WaitReply = z.infer<typeof WaitReply>;

export const HealthReply = z.strictObject({ ok: z.literal(true), daemon: z.string(), pid: z.int() });

export const StatusReply = z.strictObject({
  daemon: z.string(),
  pid: z.int(),
  uptime_s: z.number(),
  socket_path: z.string(),
  /** Agents that were found, with their versions. */
  backends: z.record(z.string(), z.string()),
  sessions: z.strictObject({
    total: z.int(),
    attached: z.int(),
    detached: z.int(),
    active_turns: z.int(),
    by_backend: z.record(z.string(), z.int()),
  }),
  /** Of this way in. */
  http: z.strictObject({ connections: z.int(), streams: z.int() }),
  config: z.record(z.string(), z.union([z.number(), z.boolean()])),
});

/** What the global stream (`GET /events`) tells. `reset`: something may have been missed, read `GET /sessions` anew. */
export const ChangeView = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("session"), session: SessionView }),
  z.strictObject({ kind: z.literal("session_removed"), session_id: z.string() }),
  z.strictObject({ kind: z.literal("request"), request: RequestRow }),
  z.strictObject({ kind: z.literal("queue"), session_id: z.string(), input: InputRecord }),
  z.strictObject({ kind: z.literal("reset") }),
]);
export type ChangeView = z.infer<typeof ChangeView>;
