// Everything that an agent says beside its answer: plans, how full its context is, its settings, its own notices, and
// what we do not know. Nothing of it is dropped.
import type { JsonObject } from "../../base/json.ts";
import { failureCode } from "../../protocol/failures.ts";
import type { NoticeData } from "../../protocol/notices.ts";
import { countOf, objectOf, objectsOf, optional, stringOf, textOf } from "../values.ts";
import { introduce } from "./intro.ts";
import { configOf, withMode, withOptions } from "./settings.ts";
import { type AcpState, notice, type Report } from "./state.ts";

const LEVELS: ReadonlyMap<unknown, "warn" | "error"> = new Map([
  ["warning", "warn"],
  ["warn", "warn"],
  ["error", "error"],
  ["critical", "error"],
]);

export function planNotice(state: AcpState, { entries }: JsonObject): Report[] {
  const plan = objectsOf(entries).map(({ content, status, priority }) => ({
    step: stringOf(content) ?? "",
    ...optional("status", textOf(status)),
    ...optional("priority", textOf(priority)),
  }));
  return [notice(state, "plan", { data: { plan } })];
}

/** Told when it says something new: some agents repeat it with every model call. */
export function usageNotice(state: AcpState, update: JsonObject): Report[] {
  const [used, size] = [countOf(update["used"]), countOf(update["size"])];
  const cost = objectOf(update["cost"]);
  const amount = typeof cost["amount"] === "number" ? cost["amount"] : undefined;
  if (size !== undefined && size > 0) state.contextWindow = size;
  if (amount !== undefined && cost["currency"] === "USD") state.costUsd = amount;
  // Without a size nothing is known of the context, and only the cost is told.
  const context = size === 0 ? {} : { ...optional("used_tokens", used), ...optional("context_window", size) };
  const data = {
    ...context,
    ...(amount === undefined ? {} : { session_cost: { amount, currency: stringOf(cost["currency"]) ?? "" } }),
  };
  const seen = JSON.stringify(data);
  if (seen === state.usageSeen) return [];
  state.usageSeen = seen;
  return [notice(state, "context_usage", { data })];
}

/** codex-acp says here, and nowhere else, that a turn which ends normally has failed. */
export function infoNotice(state: AcpState, update: JsonObject): Report[] {
  const { sessionUpdate: _kind, _meta, ...info } = update;
  const { threadStatus, error, ...rest } = objectOf(objectOf(_meta)["codex"]);
  const reports: Report[] = [];
  if (objectOf(threadStatus)["type"] === "systemError" && state.turn !== undefined) {
    state.turn.isFailed = true;
  }
  const words = textOf(objectOf(error)["message"]);
  if (words !== undefined) {
    const isRetry = objectOf(error)["willRetry"] === true;
    if (state.turn !== undefined && !isRetry) state.turn.failure = words;
    const text = [words, textOf(objectOf(error)["additionalDetails"])].filter(Boolean).join(": ");
    reports.push(
      notice(state, isRetry ? "model_retry" : "error_reported", {
        level: "warn",
        text,
        data: faultOf(error),
      }),
    );
  }
  const { title, updatedAt, ...others } = Object.fromEntries(
    Object.entries({ ...info, ...(Object.keys(rest).length > 0 ? { codex: rest } : {}) }).filter(
      ([, value]) => value !== null,
    ),
  );
  const data = {
    ...optional("title", textOf(title)),
    ...optional("updated_at", textOf(updatedAt)),
    ...(Object.keys(others).length > 0 ? { native: others } : {}),
  };
  return Object.keys(data).length === 0 ? reports : [...reports, notice(state, "session_info", { data })];
}

function faultOf(error: unknown): NoticeData<"error_reported"> {
  const native = objectOf(error);
  const [name, info] = Object.entries(objectOf(native["codexErrorInfo"]))[0] ?? [native["codexErrorInfo"]];
  const status = countOf(objectOf(info)["httpStatusCode"]);
  const details = textOf(native["additionalDetails"]);
  const words = [textOf(native["message"]), details].join(" ");
  return {
    code: failureCode({ names: [name], status, words }),
    ...optional("native_code", textOf(name)),
    ...optional("http_status", status),
    ...optional("details", details),
    native,
  };
}

export function commandsNotice(state: AcpState, { availableCommands }: JsonObject): Report[] {
  return [notice(state, "available_commands", { data: { commands: objectsOf(availableCommands) } })];
}

export function configNotice(state: AcpState, { configOptions }: JsonObject): Report[] {
  state.settings = withOptions(state.settings, configOptions);
  const config = configOf(state.settings);
  return [notice(state, "config_options", { data: { config } }), ...introduce(state)];
}

export function modeNotice(state: AcpState, { currentModeId }: JsonObject): Report[] {
  const mode = textOf(currentModeId);
  if (mode === undefined) return [];
  state.settings = withMode(state.settings, mode);
  return [notice(state, "mode", { data: { mode } }), ...introduce(state)];
}

export function agentNotice(state: AcpState, update: JsonObject): Report[] {
  const { severity, title, description } = update;
  const text = [textOf(title), textOf(description)].filter(Boolean).join(": ");
  const { sessionUpdate: _kind, ...native } = update;
  return [notice(state, "agent_notice", { level: LEVELS.get(severity) ?? "info", text, data: { native } })];
}

/** A kind of update that we do not know. */
export function unknownUpdate(state: AcpState, kind: string, update: JsonObject): Report[] {
  const { sessionUpdate: _kind, ...data } = update;
  return [notice(state, `acp_update_${wordOf(kind)}`, { data })];
}

/** A notification that is no update. */
export function otherNotification(state: AcpState, method: string, params: JsonObject): Report[] {
  const { sessionId: _session, ...data } = params;
  if (method === "_demian/notice") {
    const { severity, message } = params;
    const level = LEVELS.get(severity) ?? "info";
    return [notice(state, "agent_notice", { level, text: stringOf(message), data: { native: data } })];
  }
  return [notice(state, `acp_notif_${wordOf(method)}`, { data })];
}

/** A name as a part of a category. */
export function wordOf(name: string): string {
  return name.replace(/^[^A-Za-z0-9]+/, "").replace(/[^A-Za-z0-9]+/g, "_");
}
