// How a turn ended, as the answer to session/prompt; and what a session is called after its first one.
import type { PromptResponse, StopReason } from "@agentclientprotocol/sdk";
import type { TurnEnd } from "../events.ts";
import type { TokenUsage } from "../providers/types.ts";
import type { TurnReport } from "../session-types.ts";
import { failureError } from "./errors.ts";
import { oneLine } from "./tool-view.ts";

const TITLE_CHARS = 60;

/** "failed" is an error, not an answer. */
const STOP_REASONS: Readonly<Record<Exclude<TurnEnd, "failed">, StopReason>> = {
  completed: "end_turn",
  max_turns: "max_turn_requests",
  max_tokens: "max_tokens",
  content_filter: "refusal",
  blocked: "refusal",
  denied: "cancelled",
  aborted: "cancelled",
};

/** Throws what the provider failed with. Who cancelled gets `cancelled`, however the turn came to its end. */
export function promptAnswer(report: TurnReport, isCancelled: boolean): PromptResponse {
  const { outcome, failure, message, turns } = report;
  const { costUsd } = report.usage;
  const usage = usageOf(report.usage);
  const stopReason = isCancelled ? "cancelled" : outcome === "failed" ? undefined : STOP_REASONS[outcome];
  if (stopReason === undefined) {
    const why = failure ?? { kind: "protocol", message: message ?? "the turn failed" };
    throw failureError(why, { usage, ...(costUsd !== undefined && { costUsd }) });
  }
  // `usage` is not in the stable schema, but clients read it.
  const answer = {
    stopReason,
    usage,
    _meta: {
      demian: {
        outcome,
        turns,
        ...(costUsd !== undefined && { costUsd }),
        ...(message !== undefined && { message }),
      },
    },
  };
  return answer;
}

export function sessionTitle(text: string): string {
  const line = oneLine(text);
  if (line === "") return "(image)";
  if (line.length <= TITLE_CHARS) return line;
  return `${line.slice(0, TITLE_CHARS).replace(/\s+\S*$|[\ud800-\udbff]$/, "")}…`;
}

/** The shape of ACP's unstable `usage`. */
function usageOf(usage: TokenUsage): Record<string, number> {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens } = usage;
  return {
    totalTokens: inputTokens + outputTokens,
    inputTokens,
    outputTokens,
    ...(reasoningTokens !== undefined && { thoughtTokens: reasoningTokens }),
    ...(cacheReadTokens !== undefined && { cachedReadTokens: cacheReadTokens }),
    ...(cacheWriteTokens !== undefined && { cachedWriteTokens: cacheWriteTokens }),
  };
}
