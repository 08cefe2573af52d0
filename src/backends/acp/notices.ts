// Everything an agent sends besides its answer: plans, context usage, settings, notices, and unknown updates. Nothing
// is dropped.

import type { JsonObject } from "../../base/json.ts";
import { asCount, asObject, asObjects, asString, asText, defined } from "../../base/values.ts";
import { toFailureCode } from "../../protocol/failures.ts";
import type { NoticeData } from "../../protocol/notices.ts";
import { introduce } from "./intro.ts";
import { readConfig, withMode, withOptions } from "./settings.ts";
import { type AcpReport, type AcpState, reportNotice } from "./state.ts";

const LEVELS: ReadonlyMap<unknown, "warn" | "error"> = new Map([
  ["warning", "warn"],
  ["warn", "warn"],
  ["error", "error"],
  ["critical", "error"],
]);

export function toPlanNotice(state: AcpState, { entries }: JsonObject): AcpReport[] {
  const plan = asObjects(entries).map(({ content, status, priority }) => ({
    step: asString(content) ?? "",
    ...defined({ status: asText(status), priority: asText(priority) }),
  }));
  return [reportNotice(state, "plan", { data: { plan } })];
}

/** Emitted only when it changes: some agents repeat it with every model call. */
export function toUsageNotice(state: AcpState, update: JsonObject): AcpReport[] {
  const [used, size] = [asCount(update["used"]), asCount(update["size"])];
  const cost = asObject(update["cost"]);
  const amount = typeof cost["amount"] === "number" ? cost["amount"] : undefined;
  if (size !== undefined && size > 0) state.contextWindow = size;
  if (amount !== undefined && cost["currency"] === "USD") state.costUsd = amount;
  // Without a size the context is unknown, and only the cost is reported.
  const context = size === 0 ? {} : defined({ used_tokens: used, context_window: size });
  const data = {
    ...context,
    ...(amount === undefined ? {} : { session_cost: { amount, currency: asString(cost["currency"]) ?? "" } }),
  };
  const seen = JSON.stringify(data);
  if (seen === state.usageSeen) return [];
  state.usageSeen = seen;
  return [...reportUse(state), reportNotice(state, "context_usage", { data })];
}

/** The turn's part of the session's cost so far. */
function reportUse({ turn, costUsd, costBefore }: AcpState): AcpReport[] {
  if (turn === undefined || costUsd === undefined || costBefore === undefined) return [];
  return costUsd <= costBefore ? [] : [{ kind: "used", cost_usd: Number((costUsd - costBefore).toFixed(9)) }];
}

/** Only here does codex-acp report that a turn that ends normally has failed. */
export function toInfoNotice(state: AcpState, update: JsonObject): AcpReport[] {
  const { sessionUpdate: _kind, _meta, ...info } = update;
  const { threadStatus, error, ...rest } = asObject(asObject(_meta)["codex"]);
  const reports: AcpReport[] = [];
  if (asObject(threadStatus)["type"] === "systemError" && state.turn !== undefined) {
    state.turn.isFailed = true;
  }
  const words = asText(asObject(error)["message"]);
  if (words !== undefined) {
    const isRetry = asObject(error)["willRetry"] === true;
    if (state.turn !== undefined && !isRetry) state.turn.failure = words;
    const text = [words, asText(asObject(error)["additionalDetails"])].filter(Boolean).join(": ");
    reports.push(
      reportNotice(state, isRetry ? "model_retry" : "error_reported", {
        level: "warn",
        text,
        data: toReportedError(error),
      }),
    );
  }
  const { title, updatedAt, ...others } = Object.fromEntries(
    Object.entries({ ...info, ...(Object.keys(rest).length > 0 ? { codex: rest } : {}) }).filter(
      ([, value]) => value !== null,
    ),
  );
  const data = {
    ...defined({ title: asText(title), updated_at: asText(updatedAt) }),
    ...(Object.keys(others).length > 0 ? { native: others } : {}),
  };
  return Object.keys(data).length === 0
    ? reports
    : [...reports, reportNotice(state, "session_info", { data })];
}

function toReportedError(error: unknown): NoticeData<"error_reported"> {
  const native = asObject(error);
  const [name, info] = Object.entries(asObject(native["codexErrorInfo"]))[0] ?? [native["codexErrorInfo"]];
  const status = asCount(asObject(info)["httpStatusCode"]);
  const details = asText(native["additionalDetails"]);
  const words = [asText(native["message"]), details].join(" ");
  return {
    code: toFailureCode({ names: [name], status, words }),
    ...defined({ native_code: asText(name), http_status: status, details }),
    native,
  };
}

export function toCommandsNotice(state: AcpState, { availableCommands }: JsonObject): AcpReport[] {
  state.commands = asObjects(availableCommands);
  return [reportNotice(state, "available_commands", { data: { commands: asObjects(availableCommands) } })];
}

export function toConfigNotice(state: AcpState, { configOptions }: JsonObject): AcpReport[] {
  state.settings = withOptions(state.settings, configOptions);
  const config = readConfig(state.settings);
  return [reportNotice(state, "config_options", { data: { config } }), ...introduce(state)];
}

export function toModeNotice(state: AcpState, { currentModeId }: JsonObject): AcpReport[] {
  const mode = asText(currentModeId);
  if (mode === undefined) return [];
  state.settings = withMode(state.settings, mode);
  return [reportNotice(state, "mode", { data: { mode } }), ...introduce(state)];
}

export function toAgentNotice(state: AcpState, update: JsonObject): AcpReport[] {
  const { severity, title, description } = update;
  const text = [asText(title), asText(description)].filter(Boolean).join(": ");
  const { sessionUpdate: _kind, ...native } = update;
  return [
    reportNotice(state, "agent_notice", { level: LEVELS.get(severity) ?? "info", text, data: { native } }),
  ];
}

/** An unknown kind of update. */
export function toUnknownNotice(state: AcpState, kind: string, update: JsonObject): AcpReport[] {
  const { sessionUpdate: _kind, ...data } = update;
  return [reportNotice(state, `acp_update_${toCategory(kind)}`, { data })];
}

/** A notification that is not an update. */
export function toOtherNotice(state: AcpState, method: string, params: JsonObject): AcpReport[] {
  const { sessionId: _session, ...data } = params;
  if (method === "_demian/notice") {
    const { severity, message } = params;
    const level = LEVELS.get(severity) ?? "info";
    return [reportNotice(state, "agent_notice", { level, text: asString(message), data: { native: data } })];
  }
  return [reportNotice(state, `acp_notif_${toCategory(method)}`, { data })];
}

/** A name as a part of a category. */
export function toCategory(name: string): string {
  return name.replace(/^[^A-Za-z0-9]+/, "").replace(/[^A-Za-z0-9]+/g, "_");
}
