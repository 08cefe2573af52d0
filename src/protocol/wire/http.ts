// Bodies of the HTTP API (servers/http): one schema per shape. Source of OpenAPI and docs/http.md.
import * as z from "zod";
import { Action } from "../actions.ts";
import { Budget, BudgetChange } from "../budget.ts";
import { UserMessage } from "../content.ts";
import { PolicyPreview } from "../policy.ts";
import { InputRecord, QueuedMessage } from "../queue.ts";
import { OnLimit } from "../quota.ts";
import { ANSWER_SOURCES, GivenAnswer, RequestRow } from "../requests.ts";
import { Label, Labels, McpName, SessionId } from "../session.ts";
import { AskingSession, SessionView } from "../views.ts";
import { WorktreeWish } from "../worktrees.ts";

export {
  ChangeView,
  EventsPage,
  EventView,
  GAP_REASONS,
  SessionView,
  WAIT_REASONS,
  WaitReply,
} from "../views.ts";

/** Chosen by the client: the same key with the same body is executed once. */
export const IdempotencyKey = z.string().min(1).max(200);

export const ErrorBody = z.strictObject({
  error: z.strictObject({
    code: z.string(),
    message: z.string(),
    data: z.record(z.string(), z.unknown()).optional(),
  }),
});

/** Most recently active first. `next`: there are more than `limit`. */
export const SessionsReply = z.strictObject({ sessions: z.array(SessionView), next: z.string().optional() });

/** At most what a timer can wait; short ones would only cause noise. */
const Seconds = z
  .number()
  .max(2_000_000)
  .refine((seconds) => seconds === 0 || seconds >= 5, { message: "expected 0, or at least 5 seconds" });

export const SpawnBody = z.strictObject({
  /** Exactly one of the two; `codex-app` is the backend `codex`. */
  backend: z.string().optional(),
  provider: z.string().optional(),
  session_id: SessionId.optional(),
  /** The first message; without one the agent starts and waits. */
  prompt: z.string().min(1).optional(),
  /** The first message with images or other blocks, instead of `prompt`. */
  message: UserMessage.optional(),
  cwd: z.string().min(1).optional(),
  model: z.string().min(1).optional(),
  name: z.string().min(1).max(200).optional(),
  labels: Labels.optional(),
  parent: SessionId.optional(),
  /** The backend's own options, as `options.<backend>` of `blemeesd.open`; they override cwd, model and approvals. */
  options: z.record(z.string(), z.unknown()).optional(),
  /** Whether the agent asks before acting (default true); requests wait in the ledger. */
  approvals: z.boolean().optional(),
  budget: Budget.optional(),
  /** What happens when a turn ends by a limit of the account (default: the daemon's `on_limit`). */
  on_limit: OnLimit.optional(),
  /** Whether to wake the parent (default true). */
  wakes_parent: z.boolean().optional(),
  /** Whether the agent may answer requests of its own descendants (default false). An agent can pass on only its own right. */
  may_answer: z.boolean().optional(),
  /**
   * Whether the agent gets the tools `agents_spawn` to `agents_search`, on its own channel (default false). A child gets them only
   * if its parent has them.
   */
  manager: z.boolean().optional(),
  /** MCP servers for the agent: tables `[mcp.NAME]` of the daemon's config file. A child gets only those of its parent. */
  mcp: z.array(McpName).max(16).optional(),
  /** An agent whose child would have more rights than itself: let a person decide instead of refusing (default false). */
  ask: z.boolean().optional(),
  notify_url: z.url().optional(),
  /** Its requests are declined after this time without an answer; 0: never. Default: the setting. */
  request_timeout_s: Seconds.optional(),
  /** Its requests notify again each time this long has passed without an answer; 0: never. Default: the setting. */
  remind_s: Seconds.optional(),
  /** Start it in a new worktree of the repository of its working directory. */
  worktree: WorktreeWish.optional(),
  /**
   * Continue this conversation of the agent's own, from `GET /transcripts`. The session gets its id, its directory and its
   * newest events.
   */
  transcript: SessionId.optional(),
  idempotency_key: IdempotencyKey.optional(),
});
export type SpawnBody = z.infer<typeof SpawnBody>;

export const SpawnReply = z.strictObject({
  session: SessionView,
  /** The message created from the prompt. */
  message_id: z.string().optional(),
  /** What the caller should know, such as that a limit on the cost cannot hold. */
  notice: z.string().optional(),
  /** The key was used before: this is the session spawned then. */
  repeated: z.boolean(),
});

/** What is absent stays as it is. */
export const ChangeBody = z
  .strictObject({
    /** null removes the name. */
    name: z.string().min(1).max(200).nullable().optional(),
    add_labels: Labels.optional(),
    remove_labels: z.array(Label).max(100).optional(),
    /** Put away, or shown in lists again. Nothing is deleted. */
    archived: z.boolean().optional(),
    /** From the next limit on; null: the daemon's setting. */
    on_limit: OnLimit.nullable().optional(),
    /** Limits to set or remove. For people only. */
    budget: BudgetChange.optional(),
  })
  .refine((body) => Object.keys(body).length > 0, {
    message: "expected name, add_labels, remove_labels, archived, on_limit or budget",
  });
export type ChangeBody = z.infer<typeof ChangeBody>;

export const InputBody = z.strictObject({
  text: z.string().min(1).optional(),
  /** With images or other blocks, instead of `text`. */
  message: UserMessage.optional(),
  /** Interrupt the current turn and go to the front of the queue. */
  now: z.boolean().optional(),
  /** `steer`: add it to the running turn. If that is not possible it is queued, and `note` says why. */
  delivery: z.enum(["queue", "steer"]).optional(),
  idempotency_key: IdempotencyKey.optional(),
});

export const InputReply = z.strictObject({
  input: InputRecord,
  /** Number of messages before it. */
  position: z.int(),
  repeated: z.boolean(),
  /** Why it is not added to the running turn, although that was requested. */
  note: z.string().optional(),
});

export const QueueReply = z.strictObject({
  session_id: z.string(),
  /** In order of delivery. */
  queued: z.array(QueuedMessage),
  /** What happened to recent messages, newest first. */
  recent: z.array(InputRecord),
  /** Why nothing is delivered although the session is idle. */
  held: z.string().optional(),
});

export const ResumeReply = z.strictObject({
  session_id: z.string(),
  /** Messages that are delivered now; 0: there was nothing to continue. */
  queued: z.int(),
});
export const InterruptReply = z.strictObject({ session_id: z.string(), was_idle: z.boolean() });
export const TreeBody = z.strictObject({ tree: z.boolean().optional() });
export const StoppedReply = z.strictObject({ stopped: z.array(z.string()) });
export const DeletedReply = z.strictObject({ deleted: z.array(z.string()) });

export const RequestsReply = z.strictObject({
  requests: z.array(RequestRow),
  /** The sessions of these requests, each once. */
  sessions: z.array(AskingSession),
  next: z.string().optional(),
});

const ANSWERING = {
  /** Copied from the row; the answer is refused if the request has changed. */
  shown_hash: z.string().optional(),
  /** Where the answer was given: `http` by default. */
  source: z.enum(ANSWER_SOURCES).optional(),
};
const [Decided, Answered] = GivenAnswer.options;
/** Also accepts the payloads of session managers: `{decision}` or `{answers}` with optional fields. */
export const RespondBody = z.union([Decided.extend(ANSWERING), Answered.extend(ANSWERING)]);
export const RespondReply = z.strictObject({
  request: RequestRow,
  repeated: z.boolean(),
  /** What could not be done as requested, such as a reason that the agent does not accept. */
  notice: z.string().optional(),
});

/** Newest first. */
export const ActionsReply = z.strictObject({ session_id: z.string(), actions: z.array(Action) });

/** The session first, then its descendants, parents before their children. */
export const FamilyReply = z.strictObject({
  sessions: z.array(z.strictObject({ depth: z.int(), session: SessionView })),
});

export const HealthReply = z.strictObject({ ok: z.literal(true), daemon: z.string(), pid: z.int() });

export const StatusReply = z.strictObject({
  daemon: z.string(),
  pid: z.int(),
  uptime_s: z.number(),
  socket_path: z.string(),
  state_dir: z.string(),
  /** Where its log goes. `path` is absent if the daemon cannot name the file. */
  log: z.strictObject({ to: z.enum(["file", "journal", "stderr"]), path: z.string().optional() }),
  /** The service manager that runs it, with the commands that restart it and show its log there; absent if there is none. */
  supervisor: z
    .strictObject({
      name: z.enum(["systemd", "launchd"]),
      restart: z.string(),
      logs: z.string().optional(),
    })
    .optional(),
  /** Detected agents and their versions. */
  backends: z.record(z.string(), z.string()),
  sessions: z.strictObject({
    total: z.int(),
    attached: z.int(),
    detached: z.int(),
    active_turns: z.int(),
    by_backend: z.record(z.string(), z.int()),
  }),
  /** Sessions whose agent is running. */
  running_agents: z.int(),
  /** Of this listener. */
  http: z.strictObject({ connections: z.int(), streams: z.int() }),
  config: z.record(z.string(), z.union([z.number(), z.boolean()])),
});

export const DaemonLogReply = z.strictObject({
  path: z.string(),
  /** Oldest first. */
  lines: z.array(z.string()),
});
export type DaemonLogReply = z.infer<typeof DaemonLogReply>;

export const RestartDaemonBody = z.strictObject({});

export const RestartDaemonReply = z.strictObject({
  /** The daemon that is being replaced. */
  pid: z.int(),
  /** The process that replaces it. */
  next_pid: z.int(),
});
export type RestartDaemonReply = z.infer<typeof RestartDaemonReply>;

export const StopDaemonBody = z.strictObject({
  /** Leave the agents running, for the next daemon to continue with. Default: the setting `leave_agents`. */
  leave_agents: z.boolean().optional(),
});

export const StopDaemonReply = z.strictObject({
  pid: z.int(),
  /** False if they are ended: not asked for, or the history is only in memory, so that no daemon could find them again. */
  leaving_agents: z.boolean(),
  /** The open loopback port, which the next daemon may open again. */
  http_port: z.int().optional(),
});
export type StopDaemonReply = z.infer<typeof StopDaemonReply>;

export const LinkBody = z.strictObject({
  /** Port to open if none is open; 0 is any free port. */
  port: z.int().min(0).max(65_535).optional(),
});

/** A link that opens the dashboard once. */
export const WebLink = z.strictObject({
  /** The ticket is in the fragment, which browsers do not send. */
  url: z.string(),
  port: z.int(),
  expires_at_ms: z.int(),
});
export type WebLink = z.infer<typeof WebLink>;

export const EnterBody = z.strictObject({});
export const EnterReply = z.strictObject({ token: z.string() });

export const SuggestionsReply = z.strictObject({ suggestions: z.array(PolicyPreview) });

/** Each line has `n`, `at_ms`, `kind` and `prev`; the rest depends on the kind (docs/policy.md). */
export const AuditReply = z.strictObject({ lines: z.array(z.record(z.string(), z.unknown())) });

export const AuditReport = z.strictObject({
  lines: z.int(),
  first_n: z.int().optional(),
  last_n: z.int().optional(),
  /** The first line that does not fit. Absent: the audit is intact. */
  fault: z.strictObject({ n: z.int(), file: z.string(), line: z.int(), fault: z.string() }).optional(),
});
