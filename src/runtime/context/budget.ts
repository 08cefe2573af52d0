// Default context budget of a request: from the model's context window, less room for the answer.
import type { ContextPolicy } from "./compact.ts";

/** For models of unknown size: most local models are served with at least this. */
export const UNKNOWN_BUDGET_TOKENS = 48_000;
/** Upper limit for large windows: more is slow and expensive, and answers get no better. */
const MAX_BUDGET_TOKENS = 200_000;
const MAX_ANSWER_TOKENS = 32_000;
/** Our estimate may be lower than the vendor's count. */
const ESTIMATE_SHARE = 0.9;
/** Shares of the budget for a summary and for an old result. */
const PART = 8;

/** `context.main` or a sub-agent's settings, as configured. */
export type ContextLimits = Omit<ContextPolicy, "maxContextTokens"> & {
  maxContextTokens?: number | undefined;
};

export interface ModelRoom {
  /** The model's context window, if known. */
  windowTokens?: number | undefined;
  /** The configured answer limit. */
  maxTokens?: number | undefined;
  /** The model's own. */
  outputTokens?: number | undefined;
  /** Limit learned from a request the provider rejected as too long. */
  learnedTokens?: number | undefined;
}

export function deriveContextPolicy(limits: ContextLimits, room: ModelRoom): ContextPolicy {
  const { maxContextTokens: configured } = limits;
  const budget = configured ?? computeBudget(room);
  const maxContextTokens = Math.min(budget, room.learnedTokens ?? budget);
  if (configured !== undefined && maxContextTokens === configured) return { ...limits, maxContextTokens };
  const part = Math.max(1, Math.floor(maxContextTokens / PART));
  return {
    ...limits,
    maxContextTokens,
    summaryTargetTokens: Math.min(limits.summaryTargetTokens, part),
    maxInlineToolResultTokens: Math.min(limits.maxInlineToolResultTokens, part),
  };
}

function computeBudget({ windowTokens, maxTokens, outputTokens = MAX_ANSWER_TOKENS }: ModelRoom): number {
  if (windowTokens === undefined) return UNKNOWN_BUDGET_TOKENS;
  const answer = Math.min(maxTokens ?? Math.min(MAX_ANSWER_TOKENS, outputTokens), windowTokens / 4);
  return Math.max(1, Math.min(MAX_BUDGET_TOKENS, Math.floor((windowTokens - answer) * ESTIMATE_SHARE)));
}
