// One notification of `codex app-server` → reports. Pure: changes only the state it is given, does no I/O, reads no
// clock, throws on nothing.
import type { JsonObject } from "../../../base/json.ts";
import { objectOf, stringOf } from "../../values.ts";
import { introduce, noteContextWindow, readSettings, readStarted } from "./intro.ts";
import { closeItems, completeItem, continueOutput, continueText, startItem, updatePatch } from "./items.ts";
import { toNotices } from "./notices.ts";
import { withdraw, withdrawTurn } from "./requests.ts";
import { endTurn, startTurn, translateError } from "./results.ts";
import { type CodexState, type Notification, type Report, type ThreadState, toReports } from "./state.ts";
import { learnFromThread } from "./subagents.ts";
import { forgetTotal, noteUsage } from "./usage.ts";

type Translate = (state: CodexState, thread: ThreadState, params: JsonObject) => Report[];

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

/** Of the root thread, of one of its sub-agents, or of no thread. Anything else is not ours and gives nothing. */
export function translate(state: CodexState, message: Notification): Report[] {
  const params = objectOf(message.params);
  const threadId = stringOf(params["threadId"]) ?? state.threadId;
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
export function started(state: CodexState, result: unknown): Report[] {
  return introduce(state, readStarted(state, result)).map((report) => withRaw(state, report, result));
}

/** The agent is gone or was stopped: no call stays without a result. */
export function closeOpenItems(state: CodexState): Report[] {
  return [...state.threads.values()].flatMap((thread) =>
    toReports(closeItems(thread)).map((report) => withParent(thread, report)),
  );
}

/** The result is the last word of a turn. */
function translateTurnEnd(state: CodexState, thread: ThreadState, params: JsonObject): Report[] {
  const turnId = stringOf(objectOf(params["turn"])["id"]) ?? thread.turnId ?? "";
  return [...withdrawTurn(state, turnId), ...endTurn(state, thread, params)];
}

function translateThinking(_state: CodexState, thread: ThreadState, params: JsonObject): Report[] {
  return toReports(continueText(thread, "thinking", params));
}

function translateUsage(state: CodexState, thread: ThreadState, params: JsonObject): Report[] {
  noteUsage(thread, params["tokenUsage"]);
  if (thread.id === state.threadId) noteContextWindow(state, params["tokenUsage"]);
  return [];
}

function translateSettings(state: CodexState, thread: ThreadState, params: JsonObject): Report[] {
  return thread.id === state.threadId ? introduce(state, readSettings(params)) : [];
}

function translateReverted(state: CodexState, thread: ThreadState, params: JsonObject): Report[] {
  forgetTotal(thread);
  return toReports(toNotices(state, thread, { method: "thread/reverted", params }));
}

function translateThreadStarted(state: CodexState, _thread: ThreadState, params: JsonObject): Report[] {
  learnFromThread(state, objectOf(params["thread"]));
  return [];
}

function translateThreadEnd(state: CodexState, thread: ThreadState): Report[] {
  return thread.id === state.threadId ? [{ kind: "thread_closed" }] : [];
}

/** Once after a retry, so that the run can stop its clock. */
function progress(state: CodexState, method: string): Report[] {
  if (!state.isRetrying || !method.startsWith("item/")) return [];
  state.isRetrying = false;
  return [{ kind: "progress" }];
}

function complete(state: CodexState, thread: ThreadState, report: Report, message: Notification): Report {
  return withRaw(state, withParent(thread, report), message);
}

/** Set on everything that a sub-agent does. */
function withParent(thread: ThreadState, report: Report): Report {
  const parent = thread.toolUseId;
  if (parent === undefined || report.kind !== "event") return report;
  return { kind: "event", event: { ...report.event, parent_tool_use_id: parent } };
}

function withRaw(state: CodexState, report: Report, raw: unknown): Report {
  if (state.options.include_raw_events !== true || report.kind !== "event") return report;
  return { kind: "event", event: { ...report.event, raw } };
}
