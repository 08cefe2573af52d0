// Frames of a session as ACP updates. Does no I/O; the state is changed in place. Messages that this editor sent are left
// out, because it shows them itself. Texts of sub-agents are left out too; their tool calls name the call that started them.
import type { PlanEntry, SessionUpdate, ToolCallContent } from "@agentclientprotocol/sdk";
import { asNumber, asObject, asObjects, asString, asText, defined } from "../../base/values.ts";
import type { WireFrame } from "../../client/index.ts";
import { describeNotice } from "../../client/view/notice-text.ts";
import { findChanges, toChanges } from "../../client/view/tool-changes.ts";
import { formatOutput } from "../../client/view/tool-output.ts";
import { describeCall, toDiffs, toText } from "./tool-updates.ts";

export interface UpdateState {
  cwd: string | undefined;
  /** Ids of messages that this editor sent. */
  own: Set<string>;
  /** Kinds of text that were streamed since the last message of the agent. */
  streamed: Set<string>;
  /** Calls without a result. */
  calls: Map<string, OpenCall>;
  /** Texts of delivered messages that the agent may repeat. */
  delivered: string[];
  context_window?: number;
}

interface OpenCall {
  name: string;
  diffs: ToolCallContent[];
  output: string;
  /** Length of the output that was last sent. */
  sentChars: number;
}

type Take = (state: UpdateState, frame: WireFrame) => SessionUpdate[];

export function createUpdateState(cwd: string | undefined): UpdateState {
  return { cwd, own: new Set(), streamed: new Set(), calls: new Map(), delivered: [] };
}

export function toUpdates(state: UpdateState, frame: WireFrame): SessionUpdate[] {
  const isSubAgent = asText(frame["parent_tool_use_id"]) !== undefined;
  if (isSubAgent && TEXTS.has(frame.type)) return [];
  return TAKE.get(frame.type)?.(state, frame) ?? [];
}

const TEXTS: ReadonlySet<string> = new Set(["agent.delta", "agent.message", "agent.user_echo"]);

const TAKE: ReadonlyMap<string, Take> = new Map<string, Take>([
  ["agent.system_init", takeInit],
  ["agent.delta", takeDelta],
  ["agent.message", takeMessage],
  ["agent.user_echo", takeEcho],
  ["agent.tool_use", takeToolUse],
  ["agent.tool_result", (state, frame) => endCall(state, frame, frame)],
  ["agent.notice", takeNotice],
  ["agent.result", takeResult],
]);

const NOTICES: ReadonlyMap<unknown, Take> = new Map<unknown, Take>([
  ["input_delivered", takeDelivered],
  ["tool_input", takeToolInput],
  ["tool_output", takeOutput],
  ["tool_progress", takeProgress],
  ["late_result", (state, frame) => endCall(state, asObject(frame["data"]), frame)],
  ["plan", takePlan],
  ["context_usage", takeUsage],
  ["available_commands", takeCommands],
  ["session_info", takeInfo],
]);

function takeInit(state: UpdateState, frame: WireFrame): SessionUpdate[] {
  const size = asNumber(frame["context_window"]);
  if (size !== undefined) state.context_window = size;
  return [];
}

function takeDelta(state: UpdateState, frame: WireFrame): SessionUpdate[] {
  const { kind, item_id } = frame;
  const text = asText(frame["text"]);
  if (text === undefined || (kind !== "text" && kind !== "thinking")) return [];
  state.streamed.add(kind);
  return [toChunk(kind, text, asText(item_id))];
}

/** The whole message; its parts that were streamed are known. */
function takeMessage(state: UpdateState, frame: WireFrame): SessionUpdate[] {
  const blocks = asObjects(frame["content"]);
  const updates = blocks.flatMap((block): SessionUpdate[] => {
    const kind = block["type"] === "thinking" ? "thinking" : "text";
    const text = asText(block[kind]);
    return text === undefined || state.streamed.has(kind)
      ? []
      : [toChunk(kind, text, asText(frame["message_id"]))];
  });
  for (const { type } of blocks) state.streamed.delete(type === "thinking" ? "thinking" : "text");
  return updates;
}

function toChunk(kind: "text" | "thinking", text: string, messageId?: string): SessionUpdate {
  const sessionUpdate = kind === "text" ? "agent_message_chunk" : "agent_thought_chunk";
  return { sessionUpdate, content: { type: "text", text }, ...defined({ messageId }) };
}

/** A message of the queue, from another client or a child session. */
function takeDelivered(state: UpdateState, frame: WireFrame): SessionUpdate[] {
  const { message_id, merged_into } = asObject(frame["data"]);
  const text = asText(frame["text"]);
  if (merged_into !== undefined || text === undefined) return [];
  state.delivered.push(text);
  return state.own.has(String(message_id)) ? [] : [toUserChunk(text, asText(message_id))];
}

/** A message as the agent received it; only those that did not come from the queue are new. */
function takeEcho(state: UpdateState, frame: WireFrame): SessionUpdate[] {
  const { content } = asObject(frame["message"]);
  const texts = asObjects(content).flatMap(({ type, text }) =>
    type === "text" ? [asString(text) ?? ""] : [],
  );
  const text = typeof content === "string" ? content : texts.join("\n");
  const at = state.delivered.findIndex((one) => squeeze(one) === squeeze(text));
  if (at >= 0) state.delivered.splice(at, 1);
  return at >= 0 || text === "" ? [] : [toUserChunk(text)];
}

function toUserChunk(text: string, messageId?: string): SessionUpdate {
  return {
    sessionUpdate: "user_message_chunk",
    content: { type: "text", text },
    ...defined({ messageId }),
  };
}

function takeToolUse(state: UpdateState, frame: WireFrame): SessionUpdate[] {
  const toolCallId = asText(frame["tool_use_id"]);
  if (toolCallId === undefined) return [];
  const name = asText(frame["name"]) ?? "tool";
  const { input } = frame;
  const known = state.calls.get(toolCallId);
  const diffs = toDiffs(findChanges(name, input) ?? [], state.cwd);
  state.calls.set(toolCallId, { output: "", sentChars: 0, ...known, name, diffs });
  return [
    {
      sessionUpdate: known === undefined ? "tool_call" : "tool_call_update",
      toolCallId,
      name,
      ...describeCall({ name, input, cwd: state.cwd }),
      status: "in_progress",
      ...(diffs.length > 0 && { content: diffs }),
      ...nameParent(frame),
    },
  ];
}

function takeToolInput(state: UpdateState, frame: WireFrame): SessionUpdate[] {
  const { tool_use_id, input, changes } = asObject(frame["data"]);
  const toolCallId = asText(tool_use_id);
  const call = toolCallId === undefined ? undefined : state.calls.get(toolCallId);
  if (toolCallId === undefined || call === undefined) return [];
  const found = toChanges(changes) ?? findChanges(call.name, input);
  if (found !== undefined) call.diffs = toDiffs(found, state.cwd);
  return [
    {
      sessionUpdate: "tool_call_update",
      toolCallId,
      ...(input !== undefined && describeCall({ name: call.name, input, cwd: state.cwd })),
      ...(found !== undefined && { content: call.diffs }),
    },
  ];
}

function takeOutput(state: UpdateState, frame: WireFrame): SessionUpdate[] {
  const { tool_use_id, text } = asObject(frame["data"]);
  return growOutput(state, asText(tool_use_id), (before) => before + (asString(text) ?? ""));
}

function takeProgress(state: UpdateState, frame: WireFrame): SessionUpdate[] {
  const { tool_use_id, content } = asObject(frame["data"]);
  return content === undefined ? [] : growOutput(state, asText(tool_use_id), () => formatOutput(content));
}

/** An update has all of the output, so it is sent only when it has grown by half: all updates together stay short. */
function growOutput(
  state: UpdateState,
  toolCallId: string | undefined,
  grow: (before: string) => string,
): SessionUpdate[] {
  const call = toolCallId === undefined ? undefined : state.calls.get(toolCallId);
  if (toolCallId === undefined || call === undefined) return [];
  call.output = grow(call.output);
  if (call.output.length === 0 || call.output.length < 1.5 * call.sentChars) return [];
  call.sentChars = call.output.length;
  return [{ sessionUpdate: "tool_call_update", toolCallId, content: [...call.diffs, toText(call.output)] }];
}

function endCall(
  state: UpdateState,
  { tool_use_id, output, is_error }: Readonly<Record<string, unknown>>,
  frame: WireFrame,
): SessionUpdate[] {
  const toolCallId = asText(tool_use_id);
  if (toolCallId === undefined) return [];
  const call = state.calls.get(toolCallId);
  state.calls.delete(toolCallId);
  const text = formatOutput(output) || (call?.output ?? "");
  // A successful edit is shown by its diff.
  const isText = text !== "" && (is_error === true || (call?.diffs.length ?? 0) === 0);
  return [
    {
      sessionUpdate: "tool_call_update",
      toolCallId,
      status: is_error === true ? "failed" : "completed",
      content: [...(call?.diffs ?? []), ...(isText ? [toText(text)] : [])],
      ...nameParent(frame),
    },
  ];
}

function takePlan(_state: UpdateState, frame: WireFrame): SessionUpdate[] {
  const entries = asObjects(asObject(frame["data"])["plan"]).map(
    ({ step, status, priority }): PlanEntry => ({
      content: asString(step) ?? "",
      status:
        status === "completed" ? "completed" : /progress/i.test(String(status)) ? "in_progress" : "pending",
      priority: priority === "high" || priority === "low" ? priority : "medium",
    }),
  );
  return entries.length === 0 ? [] : [{ sessionUpdate: "plan", entries }];
}

function takeUsage(state: UpdateState, frame: WireFrame): SessionUpdate[] {
  const data = asObject(frame["data"]);
  const used = asNumber(data["used_tokens"]);
  const size = asNumber(data["context_window"]) ?? state.context_window;
  const { amount, currency } = asObject(data["session_cost"]);
  if (used === undefined || size === undefined) return [];
  const cost = typeof amount === "number" && typeof currency === "string" ? { amount, currency } : undefined;
  return [{ sessionUpdate: "usage_update", used, size, ...defined({ cost }) }];
}

function takeCommands(_state: UpdateState, frame: WireFrame): SessionUpdate[] {
  const availableCommands = asObjects(asObject(frame["data"])["commands"]).flatMap(
    ({ name, description, input }) => {
      const hint = asText(asObject(input)["hint"]);
      const known = asText(name)?.replace(/^\//, "");
      return known === undefined
        ? []
        : [
            {
              name: known,
              description: asString(description) ?? "",
              ...(hint !== undefined && { input: { hint } }),
            },
          ];
    },
  );
  return [{ sessionUpdate: "available_commands_update", availableCommands }];
}

function takeInfo(_state: UpdateState, frame: WireFrame): SessionUpdate[] {
  const title = asText(asObject(frame["data"])["title"]);
  return title === undefined ? [] : [{ sessionUpdate: "session_info_update", title }];
}

/** Problems become text of the agent, because editors have no place for them. */
function takeNotice(state: UpdateState, frame: WireFrame): SessionUpdate[] {
  const take = NOTICES.get(frame["category"]);
  if (take !== undefined) return take(state, frame);
  if (frame["level"] !== "error") return [];
  const text = describeNotice(String(frame["category"]), frame);
  return text === undefined ? [] : [toChunk("text", `\n[${text}]\n`)];
}

/** Some agents leave calls open; nothing follows for them. */
function takeResult(state: UpdateState): SessionUpdate[] {
  const open = [...state.calls.keys()];
  state.calls.clear();
  state.streamed.clear();
  state.delivered.length = 0;
  return open.map((toolCallId) => ({ sessionUpdate: "tool_call_update", toolCallId, status: "failed" }));
}

function nameParent(frame: WireFrame): { _meta?: Record<string, unknown> } {
  const parentToolCallId = asText(frame["parent_tool_use_id"]);
  return parentToolCallId === undefined ? {} : { _meta: { blemees: { parentToolCallId } } };
}

function squeeze(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
