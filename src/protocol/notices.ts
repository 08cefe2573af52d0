// Categories of `agent.notice`: one, with typed `data`, for everything that several agents report or that code above the
// backends interprets. Vendor-specific data goes into `data.native`. Other events keep a category of their own
// (UNKNOWN_PREFIXES), which only clients read. Source of docs/notices.md and schemas/notices/. notice-history.ts converts
// the categories of older databases.

import * as z from "zod";
import { defined } from "../base/values.ts";
import type { NoticeEvent } from "./events.ts";
import { FAILURES, type FailureCode } from "./failures.ts";
import { INPUT_KINDS } from "./queue.ts";
import { RequestRow } from "./requests.ts";
import { Usage } from "./usage.ts";

const text = z.string().optional();
const count = z.int().min(0).optional();
/** Additional data in the agent's own format. */
const native = z.record(z.string(), z.unknown()).optional();
const none = z.strictObject({ native });
const tool_use_id = z.string();
const failed = {
  code: z.enum(Object.keys(FAILURES) as [FailureCode]),
  native_code: z.union([z.string(), z.number()]).optional(),
  http_status: count,
};

const Limit = z.strictObject({
  /** `5h`, `7d`, `7d opus`; absent: named after `window_minutes`. */
  window: text,
  resets_at_ms: count,
  used_percent: z.number().optional(),
  window_minutes: count,
  status: text,
});

const subAgent = {
  /** The call that started it. */
  tool_use_id: text,
  /** Its name or type. */
  agent: text,
  /** Names from the session's main agent (exclusive) down to this one. */
  path: z.array(z.string()).optional(),
  provider: text,
  model: text,
  native,
};

const input = {
  message_id: z.string(),
  kind: z.enum(INPUT_KINDS),
  from: text,
  turn_id: text,
  error: z.strictObject({ code: z.string(), message: z.string() }).optional(),
  merged_into: text,
  /** Blocks that are not text, such as images. */
  attachments: z.int().optional(),
};

const notRun = z.strictObject({ tool_use_id: text, tool_name: text, reason: text, by: text, native });
const request = z.strictObject({ request: RequestRow.partial({ payload: true }) });

export const NOTICES = {
  task_started: row("A turn started. `turn_id` is the daemon's, as in `agent.result`.", {
    turn_id: z.string(),
    started_at_ms: z.int(),
    origin: z.literal("agent").optional(),
  }),
  native_turn_started: row("The agent's own id of the current turn.", {
    native_turn_id: text,
    context_window: count,
    started_at_ms: count,
  }),
  own_turn_ended: row(
    "The agent finished a turn that it had started on its own; the waiting message is next.",
    {
      native,
    },
  ),
  delivery_uncertain: row(
    "The daemon was killed while it sent a message to the agent: the agent may not have received it.",
    {},
  ),
  tool_output: row("Part of a running tool's output.", { tool_use_id, text: z.string() }),
  tool_progress: row("All output of a running tool so far, or how long it has run.", {
    tool_use_id,
    content: z.unknown().optional(),
    elapsed_ms: count,
    native,
  }),
  tool_input: row("The input of a call, or the files it changes, as known so far.", {
    tool_use_id,
    name: text,
    input: z.unknown().optional(),
    changes: z.array(z.record(z.string(), z.unknown())).optional(),
  }),
  late_result: row("The final result of a call that already had one, such as `interrupted`.", {
    tool_use_id,
    output: z.unknown().optional(),
    is_error: z.boolean().optional(),
    native,
  }),
  subagent_started: row("A sub-agent started.", { ...subAgent, depth: count, handoff_tokens: count }),
  subagent_finished: row("A sub-agent ended.", {
    ...subAgent,
    subtype: z.enum(["success", "error", "interrupted", "max_turns", "max_budget"]),
    reason: text,
    num_turns: count,
    duration_ms: count,
    usage: Usage.optional(),
    cost_usd: z.number().optional(),
    error: z.looseObject({ ...failed, message: z.string() }).optional(),
  }),
  model_retry: row("The model did not answer; the agent retries.", {
    ...failed,
    attempt: count,
    max_attempts: count,
    retry_after_ms: count,
    details: text,
    native,
  }),
  error_reported: row("The agent reported an error that did not end the turn, or has not ended it yet.", {
    ...failed,
    details: text,
    native,
  }),
  rate_limits: row("Usage of the account's limits.", {
    limit: Limit.optional(),
    secondary_limit: Limit.optional(),
    /** All windows, when they were asked for. */
    limits: z.array(Limit).optional(),
    vendor: z.record(z.string(), z.unknown()).optional(),
  }),
  quota_wait: row("The session waits for the reset of a limit, or no longer does.", {
    state: z.enum(["waiting", "asking", "resumed", "cancelled", "given_up"]),
    until_ms: count,
    window: text,
  }),
  compacted: row("The conversation was summarized to free context.", {
    trigger: z.enum(["auto", "manual"]).optional(),
    before_tokens: count,
    after_tokens: count,
    native,
  }),
  context_usage: row("Context usage and the cost of the session.", {
    used_tokens: count,
    context_window: count,
    session_cost: z.strictObject({ amount: z.number(), currency: z.string() }).optional(),
  }),
  plan: row("The agent's current plan.", {
    plan: z.array(z.looseObject({ step: z.string(), status: text, priority: text })),
    explanation: text,
  }),
  turn_diff: row("The unified diff of all changes of the turn so far.", { diff: z.string() }),
  stop_reason: row("Why a turn ended, if the subtype is not specific enough.", {
    stop_reason: z.string(),
    native,
  }),
  permission_granted: row("A tool was allowed without asking the user.", notRun.shape),
  permission_denied: row("A tool or question was refused without asking the user.", notRun.shape),
  request_unsupported: row("The agent asked for something that the daemon does not support.", {
    method: z.string(),
  }),
  agent_notice: row("A message from the agent to the user, such as a warning or deprecation.", {
    kind: text,
    native,
  }),
  session_info: row("The agent's title for the conversation.", { title: text, updated_at: text, native }),
  available_commands: row("Commands that a message may start with.", {
    commands: z.array(z.record(z.string(), z.unknown())),
  }),
  config_options: row("The agent's settings.", { config: z.record(z.string(), z.unknown()) }),
  mode: row("The agent's mode.", { mode: z.string() }),
  backend_mcp_startup: row("An MCP server of the agent is starting.", {
    server: text,
    status: z.unknown().optional(),
    error: z.unknown().optional(),
    failure_reason: z.unknown().optional(),
  }),
  backend_mcp_startup_complete: row("All MCP servers of the agent have started or failed.", {
    ready: z.unknown().optional(),
    failed: z.unknown().optional(),
    cancelled: z.unknown().optional(),
  }),
  injected_message: row("The agent added a message to the conversation in the user's name.", {
    native,
  }),
  late_text: row("The agent sent text while no turn was running.", { kind: text, native }),
  unreadable_output: row("A line of the agent's output could not be parsed and was skipped.", {
    size: count,
    text,
    is_cut: z.boolean().optional(),
  }),
  stalled: row("The agent has been silent for too long without running a tool or waiting for an answer.", {
    silent_s: z.number(),
  }),
  session_lost: row("The agent has lost the earlier conversation.", none.shape),
  resume_waits: row("The conversation will be loaded later; the agent would lose it now.", none.shape),
  native: row("Carries the `raw` of a native frame that has no event (`native_events`).", none.shape),
  settings_changed: row("A client changed settings of the session.", {
    model: text,
    permission_mode: text,
    effort: text,
  }),
  conversation_continued: row(
    "The session continues a conversation that was started outside. What comes before this was copied from its transcript.",
    {
      events: z.int(),
      /** Older events that were not copied. */
      omitted: z.int(),
      began_at_ms: count,
      ended_at_ms: count,
    },
  ),
  idle_timeout: row("A turn was ended because the session had no owner for too long.", none.shape),
  input_delivered: row("A queued message became a turn, or was added to the running one (`steered`).", {
    ...input,
    steered: z.literal(true).optional(),
  }),
  input_cancelled: row("A queued message was cancelled.", input),
  input_failed: row("A queued message could not be delivered.", input),
  request_pending: row("The agent asked something.", request.shape),
  request_resolved: row("A request was answered.", request.shape),
  request_expired: row("A request was not answered in time.", request.shape),
  request_orphaned: row("The agent that asked is gone.", request.shape),
  request_withdrawn: row("The agent withdrew its request.", request.shape),
  request_refused: row("A request was refused because it could not be shown or stored.", none.shape),
  conversation_rewound: row("The agent has forgotten turns that were undone; history keeps them.", {
    /** The first of them, as `sm diff` counts. */
    turn: z.int(),
    /** Oldest first. */
    turn_ids: z.array(z.string()),
  }),
  checkpoint_skipped: row("The files before or after a turn could not be recorded; see docs/changes.md.", {
    turn_id: z.string(),
    kind: z.enum(["start", "end"]),
    reason: z.string(),
  }),
  same_file_changed: row(
    "Two live sessions have changed the same file, here or in worktrees of one repository.",
    {
      session_ids: z.array(z.string()),
      /** At most 20 of them. */
      paths: z.array(z.string()),
      count: z.int(),
      same_directory: z.boolean(),
    },
  ),
  policy_invalid: row("The rules file is invalid, so the last good rules apply.", none.shape),
  event_persist_recovered: row("The log works again; some frames before this one are missing from it.", {
    lost: count,
    after_seq: z.int(),
  }),
  event_unserialisable: row("An event of the agent could not be written as JSON.", none.shape),
} as const;
export type NoticeCategory = keyof typeof NOTICES;
export type NoticeData<C extends NoticeCategory> = z.infer<(typeof NOTICES)[C]["data"]>;

/** Prefixes of agent-specific categories that nothing here interprets. */
export const UNKNOWN_PREFIXES = [
  "claude_unknown_",
  "claude_system_",
  "claude_delta_",
  "codex_unknown_",
  "codex_notif_",
  "codex_item_",
  "codex_exec_command_",
  "codex_unsupported_",
  "acp_unknown_",
  "acp_update_",
  "acp_notif_",
  "demian_",
] as const;
export type UnknownCategory = `${(typeof UNKNOWN_PREFIXES)[number]}${string}`;

export interface NoticeParts<C extends NoticeCategory | UnknownCategory> {
  level?: NoticeEvent["level"];
  text?: string | undefined;
  data?: (C extends NoticeCategory ? NoticeData<C> : Record<string, unknown>) | undefined;
  /** The call that started the sub-agent it belongs to. */
  parent?: string | undefined;
}

/** Creates a notice; the only way backends do. Empty parts are omitted. */
export function toNotice<C extends NoticeCategory | UnknownCategory>(
  backend: string,
  category: C,
  { level = "info", text, data, parent }: NoticeParts<C> = {},
): NoticeEvent {
  return {
    type: "agent.notice",
    backend,
    level,
    category,
    ...defined({ text }),
    ...(data === undefined || Object.keys(data).length === 0 ? {} : { data }),
    ...defined({ parent_tool_use_id: parent }),
  };
}

function row<T extends z.ZodRawShape>(meaning: string, shape: T): { meaning: string; data: Data<T> } {
  return { meaning, data: z.strictObject(shape) };
}
type Data<T extends z.ZodRawShape> = ReturnType<typeof z.strictObject<T>>;
