// Updates of protocol v1 in the terms of the draft v2. Pure. Messages have ids there, a tool call is one entity that updates
// patch, and a change names files and operations.
import type * as v1 from "@agentclientprotocol/sdk";
import type * as v2 from "@agentclientprotocol/sdk/experimental/v2";
import { defined } from "../../../base/values.ts";
import type { EditorState } from "../editor-port.ts";

/** The text that is being written, per session. */
export interface OpenText {
  kind?: string;
  messageId?: string;
}

const PLAN_ID = "plan";

/** Empty for updates that v2 does not have. `seq` makes the ids of texts that have none, the same in every replay. */
export function toUpdateV2(open: OpenText, update: v1.SessionUpdate, seq = 0): v2.SessionUpdate[] {
  const kind = update.sessionUpdate;
  const before = { ...open };
  // Anything else ends a text.
  delete open.kind;
  delete open.messageId;
  switch (update.sessionUpdate) {
    case "user_message_chunk":
    case "agent_message_chunk":
    case "agent_thought_chunk": {
      const { content, messageId, _meta } = update;
      open.kind = kind;
      open.messageId = toMessageId({ kind, messageId: messageId ?? undefined, before, seq });
      const chunk = { content, messageId: open.messageId, ...defined({ _meta: _meta ?? undefined }) };
      return [{ sessionUpdate: update.sessionUpdate, ...chunk } as v2.SessionUpdate];
    }
    case "tool_call":
    case "tool_call_update":
      return [{ ...toToolCall(update), sessionUpdate: "tool_call_update" }];
    case "plan":
      return [
        { sessionUpdate: "plan_update", plan: { type: "items", planId: PLAN_ID, entries: update.entries } },
      ];
    case "available_commands_update":
      return [{ ...update, availableCommands: update.availableCommands.map(toCommand) }];
    case "usage_update":
    case "session_info_update":
      return [update];
    default:
      return [];
  }
}

/** An agent's thoughts and its text can have the same id, but are two messages. */
function toMessageId({
  kind,
  messageId,
  before,
  seq,
}: {
  kind: string;
  messageId: string | undefined;
  before: OpenText;
  seq: number;
}): string {
  if (messageId !== undefined) return kind === "agent_thought_chunk" ? `${messageId}/thought` : messageId;
  return before.kind === kind && before.messageId !== undefined ? before.messageId : `${kind}/${seq}`;
}

function toCommand({ name, description, input }: v1.AvailableCommand): v2.AvailableCommand {
  const hint = input?.hint;
  return {
    type: "command",
    name,
    description,
    ...(hint !== undefined && { input: { type: "text", hint } }),
  };
}

export function toToolCall({ content, ...call }: v1.ToolCallUpdate): v2.ToolCallUpdate {
  return { ...call, ...(content != null && { content: content.flatMap(toContent) }) };
}

function toContent(content: v1.ToolCallContent): v2.ToolCallContent[] {
  if (content.type === "content") return [{ type: "content", content: content.content }];
  if (content.type !== "diff") return [];
  const { path, oldText, newText } = content;
  const isNew = oldText == null;
  return [
    {
      type: "diff",
      changes: [isNew ? { operation: "add", path } : { operation: "modify", path }],
      patch: { format: "git_patch", text: formatPatch(path, oldText ?? undefined, newText) },
    },
  ];
}

/** The texts are the changed lines with their context: where they are in the file is not known, so they start at 1. */
function formatPatch(path: string, oldText: string | undefined, newText: string): string {
  const name = path.replace(/^\/+/, "");
  const before = splitLines(oldText ?? "");
  const after = splitLines(newText);
  const head = oldText === undefined ? ["new file mode 100644", "--- /dev/null"] : [`--- a/${name}`];
  return [
    `diff --git a/${name} b/${name}`,
    ...head,
    `+++ b/${name}`,
    `@@ -${before.length === 0 ? 0 : 1},${before.length} +${after.length === 0 ? 0 : 1},${after.length} @@`,
    ...before.map((line) => `-${line}`),
    ...after.map((line) => `+${line}`),
    "",
  ].join("\n");
}

function splitLines(text: string): string[] {
  return text === "" ? [] : text.replace(/\n$/, "").split("\n");
}

/** A permission is about a tool call. */
export function toPermissionV2({
  sessionId,
  toolCall,
  options,
  _meta,
}: v1.RequestPermissionRequest): v2.RequestPermissionRequest {
  return {
    sessionId,
    title: toolCall.title ?? toolCall.toolCallId,
    subject: { type: "tool_call", toolCall: toToolCall(toolCall) },
    options,
    ...defined({ _meta: _meta ?? undefined }),
  };
}

export function toStateV2(state: EditorState): v2.SessionUpdate {
  if (state.state === "running") return { sessionUpdate: "state_update", state: "running" };
  if (state.state !== "idle") return { sessionUpdate: "state_update", state: "requires_action" };
  const { stopReason, message = "the turn failed" } = state;
  if (stopReason === undefined) return { sessionUpdate: "state_update", state: "idle" };
  if (stopReason !== "error")
    return { sessionUpdate: "state_update", state: "idle", stopReason } as v2.SessionUpdate;
  const error = { code: -32603, message };
  return { sessionUpdate: "state_update", state: "idle", stopReason, error };
}

export function toConfigOptionV2(option: v1.SessionConfigOption): v2.SessionConfigOption[] {
  if (option.type !== "select") return [];
  const { id, name, currentValue, options } = option;
  const values = options.flatMap((one) => ("value" in one ? [{ value: one.value, name: one.name }] : []));
  return [{ type: "select", configId: id, name, currentValue, options: values }];
}
