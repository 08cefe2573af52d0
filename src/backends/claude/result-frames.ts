// `result` frames → agent.result. The subtype is "success" even if the API failed, so `is_error` decides.

import { isObject, type JsonObject } from "../../base/json.ts";
import { asCount, asObject, asString, asStrings, defined } from "../../base/values.ts";
import type { AgentEvent, ResultEvent } from "../../protocol/events.ts";
import { toFailureCode } from "../../protocol/failures.ts";
import type { Usage } from "../../protocol/usage.ts";
import type { ClaudeReport, ClaudeState } from "./state.ts";
import { reportAuthFailure } from "./system-frames.ts";

const ABORTED: ReadonlySet<unknown> = new Set(["aborted_streaming", "aborted_tools"]);
const SUBTYPES: ReadonlyMap<unknown, ResultEvent["subtype"]> = new Map([
  ["error_max_turns", "max_turns"],
  ["error_max_budget_usd", "max_budget"],
]);

export function translateResult(state: ClaudeState, frame: JsonObject): ClaudeReport[] {
  const subtype = readSubtype(frame);
  const error = subtype === "error" ? readError(frame) : undefined;
  const event: AgentEvent = {
    type: "agent.result",
    backend: "claude",
    subtype,
    ...defined({
      duration_ms: asCount(frame["duration_ms"]),
      num_turns: asCount(frame["num_turns"]),
      usage: readUsage(frame["usage"]),
      cost_usd: takeCost(state, frame["total_cost_usd"]),
      error,
    }),
  };
  return [...(error?.code === "auth_failed" ? reportAuthFailure(state) : []), { kind: "event", event }];
}

/** The sum of two results of one turn, without the cost: claude adds that up itself. */
export function addSpent(frame: JsonObject, before: JsonObject | undefined): JsonObject {
  const { usage, duration_ms, num_turns } = frame;
  const spent = { usage, duration_ms, num_turns };
  if (before === undefined) return spent;
  return {
    usage: isObject(usage) ? addCounts(usage, before["usage"]) : before["usage"],
    ...addCounts({ duration_ms, num_turns }, before),
  };
}

function addCounts(values: JsonObject, before: unknown): JsonObject {
  const earlier = asObject(before);
  return Object.fromEntries(
    Object.entries(values).map(([key, value]) => {
      const [count, more] = [asCount(value), asCount(earlier[key])];
      return [key, count !== undefined && more !== undefined ? count + more : value];
    }),
  );
}

export function readSubtype(frame: JsonObject): ResultEvent["subtype"] {
  if (ABORTED.has(frame["terminal_reason"])) return "interrupted";
  const named = SUBTYPES.get(frame["subtype"]);
  if (named !== undefined) return named;
  return frame["is_error"] === true || asString(frame["subtype"])?.startsWith("error") ? "error" : "success";
}

function readError(frame: JsonObject): ResultEvent["error"] {
  const listed = asStrings(frame["errors"]).join("; ");
  const subtype = asString(frame["subtype"]);
  const message = asString(frame["result"]) || listed || "claude ended the turn with an error but no message";
  const status = asCount(frame["api_error_status"]);
  return {
    code: toFailureCode({ status, words: message }),
    ...defined({ native_code: subtype === "success" ? undefined : subtype }),
    message,
    ...defined({ api_error_status: status }),
  };
}

function readUsage(usage: unknown): Usage | undefined {
  if (!isObject(usage)) return undefined;
  return Object.fromEntries(
    Object.entries(usage).filter(([, value]) => asCount(value) !== undefined),
  ) as Usage;
}

/** The cost of this turn: claude reports the total of the process. */
function takeCost(state: ClaudeState, total: unknown): number | undefined {
  if (typeof total !== "number" || !Number.isFinite(total)) return undefined;
  const spent = total >= state.costUsd ? total - state.costUsd : total;
  state.costUsd = total;
  // Rounds away float noise; no price has ten digits.
  return Number(spent.toFixed(10));
}
