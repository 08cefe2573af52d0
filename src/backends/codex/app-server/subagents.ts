// Which threads belong to a session. A sub-agent is a separate thread on the same connection, mostly unannounced: it is
// known from the tool call that started it, and its approvals have its own thread id.

import type { JsonObject } from "../../../base/json.ts";
import { asObject, asString, asStrings, asText } from "../../../base/values.ts";
import { type CodexState, createThread, type ThreadState } from "./state.ts";

/** The root, or a sub-agent at any depth. */
export function ownsThread(state: CodexState, threadId: string): boolean {
  return state.threads.has(threadId);
}

/** Sub-agent threads found since the last call, so that the router can send their messages here. */
export function takeNewThreads(state: CodexState): string[] {
  return state.unreported.splice(0);
}

/** The sub-agents from the root down to this thread; empty for the root. */
export function findPath(state: CodexState, threadId: string): string[] {
  const path: string[] = [];
  let thread = state.threads.get(threadId);
  // A parent is always known before its child, so this ends.
  while (thread?.parentId !== undefined) {
    path.unshift(thread.name ?? thread.id);
    thread = state.threads.get(thread.parentId);
  }
  return path;
}

/** `collabAgentToolCall`: which sub-agents it started or messaged. */
export function learnFromCall(state: CodexState, threadId: string, item: JsonObject): void {
  const sender = asString(item["senderThreadId"]) ?? threadId;
  const parentId = ownsThread(state, sender) ? sender : threadId;
  const ids = [...asStrings(item["receiverThreadIds"]), ...Object.keys(asObject(item["agentsStates"]))];
  for (const id of ids) learn(state, { id, parentId, toolUseId: asString(item["id"]) });
}

/** `subAgentActivity`. */
export function learnFromActivity(state: CodexState, threadId: string, item: JsonObject): void {
  const id = asText(item["agentThreadId"]);
  if (id === undefined) return;
  const name = asText(asString(item["agentPath"])?.split("/").pop());
  const toolUseId = item["kind"] === "started" ? asString(item["id"]) : undefined;
  learn(state, { id, parentId: threadId, toolUseId, name });
}

/** `thread/started` of a thread that has a parent here. */
export function learnFromThread(state: CodexState, thread: JsonObject): void {
  const id = asText(thread["id"]);
  const parentId = asString(thread["parentThreadId"]);
  if (id === undefined || parentId === undefined) return;
  const parent = state.threads.get(parentId);
  if (parent === undefined) return;
  const name = asText(thread["agentNickname"]) ?? asText(thread["agentRole"]);
  learn(state, { id, parentId, toolUseId: spawningCall(parent), name });
}

interface Learned {
  id: string;
  parentId: string;
  toolUseId: string | undefined;
  name?: string | undefined;
}

function learn(state: CodexState, { id, parentId, toolUseId, name }: Learned): void {
  let thread = state.threads.get(id);
  if (thread === undefined) {
    thread = createThread(id, parentId, toolUseId);
    state.threads.set(id, thread);
    state.unreported.push(id);
  }
  if (id === state.threadId) return;
  thread.toolUseId ??= toolUseId;
  thread.name ??= name;
}

/** The call that is about to name its new thread. */
function spawningCall(parent: ThreadState): string | undefined {
  const calls = [...parent.open].filter(([, { item }]) => item["tool"] === "spawnAgent");
  return calls.at(-1)?.[0];
}
