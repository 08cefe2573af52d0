// Builds the response to session/prompt from a turn's report.

import type { PromptResponse, StopReason } from "@agentclientprotocol/sdk";
import { defined } from "../../base/values.ts";
import type { TurnEnd } from "../events.ts";
import type { TokenUsage } from "../providers/types.ts";
import type { TurnReport } from "../session-types.ts";
import { toFailureError } from "./errors.ts";

/** "failed" is reported as an error. */
const STOP_REASONS: Readonly<Record<Exclude<TurnEnd, "failed">, StopReason>> = {
  completed: "end_turn",
  max_turns: "max_turn_requests",
  max_tokens: "max_tokens",
  content_filter: "refusal",
  blocked: "refusal",
  denied: "cancelled",
  aborted: "cancelled",
};

/** Throws the provider's failure. After a cancel the reason is always `cancelled`. */
export function toPromptResponse(report: TurnReport, isCancelled: boolean): PromptResponse {
  const { outcome, failure, message, turns } = report;
  const { costUsd } = report.usage;
  const usage = toUsage(report.usage);
  const stopReason = isCancelled ? "cancelled" : outcome === "failed" ? undefined : STOP_REASONS[outcome];
  if (stopReason === undefined) {
    const why = failure ?? { kind: "protocol", message: message ?? "the turn failed" };
    throw toFailureError(why, { usage, ...(costUsd !== undefined && { costUsd }) });
  }
  // `usage` is not in the stable schema, but clients use it.
  const answer = {
    stopReason,
    usage,
    _meta: {
      demian: {
        outcome,
        turns,
        ...defined({ costUsd, message }),
      },
    },
  };
  return answer;
}

/** ACP's unstable `usage`. */
function toUsage(usage: TokenUsage): Record<string, number> {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens } = usage;
  return {
    totalTokens: inputTokens + outputTokens,
    inputTokens,
    outputTokens,
    ...defined({
      thoughtTokens: reasoningTokens,
      cachedReadTokens: cacheReadTokens,
      cachedWriteTokens: cacheWriteTokens,
    }),
  };
}
