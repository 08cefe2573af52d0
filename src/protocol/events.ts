// The eight `agent.*` events, as produced by backends. A frame on the wire is an event plus its envelope (session_id, seq):
// see wire/blemees2.ts. `raw` is the native event, sent only if the session asks for it; with `native_events` it is on the
// first event made from it, and `null` on the others.
import * as z from "zod";
import { ContentBlock } from "./content.ts";
import { Usage } from "./usage.ts";

const common = {
  backend: z.string(),
  raw: z.unknown().optional(),
  /** Set on everything a sub-agent does: the tool call that started it. */
  parent_tool_use_id: z.string().optional(),
  /** The sub-agent's own name, if the agent reports one. */
  agent_id: z.string().optional(),
};
const index = z.int().min(0).optional();

export const SystemInit = z.strictObject({
  type: z.literal("agent.system_init"),
  ...common,
  model: z.string().optional(),
  cwd: z.string().optional(),
  tools: z.array(z.string()).optional(),
  native_session_id: z.string().optional(),
  context_window: z.int().optional(),
  capabilities: z.record(z.string(), z.unknown()).optional(),
});

export const Delta = z.strictObject({
  type: z.literal("agent.delta"),
  ...common,
  kind: z.enum(["text", "thinking", "tool_input"]),
  text: z.string().optional(),
  partial_json: z.string().optional(),
  index,
  item_id: z.string().optional(),
});

export const Message = z.strictObject({
  type: z.literal("agent.message"),
  ...common,
  role: z.literal("assistant"),
  content: z.array(ContentBlock),
  phase: z.string().optional(),
  message_id: z.string().optional(),
});

export const UserEcho = z.strictObject({
  type: z.literal("agent.user_echo"),
  ...common,
  message: z.looseObject({ role: z.literal("user"), content: z.union([z.string(), z.array(ContentBlock)]) }),
});

export const ToolUse = z.strictObject({
  type: z.literal("agent.tool_use"),
  ...common,
  tool_use_id: z.string(),
  name: z.string(),
  input: z.unknown(),
  index,
});

export const ToolResult = z.strictObject({
  type: z.literal("agent.tool_result"),
  ...common,
  tool_use_id: z.string(),
  output: z.unknown().optional(),
  is_error: z.boolean().optional(),
  /** Who allowed or denied the tool, in the agent's own terms, if reported. */
  permission: z
    .strictObject({ decision: z.string(), source: z.string().optional(), reason: z.string().optional() })
    .optional(),
});

export const Notice = z.strictObject({
  type: z.literal("agent.notice"),
  ...common,
  level: z.enum(["info", "warn", "error"]),
  /** A category of protocol/notices.ts with its `data`, or one specific to an agent. */
  category: z.string(),
  text: z.string().optional(),
  data: z.record(z.string(), z.unknown()).optional(),
});

export const RESULT_SUBTYPES = ["success", "error", "interrupted", "max_turns", "max_budget"] as const;

export const Result = z.strictObject({
  type: z.literal("agent.result"),
  ...common,
  subtype: z.enum(RESULT_SUBTYPES),
  duration_ms: z.int().min(0).optional(),
  num_turns: z.int().min(0).optional(),
  usage: Usage.optional(),
  turn_id: z.string().optional(),
  time_to_first_token_ms: z.int().min(0).optional(),
  /** Cost of this turn, if the backend reports it. */
  cost_usd: z.number().optional(),
  error: z
    .looseObject({
      /** One of protocol/failures.ts, or of protocol/errors.ts when the daemon ended the turn. */
      code: z.union([z.string(), z.number()]).optional(),
      /** The agent's own code. */
      native_code: z.union([z.string(), z.number()]).optional(),
      message: z.string(),
      /** How long to wait before retrying, if the agent reports it. */
      retry_after_ms: z.int().min(0).optional(),
    })
    .optional(),
});

export const AgentEvent = z.discriminatedUnion("type", [
  SystemInit,
  Delta,
  Message,
  UserEcho,
  ToolUse,
  ToolResult,
  Notice,
  Result,
]);
export type AgentEvent = z.infer<typeof AgentEvent>;
export type SystemInitEvent = z.infer<typeof SystemInit>;
export type ResultEvent = z.infer<typeof Result>;
export type NoticeEvent = z.infer<typeof Notice>;
export type ToolResultEvent = z.infer<typeof ToolResult>;
