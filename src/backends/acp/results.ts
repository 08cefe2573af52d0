// The answer to session/prompt → `agent.result`. It is not trusted alone: what we did (cancel, decline) and what the agent
// said on the way (a failure of its system) count too.
import { isObject, type JsonObject } from "../../base/json.ts";
import type { RpcErrorBody } from "../../base/jsonrpc.ts";
import type { ResultEvent } from "../../protocol/events.ts";
import { failureCode, retryAfterMs } from "../../protocol/failures.ts";
import type { Usage } from "../../protocol/usage.ts";
import { countOf, objectOf, objectsOf, optional, textOf } from "../values.ts";
import { type AcpState, demianMeta, isDemian, notice, type Report, type TurnState } from "./state.ts";

export type Answer = { result: unknown } | { error: RpcErrorBody };
type Failure = NonNullable<ResultEvent["error"]>;

const AUTH_REQUIRED = -32000;
/** The turn is over and has an answer, but not the one that was wanted. */
const CUT_SHORT: ReadonlyMap<string, string> = new Map([
  ["max_tokens", "the answer was cut off at the model's token limit"],
  ["refusal", "the model refused to go on"],
]);
const KNOWN: ReadonlySet<string> = new Set(["end_turn", "cancelled", "max_turn_requests"]);

/** What stands in front of the result, and the result itself. */
export function judge(
  state: AcpState,
  turn: TurnState,
  answer: Answer,
): { before: Report[]; result: ResultEvent } {
  const base = { type: "agent.result", backend: state.backend } as const;
  if ("error" in answer) {
    const error = toFailure(answer.error);
    const spent = isDemian(state) ? objectOf(answer.error.data) : {};
    const rest = { ...optional("usage", usageOf(spent)), ...costOf(state, spent["costUsd"]) };
    if (turn.isCancelled) return { before: [], result: { ...base, subtype: "interrupted", ...rest, error } };
    return { before: authReports(error), result: { ...base, subtype: "error", ...rest, error } };
  }
  const told = objectOf(answer.result);
  const rest = {
    ...optional("usage", usageOf(told)),
    ...costOf(state, demianMeta(state, told)["costUsd"]),
  };
  if (turn.isCancelled) return { before: [], result: { ...base, subtype: "interrupted", ...rest } };
  const failure = failureOf(turn, told);
  if (failure !== undefined) {
    return { before: authReports(failure), result: { ...base, subtype: "error", ...rest, error: failure } };
  }
  const reason = textOf(told["stopReason"]);
  if (reason === undefined) {
    const error = { code: "agent_error", message: "the agent ended the turn without saying why" };
    return { before: [], result: { ...base, subtype: "error", ...rest, error } };
  }
  return { before: remarks(state, turn, reason), result: { ...base, subtype: subtypeOf(reason), ...rest } };
}

function subtypeOf(reason: string): ResultEvent["subtype"] {
  if (reason === "cancelled") return "interrupted";
  return reason === "max_turn_requests" ? "max_turns" : "success";
}

/** Why a turn ended in a way that its subtype does not tell. */
function remarks(state: AcpState, turn: TurnState, reason: string): Report[] {
  const data = { stop_reason: reason };
  const tell = (text: string) => [notice(state, "stop_reason", { level: "warn", text, data })];
  if (reason === "cancelled" && turn.isDeclined) {
    return tell("the agent ended the turn because what it asked for was declined");
  }
  const cut = CUT_SHORT.get(reason);
  if (cut !== undefined) return tell(cut);
  return KNOWN.has(reason) ? [] : tell(`the agent ended the turn with "${reason}"`);
}

/** codex-acp ends a failed turn with `end_turn` and the error as its last words. */
function failureOf(turn: TurnState, told: JsonObject): Failure | undefined {
  const air = objectOf(objectOf(objectOf(told["_meta"])["jetbrains"])["air"])["sessionFailure"];
  const title = textOf(objectOf(air)["title"]);
  const category = objectOf(air)["category"];
  if (title !== undefined) return spoken([category], title);
  if (!turn.isFailed || told["stopReason"] === "cancelled") return undefined;
  return spoken([], turn.failure ?? (turn.lastText.trim() || "the agent reported a failure without words"));
}

function spoken(names: unknown[], message: string): Failure {
  const code = failureCode({ names, words: message });
  return { code, message, ...optional("retry_after_ms", retryAfterMs(message)) };
}

/** The agent's own words, also those that are only in `data`; a number that is no code of JSON-RPC is an HTTP status. */
export function toFailure({ code: number, message, data }: RpcErrorBody): Failure {
  const told = objectOf(data);
  const vendor = vendorError(message);
  const more = textOf(told["details"]) ?? textOf(told["message"]) ?? textOf(data);
  const said = vendor.message ?? message;
  const words = more === undefined || said.includes(more) ? said : `${said}: ${more}`;
  const name = textOf(told["errorKind"]) ?? textOf(told["kind"]) ?? textOf(told["errorName"]);
  const isNamed = name !== undefined && name !== "unknown";
  const auth = number === AUTH_REQUIRED ? ["unauthorized"] : [];
  const names = [...auth, ...vendor.names, name, told["code"]];
  const status = countOf(told["status"]) ?? countOf(told["statusCode"]) ?? countOf(number);
  return {
    code: failureCode({ names, status, words }),
    native_code: isNamed ? name : number,
    message: words,
    ...optional(
      "retry_after_ms",
      countOf(told["retryAfterMs"]) ?? vendor.retryAfterMs ?? retryAfterMs(words),
    ),
    ...optional("details", data),
  };
}

/** Gemini's message is the body of the vendor's answer. */
function vendorError(message: string): { message?: string; names: unknown[]; retryAfterMs?: number } {
  const body = message.startsWith("{") ? parseJson(message) : undefined;
  const error = objectOf(objectOf(body)["error"]);
  const details = objectsOf(error["details"]);
  const reasons = details.map(({ reason }) => reason);
  const [delay] = details.flatMap(
    ({ retryDelay }) => /^(\d+(?:\.\d+)?)s$/.exec(textOf(retryDelay) ?? "")?.[1] ?? [],
  );
  return {
    ...optional("message", textOf(error["message"])),
    names: [...reasons, error["status"]],
    ...optional("retryAfterMs", delay === undefined ? undefined : Math.round(Number(delay) * 1000)),
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // it only begins like JSON
  }
}

function authReports({ code, message }: Failure): Report[] {
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

/** `usage` where the agent has it, else the vendor's `_meta.quota`. */
function usageOf(result: JsonObject): Usage | undefined {
  const quota = objectOf(objectOf(result["_meta"])["quota"])["token_count"];
  for (const counts of [result["usage"], quota].filter(isObject)) {
    const usage = toUsage(counts);
    if (usage !== undefined) return usage;
  }
  return undefined;
}

/** By whatever names they come; all zero means that nothing was counted. */
export function toUsage(counts: JsonObject): Usage | undefined {
  const usage = Object.fromEntries(
    USAGE_NAMES.flatMap(([name, names]) => {
      const count = names.map((each) => countOf(counts[each])).find((each) => each !== undefined);
      return count === undefined ? [] : [[name, count]];
    }),
  ) as Usage;
  return Object.values(usage).some((count) => count !== undefined && count > 0) ? usage : undefined;
}

/** Agents tell what the session has cost so far; demian what the turn has. */
function costOf(state: AcpState, ofTurn: unknown): { cost_usd?: number } {
  const { costUsd, costBefore } = state;
  state.costBefore = costUsd;
  if (typeof ofTurn === "number" && Number.isFinite(ofTurn) && ofTurn >= 0) return { cost_usd: ofTurn };
  if (costUsd === undefined || costBefore === undefined || costUsd <= costBefore) return {};
  // Money in floating point: without this 0.3 - 0.1 is 0.19999999999999998.
  return { cost_usd: Number((costUsd - costBefore).toFixed(9)) };
}
