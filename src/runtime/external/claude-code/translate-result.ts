// How one message to Claude Code ended: its last line, and what only we know, → a report.
import type { ProviderFailure, ProviderFailureKind, TokenUsage } from "../../providers/types.ts";
import { addUsage, noUsage } from "../../usage.ts";
import type { ExternalReport } from "../types.ts";
import { type Fields, fieldsOf, wordsOf } from "./fields.ts";
import { WHAT_TO_DO } from "./login.ts";

/** What was heard so far. */
export interface Answer {
  sessionId?: string;
  model?: string;
  /** Since the last tool. */
  texts: string[];
  /** Of the model's own messages. */
  messageIds: Set<string>;
  /** What each of them took, as it was streamed. */
  streamed: Map<string, Fields>;
  streaming?: string;
  isRefused?: boolean;
  refusedLogins?: number;
  /** "authentication_failed", "rate_limit", … */
  error?: string;
  resetsAtMs?: number;
  result?: Fields;
}

/** How it ended, as far as only we know. */
export interface Ending {
  /** Our signal aborted. */
  aborted: boolean;
  /** The person stopped the turn with a refusal. */
  stopped: boolean;
  /** The plan that was taken from it. */
  plan?: string | undefined;
  /** Why it could not be run, or died. */
  fault?: string;
}

type End = Pick<ExternalReport, "outcome" | "message" | "failure">;

const COMPLETED: End = { outcome: "completed" };

export function reportOf(answer: Answer, ending: Ending): ExternalReport {
  const { result } = answer;
  const end = endOf(answer, ending);
  const said = answer.texts.join("\n\n");
  const isAnswer = result?.["subtype"] === "success" && result["is_error"] !== true;
  const whole = isAnswer && typeof result["result"] === "string" ? result["result"] : "";
  return {
    ...end,
    text: ending.plan ?? (whole === "" ? said : whole),
    turns: answer.messageIds.size,
    usage: usageOf(answer),
    ...(ending.plan === undefined ? {} : { plan: ending.plan }),
  };
}

function endOf(answer: Answer, ending: Ending): End {
  const { result } = answer;
  if (ending.aborted) return { outcome: "aborted", message: "aborted" };
  if (ending.plan !== undefined) return COMPLETED;
  if (ending.stopped)
    return { outcome: "denied", message: "the user denied a tool call and stopped the turn" };
  if (isHopeless(answer) && result?.["subtype"] !== "success") {
    return failed({ kind: "auth", message: loginRefused("401, again and again"), status: 401 });
  }
  if (ending.fault !== undefined) return failed({ kind: "protocol", message: ending.fault });
  if (result === undefined) {
    return failed({ kind: "protocol", message: "Claude Code ended without a result; try again" });
  }
  const { subtype } = result;
  if (subtype === "success") return result["is_error"] === true ? apiError(answer, result) : success(result);
  const words = errorsOf(result);
  if (subtype === "error_max_turns") {
    return {
      outcome: "max_turns",
      message: `Claude Code stopped after ${answer.messageIds.size} requests to its model; send another message to go on, or raise maxTurns`,
    };
  }
  return failed({ kind: "protocol", message: `Claude Code failed: ${words || wordsOf(subtype)}` });
}

/** The vendor refuses the login again and again: Claude Code would try for minutes. */
export function isHopeless({ refusedLogins = 0 }: Answer): boolean {
  return refusedLogins > 1;
}

function loginRefused(words: string): string {
  return `Claude Code is not logged in, or its login is refused (${words}); ${WHAT_TO_DO}`;
}

function success(result: Fields): End {
  if (result["stop_reason"] !== "max_tokens") return COMPLETED;
  return { outcome: "max_tokens", message: "the answer was cut at the model's limit of output tokens" };
}

/** Claude Code calls it a success and says so in words. */
function apiError(answer: Answer, result: Fields): End {
  const words = typeof result["result"] === "string" ? result["result"] : "an error of the API";
  if (answer.isRefused === true || result["stop_reason"] === "refusal") {
    return { outcome: "content_filter", message: words };
  }
  const status = result["api_error_status"];
  const kind = kindOf(typeof status === "number" ? status : undefined, answer.error, words);
  const retryAfterMs = answer.resetsAtMs === undefined ? undefined : answer.resetsAtMs - Date.now();
  return failed({
    kind,
    message: kind === "auth" ? loginRefused(words) : words,
    ...(typeof status === "number" ? { status } : {}),
    ...(kind === "rate_limit" && retryAfterMs !== undefined && retryAfterMs > 0 ? { retryAfterMs } : {}),
  });
}

function kindOf(status: number | undefined, error: string | undefined, words: string): ProviderFailureKind {
  if (
    status === 401 ||
    status === 403 ||
    error === "authentication_failed" ||
    /Not logged in|\/login/.test(words)
  )
    return "auth";
  if (/prompt is too long/i.test(words)) return "context_too_long";
  if (status === 429 || error === "rate_limit" || /hit your .*limit/i.test(words)) return "rate_limit";
  if (status === 529 || error === "overloaded" || /\b529\b|overloaded/i.test(words)) return "overloaded";
  if (status === 404) return "not_found";
  if (status !== undefined && status >= 500) return "server";
  if (status !== undefined && status >= 400) return "bad_request";
  if (/Unable to connect|Connection error|ECONN|timed out/i.test(words)) return "network";
  return error === "server_error" ? "server" : "protocol";
}

function failed(failure: ProviderFailure): End {
  return { outcome: "failed", failure, message: failure.message };
}

function errorsOf(result: Fields): string {
  const { errors } = result;
  return Array.isArray(errors) ? errors.map(wordsOf).join("; ") : "";
}

/** By model, sub-agents as well; one process a message, so that its sums are those of the message. */
function usageOf({ result, streamed }: Answer): TokenUsage {
  const usage = noUsage();
  const models = Object.values(fieldsOf(result?.["modelUsage"])).map(fieldsOf);
  for (const model of models) {
    const { inputTokens, outputTokens, cacheReadInputTokens, cacheCreationInputTokens } = model;
    add(usage, inputTokens, outputTokens, cacheReadInputTokens, cacheCreationInputTokens);
  }
  // An interrupted request is not among them.
  if (usage.inputTokens + usage.outputTokens === 0) {
    const told = fieldsOf(result?.["usage"]);
    const requests = count(told["output_tokens"]) > 0 ? [told] : streamed.values();
    for (const one of requests) {
      const { input_tokens, output_tokens, cache_read_input_tokens, cache_creation_input_tokens } = one;
      add(usage, input_tokens, output_tokens, cache_read_input_tokens, cache_creation_input_tokens);
    }
  }
  const cost = result?.["total_cost_usd"];
  return typeof cost === "number" ? { ...usage, costUsd: cost } : usage;
}

/** `inputTokens` counts all input, cached or not, as with the other providers; Claude Code's own leaves out the cache. */
function add(usage: TokenUsage, input: unknown, output: unknown, read: unknown, written: unknown): void {
  const cacheReadTokens = count(read);
  const cacheWriteTokens = count(written);
  const inputTokens = count(input) + cacheReadTokens + cacheWriteTokens;
  addUsage(usage, { inputTokens, outputTokens: count(output), cacheReadTokens, cacheWriteTokens });
}

function count(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0;
}
