// The lifetime of an item: started, deltas, completed; or closed by us if its end never comes.

import type { JsonObject } from "../../../base/json.ts";
import { asObject, asObjects, asString, asText, defined } from "../../../base/values.ts";
import type { AgentEvent, NoticeEvent } from "../../../protocol/events.ts";
import { toNotice } from "../../../protocol/notices.ts";
import { findTextItem, toTextDelta, toThinkingDelta } from "./item-texts.ts";
import { findToolItem, hasFailed } from "./item-tools.ts";
import type { CodexState, OpenItem, ThreadState } from "./state.ts";
import { learnFromActivity, learnFromCall } from "./subagents.ts";

/** Items that only inform, once, when they are complete. */
const TOLD_ITEMS: ReadonlySet<unknown> = new Set([
  "contextCompaction",
  "enteredReviewMode",
  "exitedReviewMode",
  "hookPrompt",
  "subAgentActivity",
]);

export function startItem(state: CodexState, thread: ThreadState, params: JsonObject): AgentEvent[] {
  const item = asObject(params["item"]);
  const id = asString(item["id"]);
  if (id === undefined) return [];
  learnFrom(state, thread, item);
  const isKnown = thread.open.has(id) || thread.abandoned.has(id);
  const isTool = findToolItem(item) !== undefined;
  if (!isKnown) thread.open.set(id, { item, isTool, hasDelta: false });
  if (isTool) return isKnown ? [] : toToolUse(item, id);
  const isSilent = findTextItem(item) !== undefined || TOLD_ITEMS.has(item["type"]);
  return isSilent ? [] : [itemNotice(item, "started")];
}

export function completeItem(state: CodexState, thread: ThreadState, params: JsonObject): AgentEvent[] {
  const item = asObject(params["item"]);
  const id = asString(item["id"]);
  if (id === undefined) return [];
  learnFrom(state, thread, item);
  const open = thread.open.get(id);
  thread.open.delete(id);
  if (thread.abandoned.delete(id)) return [lateResult(item, id)];
  const complete = findTextItem(item);
  if (complete !== undefined) return complete(state, item, open);
  const result = toToolResult(item, id);
  if (result === undefined) return [itemNotice(item, TOLD_ITEMS.has(item["type"]) ? undefined : "completed")];
  // Some items are only sent when complete.
  return open?.isTool === true ? [result] : [...toToolUse(item, id), result];
}

/** `item/<type>/delta` of a text. */
export function continueText(
  thread: ThreadState,
  kind: "text" | "thinking",
  params: JsonObject,
): AgentEvent[] {
  const events = kind === "text" ? toTextDelta(params) : toThinkingDelta(params);
  const open = openItem(thread, params);
  if (open !== undefined && events.length > 0) open.hasDelta = true;
  return events;
}

/** Output of a running command or patch. The tool's result has all of it. */
export function continueOutput(params: JsonObject): AgentEvent[] {
  const [tool_use_id, text] = [asString(params["itemId"]), asText(params["delta"])];
  if (tool_use_id === undefined || text === undefined) return [];
  return [toNotice("codex", "tool_output", { data: { tool_use_id, text } })];
}

/** `item/fileChange/patchUpdated`: an approval shows the current patch. */
export function updatePatch(thread: ThreadState, params: JsonObject): AgentEvent[] {
  const open = openItem(thread, params);
  if (open !== undefined) open.item = { ...open.item, changes: params["changes"] };
  const tool_use_id = asString(params["itemId"]);
  if (tool_use_id === undefined) return [];
  return [toNotice("codex", "tool_input", { data: { tool_use_id, changes: asObjects(params["changes"]) } })];
}

/** Every call without a result gets one, so that clients never wait for it. */
export function closeItems(thread: ThreadState): AgentEvent[] {
  const calls = [...thread.open].filter(([, { isTool }]) => isTool).map(([id]) => id);
  thread.open.clear();
  for (const id of calls) thread.abandoned.add(id);
  return calls.map((tool_use_id) => ({
    type: "agent.tool_result",
    backend: "codex",
    tool_use_id,
    output: "interrupted",
    is_error: true,
  }));
}

function learnFrom(state: CodexState, thread: ThreadState, item: JsonObject): void {
  if (item["type"] === "collabAgentToolCall") learnFromCall(state, thread.id, item);
  if (item["type"] === "subAgentActivity") learnFromActivity(state, thread.id, item);
}

function openItem(thread: ThreadState, params: JsonObject): OpenItem | undefined {
  const id = asString(params["itemId"]);
  return id === undefined ? undefined : thread.open.get(id);
}

function toToolUse(item: JsonObject, id: string): AgentEvent[] {
  const tool = findToolItem(item);
  if (tool === undefined) return [];
  const { name, input } = { name: tool.name(item), input: tool.input(item) };
  return [{ type: "agent.tool_use", backend: "codex", tool_use_id: id, name, input }];
}

function toToolResult(item: JsonObject, id: string): AgentEvent | undefined {
  const tool = findToolItem(item);
  if (tool === undefined) return undefined;
  return {
    type: "agent.tool_result",
    backend: "codex",
    tool_use_id: id,
    ...defined({ output: tool.output(item) }),
    is_error: hasFailed(tool, item),
  };
}

/** The call was closed as interrupted; this is its actual result. */
function lateResult(item: JsonObject, id: string): AgentEvent {
  const { output, is_error } = { output: undefined, is_error: undefined, ...toToolResult(item, id) };
  const data = { tool_use_id: id, ...defined({ output, is_error }) };
  return toNotice("codex", "late_result", { data });
}

function itemNotice(item: JsonObject, state: "started" | "completed" | undefined): NoticeEvent {
  const { type, startedAtMs: _started, completedAtMs: _completed, ...data } = item;
  if (type === "contextCompaction") return toNotice("codex", "compacted", { data: { native: data } });
  const text = asText(item["review"]) ?? asText(item["text"]);
  const category = `codex_item_${asString(type) ?? "unknown"}` as const;
  return toNotice("codex", category, { text, data: { ...data, ...defined({ state }) } });
}
