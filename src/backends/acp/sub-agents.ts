// Sub-agents. Claude's adapter and demian name in `_meta` the call that started one; demian also tells as `_demian/event`
// when it starts, what it says and how it ends.
import type { JsonObject } from "../../base/json.ts";
import { failureCode } from "../../protocol/failures.ts";
import type { NoticeData } from "../../protocol/notices.ts";
import { countOf, objectOf, optional, stringOf, stringsOf, textOf } from "../values.ts";
import { otherNotification, wordOf } from "./notices.ts";
import { toUsage } from "./results.ts";
import {
  type AcpState,
  demianMeta,
  isDemian,
  notice,
  type Report,
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

/** The call that started the sub-agent of which this frame is; undefined: it is the agent's own. */
export function parentIn(state: AcpState, frame: JsonObject): string | undefined {
  const claude = objectOf(objectOf(frame["_meta"])["claudeCode"]);
  return textOf(claude["parentToolUseId"]) ?? textOf(demianMeta(state, frame)["parentToolCallId"]);
}

/** Names of sub-agents, each below the one before. It stands in every list of requests, so no agent may make it long. */
export function pathOf(value: unknown): string[] {
  return stringsOf(value)
    .slice(0, MAX_DEPTH)
    .map((name) => (name.length <= MAX_NAME_CHARS ? name : `${name.slice(0, MAX_NAME_CHARS - 1)}…`));
}

/** Our own runtime tells what it does, and ACP has no word for it. */
export function demianEvent(state: AcpState, method: string, params: JsonObject): Report[] {
  if (!isDemian(state)) return otherNotification(state, method, params);
  const { sessionId: _session, ...told } = params;
  const event = objectOf(params["event"] ?? told);
  const type = stringOf(event["type"]) ?? "event";
  const parent = textOf(params["parentToolCallId"]);
  const call = textOf(params["toolCallId"]);
  const said = SAID.get(type);
  if (said !== undefined && parent !== undefined && state.turn !== undefined) {
    const { text } = event;
    const chunk = { content: { type: "text", text }, messageId: params["messageId"] };
    return toReports(addChunk(state, said, chunk, parent));
  }
  const isNew = call !== undefined && isTold(state, call) && !state.subAgents.has(call);
  if (type === "agent.invocation.started" && isNew) return started(state, call, event);
  const subtype = ENDED.get(type);
  if (subtype !== undefined && call !== undefined) return ended(state, call, subtype, event);
  const { type: _type, ...data } = event;
  return [toldAs(state, type, { native: data, call, parent })];
}

interface Told {
  native: JsonObject;
  /** The call that it is about. */
  call: string | undefined;
  parent: string | undefined;
}

/** What other agents report too has the same word; the rest goes by the runtime's own name. */
function toldAs(state: AcpState, type: string, { native, call, parent }: Told): Report {
  switch (type) {
    case "provider.retry":
      return notice(state, "model_retry", { level: "warn", data: retryOf(native), parent });
    case "context.compacted":
    case "agent.session.context_compacted":
      return notice(state, "compacted", { data: compactionOf(native), parent });
    case "warning": {
      const text = textOf(native["message"]);
      return notice(state, "agent_notice", { level: "warn", text, data: { native }, parent });
    }
  }
  const verdict = VERDICTS.get(type);
  // A person who was asked is told by the request.
  if (verdict === undefined || ASKED.has(native["by"]))
    return notice(state, `demian_${wordOf(type)}`, { data: native, parent });
  return notice(state, verdict, { data: permissionOf(native, call), parent });
}

function retryOf(native: JsonObject): NoticeData<"model_retry"> {
  const reason = textOf(native["reason"]);
  const status = countOf(native["status"]);
  return {
    code: failureCode({ status, words: reason }),
    ...optional("http_status", status),
    ...optional("attempt", countOf(native["attempt"])),
    ...optional("max_attempts", countOf(native["maxAttempts"])),
    ...optional("retry_after_ms", countOf(native["delayMs"])),
    ...optional("details", reason),
    native,
  };
}

function compactionOf(native: JsonObject): NoticeData<"compacted"> {
  const { manual } = native;
  return {
    ...(typeof manual === "boolean" ? { trigger: manual ? ("manual" as const) : ("auto" as const) } : {}),
    ...optional("before_tokens", countOf(native["beforeTokens"])),
    ...optional("after_tokens", countOf(native["afterTokens"])),
    native,
  };
}

function permissionOf(native: JsonObject, call: string | undefined): NoticeData<"permission_denied"> {
  return {
    ...optional("tool_use_id", call),
    ...optional("tool_name", textOf(native["targetName"])),
    ...optional("by", textOf(native["by"])),
    ...optional("reason", textOf(native["reason"])),
    native,
  };
}

/** The call that started it ends: what works by now has no end of its own. */
export function closeSubAgent(state: AcpState, call: string, reason: string): Report[] {
  return ended(state, call, "interrupted", { reason });
}

function isTold({ tools }: AcpState, call: string): boolean {
  return tools.get(call)?.told !== undefined;
}

function started(state: AcpState, call: string, event: JsonObject): Report[] {
  const [agent = "agent"] = pathOf([textOf(event["targetAgent"])]);
  const path = pathOf(event["agentPath"]);
  const subAgent: SubAgent = {
    path: path.length === 0 ? [agent] : path,
    agent,
    ...optional("provider", textOf(event["provider"])),
    ...optional("model", textOf(event["model"])),
  };
  state.subAgents.set(call, subAgent);
  const tool = state.tools.get(call);
  if (tool !== undefined) tool.hasSubAgent = true;
  const data = {
    tool_use_id: call,
    ...subAgent,
    ...optional("depth", countOf(event["depth"])),
    ...optional("handoff_tokens", countOf(event["handoffTokens"])),
  };
  const text = [subAgent.path.join(" › "), ...where(subAgent)].join(": ");
  return [notice(state, "subagent_started", { text, data, parent: call })];
}

function ended(state: AcpState, call: string, subtype: Subtype, event: JsonObject): Report[] {
  const known = state.subAgents.get(call);
  if (known === undefined) return [];
  state.subAgents.delete(call);
  const usage = objectOf(event["usage"]);
  const reason = textOf(event["reason"]);
  const data = {
    tool_use_id: call,
    ...known,
    subtype,
    ...optional("reason", reason),
    ...optional("num_turns", countOf(event["turns"])),
    ...optional("duration_ms", countOf(event["durationMs"])),
    ...optional("usage", toUsage(usage)),
    ...(typeof usage["costUsd"] === "number" ? { cost_usd: usage["costUsd"] } : {}),
  };
  const text = [`${known.path.join(" › ")}: ${subtype}`, ...(reason === undefined ? [] : [reason])].join(
    ": ",
  );
  const level = subtype === "error" ? "error" : "info";
  return [
    ...toReports(closeText(state, call)),
    notice(state, "subagent_finished", { level, text, data, parent: call }),
  ];
}

function where({ provider, model }: SubAgent): string[] {
  const place = [provider, model].filter((word) => word !== undefined).join("/");
  return place === "" ? [] : [place];
}
