// Builds the report of one message to Claude Code from its result and from how it ended on our side.
import type { JsonObject } from "../../../base/json.ts";
import { asObject, defined } from "../../../base/values.ts";
import type { ProviderFailure, ProviderFailureKind, TokenUsage } from "../../providers/types.ts";
import { addUsage, createUsage } from "../../usage.ts";
import type { ExternalReport } from "../types.ts";
import { toText } from "./fields.ts";
import { LOGIN_ADVICE } from "./login.ts";

/** The turn so far. */
export interface TurnRecord {
  sessionId?: string;
  model?: string;
  /** Since the last tool. */
  texts: string[];
  /** Ids of the model's own messages. */
  messageIds: Set<string>;
  /** The usage of each, from the stream. */
  streamed: Map<string, JsonObject>;
  streaming?: string;
  isRefused?: boolean;
  refusedLogins?: number;
  /** "authentication_failed", "rate_limit", … */
  error?: string;
  resetsAtMs?: number;
  result?: JsonObject;
}

/** How it ended on our side. */
export interface TurnEnding {
  /** Our signal aborted. */
  aborted: boolean;
  /** The user refused a tool call and stopped the turn. */
  stopped: boolean;
  /** The plan that it submitted. */
  plan?: string | undefined;
  /** Why it could not be started, or crashed. */
  fault?: string;
}

type End = Pick<ExternalReport, "outcome" | "message" | "failure">;

const COMPLETED: End = { outcome: "completed" };

export function buildReport(answer: TurnRecord, ending: TurnEnding): ExternalReport {
  const { result } = answer;
  const end = decideEnd(answer, ending);
  const said = answer.texts.join("\n\n");
  const isAnswer = result?.["subtype"] === "success" && result["is_error"] !== true;
  const whole = isAnswer && typeof result["result"] === "string" ? result["result"] : "";
  return {
    ...end,
    text: ending.plan ?? (whole === "" ? said : whole),
    turns: answer.messageIds.size,
    usage: sumUsage(answer),
    ...defined({ plan: ending.plan }),
  };
}

function decideEnd(answer: TurnRecord, ending: TurnEnding): End {
  const { result } = answer;
  if (ending.aborted) return { outcome: "aborted", message: "aborted" };
  if (ending.plan !== undefined) return COMPLETED;
  if (ending.stopped)
    return { outcome: "denied", message: "the user denied a tool call and stopped the turn" };
  if (isHopeless(answer) && result?.["subtype"] !== "success") {
    return toFailed({ kind: "auth", message: describeLoginFailure("repeated 401 responses"), status: 401 });
  }
  if (ending.fault !== undefined) return toFailed({ kind: "protocol", message: ending.fault });
  if (result === undefined) {
    return toFailed({ kind: "protocol", message: "Claude Code ended without a result; try again" });
  }
  const { subtype } = result;
  if (subtype === "success")
    return result["is_error"] === true ? toApiError(answer, result) : toSuccess(result);
  const text = joinErrors(result);
  if (subtype === "error_max_turns") {
    return {
      outcome: "max_turns",
      message: `Claude Code stopped after ${answer.messageIds.size} model requests; send another message to continue, or raise maxTurns`,
    };
  }
  return toFailed({ kind: "protocol", message: `Claude Code failed: ${text || toText(subtype)}` });
}

/** The login was refused repeatedly; Claude Code would retry for minutes. */
export function isHopeless({ refusedLogins = 0 }: TurnRecord): boolean {
  return refusedLogins > 1;
}

function describeLoginFailure(reason: string): string {
  return `Claude Code is not logged in, or its login was refused (${reason}); ${LOGIN_ADVICE}`;
}

function toSuccess(result: JsonObject): End {
  if (result["stop_reason"] !== "max_tokens") return COMPLETED;
  return { outcome: "max_tokens", message: "the answer was cut off at the model's output token limit" };
}

/** An API error: Claude Code reports a success with the error as its text. */
function toApiError(answer: TurnRecord, result: JsonObject): End {
  const text = typeof result["result"] === "string" ? result["result"] : "API error";
  if (answer.isRefused === true || result["stop_reason"] === "refusal") {
    return { outcome: "content_filter", message: text };
  }
  const status = result["api_error_status"];
  const kind = classifyError(typeof status === "number" ? status : undefined, answer.error, text);
  const retryAfterMs = answer.resetsAtMs === undefined ? undefined : answer.resetsAtMs - Date.now();
  return toFailed({
    kind,
    message: kind === "auth" ? describeLoginFailure(text) : text,
    ...(typeof status === "number" ? { status } : {}),
    ...(kind === "rate_limit" && retryAfterMs !== undefined && retryAfterMs > 0 ? { retryAfterMs } : {}),
  });
}

function classifyError(
  status: number | undefined,
  error: string | undefined,
  text: string,
): ProviderFailureKind {
  if (
    status === 401 ||
    status === 403 ||
    error === "authentication_failed" ||
    /Not logged in|\/login/.test(text)
  )
    return "auth";
  if (/prompt is too long/i.test(text)) return "context_too_long";
  if (status === 429 || error === "rate_limit" || /hit your .*limit/i.test(text)) return "rate_limit";
  if (status === 529 || error === "overloaded" || /\b529\b|overloaded/i.test(text)) return "overloaded";
  if (status === 404) return "not_found";
  if (status !== undefined && status >= 500) return "server";
  if (status !== undefined && status >= 400) return "bad_request";
  if (/Unable to connect|Connection error|ECONN|timed out/i.test(text)) return "network";
  return error === "server_error" ? "server" : "protocol";
}

function toFailed(failure: ProviderFailure): End {
  return { outcome: "failed", failure, message: failure.message };
}

function joinErrors(result: JsonObject): string {
  const { errors } = result;
  return Array.isArray(errors) ? errors.map(toText).join("; ") : "";
}

/** Includes sub-agents. One process runs one message, so its totals are those of the message. */
function sumUsage({ result, streamed }: TurnRecord): TokenUsage {
  const usage = createUsage();
  const models = Object.values(asObject(result?.["modelUsage"])).map(asObject);
  for (const model of models) {
    const { inputTokens, outputTokens, cacheReadInputTokens, cacheCreationInputTokens } = model;
    addCounts(usage, inputTokens, outputTokens, cacheReadInputTokens, cacheCreationInputTokens);
  }
  // These do not include an interrupted request.
  if (usage.inputTokens + usage.outputTokens === 0) {
    const total = asObject(result?.["usage"]);
    const requests = toCount(total["output_tokens"]) > 0 ? [total] : streamed.values();
    for (const one of requests) {
      const { input_tokens, output_tokens, cache_read_input_tokens, cache_creation_input_tokens } = one;
      addCounts(usage, input_tokens, output_tokens, cache_read_input_tokens, cache_creation_input_tokens);
    }
  }
  const cost = result?.["total_cost_usd"];
  return typeof cost === "number" ? { ...usage, costUsd: cost } : usage;
}

/** `inputTokens` includes cached input, as for other providers; Claude Code's own count does not. */
function addCounts(
  usage: TokenUsage,
  input: unknown,
  output: unknown,
  read: unknown,
  written: unknown,
): void {
  const cacheReadTokens = toCount(read);
  const cacheWriteTokens = toCount(written);
  const inputTokens = toCount(input) + cacheReadTokens + cacheWriteTokens;
  addUsage(usage, { inputTokens, outputTokens: toCount(output), cacheReadTokens, cacheWriteTokens });
}

function toCount(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0;
}
