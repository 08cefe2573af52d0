// Sub-agents. Claude's adapter and demian name in `_meta` the call that started one; demian also tells as `_demian/event`
// when it starts, what it says and how it ends.
import type { JsonObject } from "../../base/json.ts";
import { countOf, objectOf, optional, stringOf, stringsOf, textOf } from "../values.ts";
import { wordOf } from "./notices.ts";
import { toUsage } from "./results.ts";
import { type AcpState, demianMeta, notice, type Report, type SubAgent, toReports } from "./state.ts";
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

/** The call that started the sub-agent of which this frame is; undefined: it is the agent's own. */
export function parentIn(state: AcpState, frame: JsonObject): string | undefined {
  const claude = objectOf(objectOf(frame["_meta"])["claudeCode"]);
  return textOf(claude["parentToolUseId"]) ?? textOf(demianMeta(state, frame)["parentToolCallId"]);
}

/** Our own runtime tells what it does, and ACP has no word for it. */
export function demianEvent(state: AcpState, params: JsonObject): Report[] {
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
  if (type === "agent.invocation.started" && call !== undefined) return started(state, call, event);
  const subtype = ENDED.get(type);
  if (subtype !== undefined && call !== undefined) return ended(state, call, subtype, event);
  const { type: _type, ...data } = event;
  return [notice(state, `demian_${wordOf(type)}`, { data, parent })];
}

/** The turn is over: what works by now has no end of its own. */
export function closeSubAgent(state: AcpState, call: string, reason: string): Report[] {
  return ended(state, call, "interrupted", { reason });
}

export function closeSubAgents(state: AcpState, reason: string): Report[] {
  return [...state.subAgents.keys()].reverse().flatMap((call) => closeSubAgent(state, call, reason));
}

function started(state: AcpState, call: string, event: JsonObject): Report[] {
  const agent = textOf(event["targetAgent"]) ?? "agent";
  const path = stringsOf(event["agentPath"]);
  const subAgent: SubAgent = {
    path: path.length === 0 ? [agent] : path,
    agent,
    ...optional("provider", textOf(event["provider"])),
    ...optional("model", textOf(event["model"])),
  };
  state.subAgents.set(call, subAgent);
  const data = {
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
