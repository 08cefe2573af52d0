// The response to session/prompt → `agent.result`. It is not trusted alone: what we did (cancel, decline) and failures
// the agent reported earlier count too.

import { isObject, type JsonObject, tryParseJson } from "../../base/json.ts";
import type { RpcErrorBody } from "../../base/jsonrpc.ts";
import { asCount, asObject, asObjects, asText, defined } from "../../base/values.ts";
import type { ResultEvent } from "../../protocol/events.ts";
import { parseRetryAfterMs, toFailureCode } from "../../protocol/failures.ts";
import type { Usage } from "../../protocol/usage.ts";
import {
  type AcpReport,
  type AcpState,
  isDemian,
  readDemianMeta,
  reportNotice,
  type TurnState,
} from "./state.ts";

export type Answer = { result: unknown } | { error: RpcErrorBody };
type Failure = NonNullable<ResultEvent["error"]>;

const AUTH_REQUIRED = -32000;
/** The turn has an answer, but not the wanted one. */
const CUT_SHORT: ReadonlyMap<string, string> = new Map([
  ["max_tokens", "the answer was cut off at the model's token limit"],
  ["refusal", "the model refused to continue"],
]);
const KNOWN: ReadonlySet<string> = new Set(["end_turn", "cancelled", "max_turn_requests"]);

/** The events before the result, and the result itself. */
export function judge(
  state: AcpState,
  turn: TurnState,
  answer: Answer,
): { before: AcpReport[]; result: ResultEvent } {
  const base = { type: "agent.result", backend: state.backend } as const;
  if ("error" in answer) {
    const error = toFailure(answer.error);
    const spent = isDemian(state) ? asObject(answer.error.data) : {};
    const rest = { ...defined({ usage: readUsage(spent) }), ...computeCost(state, spent["costUsd"]) };
    if (turn.isCancelled) return { before: [], result: { ...base, subtype: "interrupted", ...rest, error } };
    return { before: authReports(error), result: { ...base, subtype: "error", ...rest, error } };
  }
  const reported = asObject(answer.result);
  const rest = {
    ...defined({ usage: readUsage(reported) }),
    ...computeCost(state, readDemianMeta(state, reported)["costUsd"]),
  };
  if (turn.isCancelled) return { before: [], result: { ...base, subtype: "interrupted", ...rest } };
  const failure = findFailure(turn, reported);
  if (failure !== undefined) {
    return { before: authReports(failure), result: { ...base, subtype: "error", ...rest, error: failure } };
  }
  const reason = asText(reported["stopReason"]);
  if (reason === undefined) {
    const error = { code: "agent_error", message: "the agent ended the turn without a reason" };
    return { before: [], result: { ...base, subtype: "error", ...rest, error } };
  }
  return { before: remarks(state, turn, reason), result: { ...base, subtype: toSubtype(reason), ...rest } };
}

function toSubtype(reason: string): ResultEvent["subtype"] {
  if (reason === "cancelled") return "interrupted";
  return reason === "max_turn_requests" ? "max_turns" : "success";
}

/** Why a turn ended in a way its subtype does not show. */
function remarks(state: AcpState, turn: TurnState, reason: string): AcpReport[] {
  const data = { stop_reason: reason };
  const tell = (text: string) => [reportNotice(state, "stop_reason", { level: "warn", text, data })];
  if (reason === "cancelled" && turn.isDeclined) {
    return tell("the agent ended the turn because its request was declined");
  }
  const cut = CUT_SHORT.get(reason);
  if (cut !== undefined) return tell(cut);
  return KNOWN.has(reason) ? [] : tell(`the agent ended the turn with "${reason}"`);
}

/** codex-acp ends a failed turn with `end_turn` and the error as its last message. */
function findFailure(turn: TurnState, reported: JsonObject): Failure | undefined {
  const air = asObject(asObject(asObject(reported["_meta"])["jetbrains"])["air"])["sessionFailure"];
  const title = asText(asObject(air)["title"]);
  const category = asObject(air)["category"];
  if (title !== undefined) return makeFailure([category], title);
  if (!turn.isFailed || reported["stopReason"] === "cancelled") return undefined;
  return makeFailure(
    [],
    turn.failure ?? (turn.lastText.trim() || "the agent reported a failure without text"),
  );
}

function makeFailure(names: unknown[], message: string): Failure {
  const code = toFailureCode({ names, words: message });
  return { code, message, ...defined({ retry_after_ms: parseRetryAfterMs(message) }) };
}

/** The agent's own message, also if it is only in `data`; a number that is not a JSON-RPC code is an HTTP status. */
export function toFailure({ code: number, message, data }: RpcErrorBody): Failure {
  const reported = asObject(data);
  const vendor = vendorError(message);
  const more = asText(reported["details"]) ?? asText(reported["message"]) ?? asText(data);
  const said = vendor.message ?? message;
  const words = more === undefined || said.includes(more) ? said : `${said}: ${more}`;
  const name = asText(reported["errorKind"]) ?? asText(reported["kind"]) ?? asText(reported["errorName"]);
  const isNamed = name !== undefined && name !== "unknown";
  const auth = number === AUTH_REQUIRED ? ["unauthorized"] : [];
  const names = [...auth, ...vendor.names, name, reported["code"]];
  const status = asCount(reported["status"]) ?? asCount(reported["statusCode"]) ?? asCount(number);
  return {
    code: toFailureCode({ names, status, words }),
    native_code: isNamed ? name : number,
    message: words,
    ...defined({
      retry_after_ms: asCount(reported["retryAfterMs"]) ?? vendor.retryAfterMs ?? parseRetryAfterMs(words),
      details: data,
    }),
  };
}

/** Gemini's message is the body of the vendor's response. */
function vendorError(message: string): { message?: string; names: unknown[]; retryAfterMs?: number } {
  const body = message.startsWith("{") ? tryParseJson(message) : undefined;
  const error = asObject(asObject(body)["error"]);
  const details = asObjects(error["details"]);
  const reasons = details.map(({ reason }) => reason);
  const [delay] = details.flatMap(
    ({ retryDelay }) => /^(\d+(?:\.\d+)?)s$/.exec(asText(retryDelay) ?? "")?.[1] ?? [],
  );
  return {
    ...defined({ message: asText(error["message"]) }),
    names: [...reasons, error["status"]],
    ...defined({ retryAfterMs: delay === undefined ? undefined : Math.round(Number(delay) * 1000) }),
  };
}

function authReports({ code, message }: Failure): AcpReport[] {
  return code === "auth_failed" ? [{ kind: "auth_failed", message }] : [];
}

const USAGE_NAMES: ReadonlyArray<[keyof Usage & string, readonly string[]]> = [
  ["input_tokens", ["inputTokens", "input_tokens"]],
  ["output_tokens", ["outputTokens", "output_tokens"]],
  [
    "cache_read_input_tokens",
    ["cachedReadTokens", "cachedInputTokens", "cached_input_tokens", "cacheReadTokens"],
  ],
  ["cache_creation_input_tokens", ["cachedWriteTokens", "cacheWriteInputTokens", "cacheWriteTokens"]],
  ["reasoning_output_tokens", ["thoughtTokens", "reasoningOutputTokens", "reasoningTokens"]],
];

/** `usage` if the agent sends it, else the vendor's `_meta.quota`. */
function readUsage(result: JsonObject): Usage | undefined {
  const quota = asObject(asObject(result["_meta"])["quota"])["token_count"];
  for (const counts of [result["usage"], quota].filter(isObject)) {
    const usage = toUsage(counts);
    if (usage !== undefined) return usage;
  }
  return undefined;
}

/** Under any of their names; all zero means nothing was counted. */
export function toUsage(counts: JsonObject): Usage | undefined {
  const usage = Object.fromEntries(
    USAGE_NAMES.flatMap(([name, names]) => {
      const count = names.map((each) => asCount(counts[each])).find((each) => each !== undefined);
      return count === undefined ? [] : [[name, count]];
    }),
  ) as Usage;
  return Object.values(usage).some((count) => count !== undefined && count > 0) ? usage : undefined;
}

/** Agents report the session's total cost; demian that of the turn. */
function computeCost(state: AcpState, ofTurn: unknown): { cost_usd?: number } {
  const { costUsd, costBefore } = state;
  state.costBefore = costUsd;
  if (typeof ofTurn === "number" && Number.isFinite(ofTurn) && ofTurn >= 0) return { cost_usd: ofTurn };
  if (costUsd === undefined || costBefore === undefined || costUsd <= costBefore) return {};
  // Floating-point money: without this 0.3 - 0.1 is 0.19999999999999998.
  return { cost_usd: Number((costUsd - costBefore).toFixed(9)) };
}
