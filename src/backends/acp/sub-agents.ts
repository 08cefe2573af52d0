// Sub-agents. Claude's adapter and demian name the starting call in `_meta`; demian also reports start, output and end
// as `_demian/event`.

import type { JsonObject } from "../../base/json.ts";
import { asCount, asObject, asString, asStrings, asText, defined } from "../../base/values.ts";
import { toFailureCode } from "../../protocol/failures.ts";
import type { NoticeData } from "../../protocol/notices.ts";
import { toCategory, toOtherNotice } from "./notices.ts";
import { toUsage } from "./results.ts";
import {
  type AcpReport,
  type AcpState,
  isDemian,
  readDemianMeta,
  reportNotice,
  type SubAgent,
  toReports,
} from "./state.ts";
import { addChunk, closeText } from "./texts.ts";

type Subtype = "success" | "error" | "interrupted";

const SAID: ReadonlyMap<string, "text" | "thinking"> = new Map([
  ["model.text.delta", "text"],
  ["model.text", "text"],
  ["model.reasoning.delta", "thinking"],
]);
const ENDED: ReadonlyMap<string, Subtype> = new Map([
  ["agent.invocation.completed", "success"],
  ["agent.invocation.failed", "error"],
  ["agent.invocation.cancelled", "interrupted"],
]);

const VERDICTS: ReadonlyMap<string, "permission_granted" | "permission_denied"> = new Map([
  ["permission.granted", "permission_granted"],
  ["permission.denied", "permission_denied"],
]);
const ASKED: ReadonlySet<unknown> = new Set(["user", "abort"]);

const MAX_DEPTH = 32;
const MAX_NAME_CHARS = 200;

/** The call that started the sub-agent of this frame; undefined for the agent's own frames. */
export function findParent(state: AcpState, frame: JsonObject): string | undefined {
  const claude = asObject(asObject(frame["_meta"])["claudeCode"]);
  return asText(claude["parentToolUseId"]) ?? asText(readDemianMeta(state, frame)["parentToolCallId"]);
}

/** Names of nested sub-agents. Part of every request list, so its length is limited. */
export function readPath(value: unknown): string[] {
  return asStrings(value)
    .slice(0, MAX_DEPTH)
    .map((name) => (name.length <= MAX_NAME_CHARS ? name : `${name.slice(0, MAX_NAME_CHARS - 1)}…`));
}

/** Events of our own runtime that ACP cannot express. */
export function translateDemianEvent(state: AcpState, method: string, params: JsonObject): AcpReport[] {
  if (!isDemian(state)) return toOtherNotice(state, method, params);
  const { sessionId: _session, ...reported } = params;
  const event = asObject(params["event"] ?? reported);
  const type = asString(event["type"]) ?? "event";
  const parent = asText(params["parentToolCallId"]);
  const call = asText(params["toolCallId"]);
  const said = SAID.get(type);
  if (said !== undefined && parent !== undefined && state.turn !== undefined) {
    const { text } = event;
    const chunk = { content: { type: "text", text }, messageId: params["messageId"] };
    return toReports(addChunk(state, said, chunk, parent));
  }
  const isNew = call !== undefined && isReported(state, call) && !state.subAgents.has(call);
  if (type === "agent.invocation.started" && isNew) return onStart(state, call, event);
  const subtype = ENDED.get(type);
  if (subtype !== undefined && call !== undefined) return onEnd(state, call, subtype, event);
  const { type: _type, ...data } = event;
  return [toReport(state, type, { native: data, call, parent })];
}

interface Reported {
  native: JsonObject;
  /** The call it is about. */
  call: string | undefined;
  parent: string | undefined;
}

/** Uses the same names as other agents where they exist, else the runtime's own. */
function toReport(state: AcpState, type: string, { native, call, parent }: Reported): AcpReport {
  switch (type) {
    case "provider.retry":
      return reportNotice(state, "model_retry", { level: "warn", data: toRetry(native), parent });
    case "context.compacted":
    case "agent.session.context_compacted":
      return reportNotice(state, "compacted", { data: toCompaction(native), parent });
    case "warning": {
      const text = asText(native["message"]);
      return reportNotice(state, "agent_notice", { level: "warn", text, data: { native }, parent });
    }
  }
  const verdict = VERDICTS.get(type);
  // Answers of users are reported by the request.
  if (verdict === undefined || ASKED.has(native["by"]))
    return reportNotice(state, `demian_${toCategory(type)}`, { data: native, parent });
  return reportNotice(state, verdict, { data: toPermission(native, call), parent });
}

function toRetry(native: JsonObject): NoticeData<"model_retry"> {
  const reason = asText(native["reason"]);
  const status = asCount(native["status"]);
  return {
    code: toFailureCode({ status, words: reason }),
    ...defined({
      http_status: status,
      attempt: asCount(native["attempt"]),
      max_attempts: asCount(native["maxAttempts"]),
      retry_after_ms: asCount(native["delayMs"]),
      details: reason,
    }),
    native,
  };
}

function toCompaction(native: JsonObject): NoticeData<"compacted"> {
  const { manual } = native;
  return {
    ...(typeof manual === "boolean" ? { trigger: manual ? ("manual" as const) : ("auto" as const) } : {}),
    ...defined({
      before_tokens: asCount(native["beforeTokens"]),
      after_tokens: asCount(native["afterTokens"]),
    }),
    native,
  };
}

function toPermission(native: JsonObject, call: string | undefined): NoticeData<"permission_denied"> {
  return {
    ...defined({
      tool_use_id: call,
      tool_name: asText(native["targetName"]),
      by: asText(native["by"]),
      reason: asText(native["reason"]),
    }),
    native,
  };
}

/** The starting call ends: sub-agents still running have no end of their own. */
export function closeSubAgent(state: AcpState, call: string, reason: string): AcpReport[] {
  return onEnd(state, call, "interrupted", { reason });
}

function isReported({ tools }: AcpState, call: string): boolean {
  return tools.get(call)?.reported !== undefined;
}

function onStart(state: AcpState, call: string, event: JsonObject): AcpReport[] {
  const [agent = "agent"] = readPath([asText(event["targetAgent"])]);
  const path = readPath(event["agentPath"]);
  const subAgent: SubAgent = {
    path: path.length === 0 ? [agent] : path,
    agent,
    ...defined({ provider: asText(event["provider"]), model: asText(event["model"]) }),
  };
  state.subAgents.set(call, subAgent);
  const tool = state.tools.get(call);
  if (tool !== undefined) tool.hasSubAgent = true;
  const data = {
    tool_use_id: call,
    ...subAgent,
    ...defined({ depth: asCount(event["depth"]), handoff_tokens: asCount(event["handoffTokens"]) }),
  };
  const text = [subAgent.path.join(" › "), ...where(subAgent)].join(": ");
  return [reportNotice(state, "subagent_started", { text, data, parent: call })];
}

function onEnd(state: AcpState, call: string, subtype: Subtype, event: JsonObject): AcpReport[] {
  const known = state.subAgents.get(call);
  if (known === undefined) return [];
  state.subAgents.delete(call);
  const usage = asObject(event["usage"]);
  const reason = asText(event["reason"]);
  const data = {
    tool_use_id: call,
    ...known,
    subtype,
    ...defined({
      reason,
      num_turns: asCount(event["turns"]),
      duration_ms: asCount(event["durationMs"]),
      usage: toUsage(usage),
    }),
    ...(typeof usage["costUsd"] === "number" ? { cost_usd: usage["costUsd"] } : {}),
  };
  const text = [`${known.path.join(" › ")}: ${subtype}`, ...(reason === undefined ? [] : [reason])].join(
    ": ",
  );
  const level = subtype === "error" ? "error" : "info";
  return [
    ...toReports(closeText(state, call)),
    reportNotice(state, "subagent_finished", { level, text, data, parent: call }),
  ];
}

function where({ provider, model }: SubAgent): string[] {
  const place = [provider, model].filter((word) => word !== undefined).join("/");
  return place === "" ? [] : [place];
}
