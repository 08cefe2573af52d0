// What the model calls of a turn have used so far. Assistant frames have the input of their call but not its output, which
// `message_delta` has, if partial messages are on. Calls of sub-agents are only in the cost of the result.
import { isObject, type JsonObject } from "../../base/json.ts";
import { asCount, asObject, asString } from "../../base/values.ts";
import { USAGE_KEYS, type Usage } from "../../protocol/usage.ts";
import type { ClaudeReport, ClaudeState } from "./state.ts";

export function noteUsage(state: ClaudeState, frame: JsonObject): ClaudeReport[] {
  if (typeof frame["parent_tool_use_id"] === "string") return [];
  const event = asObject(frame["event"]);
  const message = frame["type"] === "assistant" ? frame["message"] : event["message"];
  const counts = isObject(message) ? message["usage"] : event["usage"];
  if (!isObject(counts)) return [];
  const { calls } = state;
  const id = (isObject(message) ? asString(message["id"]) : undefined) ?? calls?.id ?? "";
  const usage = readCounts(counts);
  const isSame = calls?.id === id;
  const before =
    calls === undefined || isSame ? (calls?.before ?? {}) : combine(calls.before, calls.last, sum);
  const last = isSame ? combine(calls.last, usage, Math.max) : usage;
  state.calls = { before, id, last };
  const total = combine(before, last, sum);
  const isNew = calls === undefined || !isEqual(total, combine(calls.before, calls.last, sum));
  return isNew ? [{ kind: "used", usage: total }] : [];
}

function readCounts(counts: JsonObject): Usage {
  const known = USAGE_KEYS.map((key) => [key, asCount(counts[key])] as const);
  return Object.fromEntries(known.filter(([, count]) => count !== undefined)) as Usage;
}

function combine(one: Usage, other: Usage, join: (a: number, b: number) => number): Usage {
  const keys = USAGE_KEYS.filter((key) => one[key] !== undefined || other[key] !== undefined);
  return Object.fromEntries(keys.map((key) => [key, join(one[key] ?? 0, other[key] ?? 0)])) as Usage;
}

function isEqual(one: Usage, other: Usage): boolean {
  return USAGE_KEYS.every((key) => (one[key] ?? 0) === (other[key] ?? 0));
}

function sum(one: number, other: number): number {
  return one + other;
}
