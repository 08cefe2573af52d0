// `result` frames → agent.result. Claude says subtype "success" even when the API failed: is_error decides.
import { isObject, type JsonObject } from "../../base/json.ts";
import type { AgentEvent, ResultEvent } from "../../protocol/events.ts";
import { failureCode } from "../../protocol/failures.ts";
import type { Usage } from "../../protocol/usage.ts";
import { type ClaudeState, countOf, optional, type Report, stringOf } from "./state.ts";
import { authFailed } from "./system-frames.ts";

const ABORTED: ReadonlySet<unknown> = new Set(["aborted_streaming", "aborted_tools"]);
const SUBTYPES: ReadonlyMap<unknown, ResultEvent["subtype"]> = new Map([
  ["error_max_turns", "max_turns"],
  ["error_max_budget_usd", "max_budget"],
]);

export function translateResult(state: ClaudeState, frame: JsonObject): Report[] {
  const subtype = subtypeOf(frame);
  const error = subtype === "error" ? errorOf(frame) : undefined;
  const event: AgentEvent = {
    type: "agent.result",
    backend: "claude",
    subtype,
    ...optional("duration_ms", countOf(frame["duration_ms"])),
    ...optional("num_turns", countOf(frame["num_turns"])),
    ...optional("usage", usageOf(frame["usage"])),
    ...optional("cost_usd", spend(state, frame["total_cost_usd"])),
    ...optional("error", error),
  };
  return [...(error?.code === "auth_failed" ? authFailed(state) : []), { kind: "event", event }];
}

/** What two results of one turn report together. Cost is not among it: claude counts that up by itself. */
export function addSpent(frame: JsonObject, before: JsonObject | undefined): JsonObject {
  const { usage, duration_ms, num_turns } = frame;
  const spent = { usage, duration_ms, num_turns };
  if (before === undefined) return spent;
  return {
    usage: isObject(usage) ? sums(usage, before["usage"]) : before["usage"],
    ...sums({ duration_ms, num_turns }, before),
  };
}

function sums(values: JsonObject, before: unknown): JsonObject {
  const earlier = isObject(before) ? before : {};
  return Object.fromEntries(
    Object.entries(values).map(([key, value]) => {
      const [count, more] = [countOf(value), countOf(earlier[key])];
      return [key, count !== undefined && more !== undefined ? count + more : value];
    }),
  );
}

export function subtypeOf(frame: JsonObject): ResultEvent["subtype"] {
  if (ABORTED.has(frame["terminal_reason"])) return "interrupted";
  const named = SUBTYPES.get(frame["subtype"]);
  if (named !== undefined) return named;
  return frame["is_error"] === true || stringOf(frame["subtype"])?.startsWith("error") ? "error" : "success";
}

function errorOf(frame: JsonObject): ResultEvent["error"] {
  const errors: unknown = frame["errors"];
  const listed = Array.isArray(errors) ? errors.filter((item) => typeof item === "string").join("; ") : "";
  const subtype = stringOf(frame["subtype"]);
  const message = stringOf(frame["result"]) || listed || "claude ended the turn with an error and no text";
  const status = countOf(frame["api_error_status"]);
  return {
    code: failureCode({ status, words: message }),
    ...optional("native_code", subtype === "success" ? undefined : subtype),
    message,
    ...optional("api_error_status", status),
  };
}

function usageOf(usage: unknown): Usage | undefined {
  if (!isObject(usage)) return undefined;
  return Object.fromEntries(
    Object.entries(usage).filter(([, value]) => countOf(value) !== undefined),
  ) as Usage;
}

/** What this turn cost: claude counts up for as long as the process lives. */
function spend(state: ClaudeState, total: unknown): number | undefined {
  if (typeof total !== "number" || !Number.isFinite(total)) return undefined;
  const spent = total >= state.costUsd ? total - state.costUsd : total;
  state.costUsd = total;
  // Differences of floats: ten digits are more than a price has.
  return Number(spent.toFixed(10));
}
