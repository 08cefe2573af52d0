// One notification of `codex app-server` → reports. Pure: changes only the given state, does no I/O, reads no clock,
// never throws.

import type { JsonObject } from "../../../base/json.ts";
import { asObject, asString } from "../../../base/values.ts";
import { introduce, noteContextWindow, readSettings, readStarted } from "./intro.ts";
import { closeItems, completeItem, continueOutput, continueText, startItem, updatePatch } from "./items.ts";
import { toNotices } from "./notices.ts";
import { withdraw, withdrawTurn } from "./requests.ts";
import { endTurn, startTurn, translateError } from "./results.ts";
import {
  type CodexReport,
  type CodexState,
  type Notification,
  type ThreadState,
  toReports,
} from "./state.ts";
import { learnFromThread } from "./subagents.ts";
import { forgetTotal, noteUsage } from "./usage.ts";

type Translate = (state: CodexState, thread: ThreadState, params: JsonObject) => CodexReport[];

const TRANSLATORS: ReadonlyMap<string, Translate> = new Map<string, Translate>([
  ["turn/started", startTurn],
  ["turn/completed", translateTurnEnd],
  ["error", translateError],
  ["item/started", (state, thread, params) => toReports(startItem(state, thread, params))],
  ["item/completed", (state, thread, params) => toReports(completeItem(state, thread, params))],
  ["item/agentMessage/delta", (_state, thread, params) => toReports(continueText(thread, "text", params))],
  ["item/plan/delta", (_state, thread, params) => toReports(continueText(thread, "text", params))],
  ["item/reasoning/summaryTextDelta", translateThinking],
  ["item/reasoning/textDelta", translateThinking],
  ["item/commandExecution/outputDelta", (_state, _thread, params) => toReports(continueOutput(params))],
  ["item/fileChange/outputDelta", (_state, _thread, params) => toReports(continueOutput(params))],
  ["item/fileChange/patchUpdated", (_state, thread, params) => toReports(updatePatch(thread, params))],
  ["thread/tokenUsage/updated", translateUsage],
  ["thread/settings/updated", translateSettings],
  ["thread/reverted", translateReverted],
  ["thread/started", translateThreadStarted],
  ["thread/closed", translateThreadEnd],
  ["thread/archived", translateThreadEnd],
  ["thread/deleted", translateThreadEnd],
  ["serverRequest/resolved", (state, _thread, params) => withdraw(state, params["requestId"])],
]);

/** Of the root thread, of one of its sub-agents, or of no thread. Anything else is not ours and is ignored. */
export function translate(state: CodexState, message: Notification): CodexReport[] {
  const params = asObject(message.params);
  const threadId = asString(params["threadId"]) ?? state.threadId;
  const thread = state.threads.get(threadId);
  if (thread === undefined) return [];
  const translator = TRANSLATORS.get(message.method);
  const own = translator?.(state, thread, params) ?? toReports(toNotices(state, thread, message));
  return [
    ...progress(state, message.method),
    ...own.map((report) => complete(state, thread, report, message)),
  ];
}

/** The result of thread/start or thread/resume. */
export function onStarted(state: CodexState, result: unknown): CodexReport[] {
  return introduce(state, readStarted(state, result)).map((report) => withRaw(state, report, result));
}

/** The agent is gone or was stopped: every call gets a result. */
export function closeOpenItems(state: CodexState): CodexReport[] {
  return [...state.threads.values()].flatMap((thread) =>
    toReports(closeItems(thread)).map((report) => withParent(thread, report)),
  );
}

/** The result is the last event of a turn. */
function translateTurnEnd(state: CodexState, thread: ThreadState, params: JsonObject): CodexReport[] {
  const turnId = asString(asObject(params["turn"])["id"]) ?? thread.turnId ?? "";
  return [...withdrawTurn(state, turnId), ...endTurn(state, thread, params)];
}

function translateThinking(_state: CodexState, thread: ThreadState, params: JsonObject): CodexReport[] {
  return toReports(continueText(thread, "thinking", params));
}

function translateUsage(state: CodexState, thread: ThreadState, params: JsonObject): CodexReport[] {
  noteUsage(thread, params["tokenUsage"]);
  if (thread.id !== state.threadId) return [];
  noteContextWindow(state, params["tokenUsage"]);
  const { spent, turnId } = thread;
  return turnId === undefined || spent === undefined ? [] : [{ kind: "used", usage: spent }];
}

function translateSettings(state: CodexState, thread: ThreadState, params: JsonObject): CodexReport[] {
  return thread.id === state.threadId ? introduce(state, readSettings(params)) : [];
}

function translateReverted(state: CodexState, thread: ThreadState, params: JsonObject): CodexReport[] {
  forgetTotal(thread);
  return toReports(toNotices(state, thread, { method: "thread/reverted", params }));
}

function translateThreadStarted(state: CodexState, _thread: ThreadState, params: JsonObject): CodexReport[] {
  learnFromThread(state, asObject(params["thread"]));
  return [];
}

function translateThreadEnd(state: CodexState, thread: ThreadState): CodexReport[] {
  return thread.id === state.threadId ? [{ kind: "thread_closed" }] : [];
}

/** Once after a retry, so that the run can stop its timer. */
function progress(state: CodexState, method: string): CodexReport[] {
  if (!state.isRetrying || !method.startsWith("item/")) return [];
  state.isRetrying = false;
  return [{ kind: "progress" }];
}

function complete(
  state: CodexState,
  thread: ThreadState,
  report: CodexReport,
  message: Notification,
): CodexReport {
  return withRaw(state, withParent(thread, report), message);
}

/** Set on everything a sub-agent does. */
function withParent(thread: ThreadState, report: CodexReport): CodexReport {
  const parent = thread.toolUseId;
  if (parent === undefined || report.kind !== "event") return report;
  return { kind: "event", event: { ...report.event, parent_tool_use_id: parent } };
}

function withRaw(state: CodexState, report: CodexReport, raw: unknown): CodexReport {
  if (state.options.include_raw_events !== true || report.kind !== "event") return report;
  return { kind: "event", event: { ...report.event, raw } };
}
