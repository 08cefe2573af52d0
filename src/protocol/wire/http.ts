// The bodies of the HTTP API (servers/http): one schema a shape, from which OpenAPI and docs/http.md are made.
import * as z from "zod";
import { Action } from "../actions.ts";
import { UserMessage } from "../content.ts";
import { InputRecord, QueuedMessage } from "../queue.ts";
import { ANSWER_SOURCES, GivenAnswer, RequestRow } from "../requests.ts";
import { Budget, SessionId } from "../session.ts";
import { SessionView } from "../views.ts";

export {
  ChangeView,
  EventsPage,
  EventView,
  GAP_REASONS,
  SessionView,
  WAIT_REASONS,
  WaitReply,
} from "../views.ts";

/** A key of the client's choice: the same key with the same body is carried out once. */
export const IdempotencyKey = z.string().min(1).max(200);

export const ErrorBody = z.strictObject({
  error: z.strictObject({
    code: z.string(),
    message: z.string(),
    data: z.record(z.string(), z.unknown()).optional(),
  }),
});

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

export const RequestsReply = z.strictObject({ requests: z.array(RequestRow), next: z.string().optional() });

const ANSWERING = {
  /** From the row: the answer counts only for what was seen. */
  shown_hash: z.string().optional(),
  /** Where the answer was given: `http` by default. */
  source: z.enum(ANSWER_SOURCES).optional(),
};
const [Decided, Answered] = GivenAnswer.options;
/** sm#288's payloads beside ours: `{decision}` or `{answers}`, with what else may stand there. */
export const RespondBody = z.union([Decided.extend(ANSWERING), Answered.extend(ANSWERING)]);
export const RespondReply = z.strictObject({
  request: RequestRow,
  repeated: z.boolean(),
  /** What was not done as it was asked, for the person who answered: the agent takes no reason with a refusal. */
  notice: z.string().optional(),
});

/** Newest first. */
export const ActionsReply = z.strictObject({ session_id: z.string(), actions: z.array(Action) });

/** The session first, then what is below it, parents before their children. */
export const FamilyReply = z.strictObject({
  sessions: z.array(z.strictObject({ depth: z.int(), session: SessionView })),
});

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

export const LinkBody = z.strictObject({
  /** Where the loopback port is opened, if none is open: 0 is any free one. */
  port: z.int().min(0).max(65_535).optional(),
});

/** A link that opens the dashboard once. */
export const WebLink = z.strictObject({
  /** The one-time word is in the fragment, which browsers send to nobody. */
  url: z.string(),
  port: z.int(),
  expires_at_ms: z.int(),
});
export type WebLink = z.infer<typeof WebLink>;

export const EnterBody = z.strictObject({});
export const EnterReply = z.strictObject({ token: z.string() });
