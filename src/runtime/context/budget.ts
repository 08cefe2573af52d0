// How much of a conversation one request may show to a model, when the configuration does not say: by the size of its
// context window, less room for the answer.
import type { ContextPolicy } from "./compact.ts";

/** Where nobody knows what the model takes: most local models are served with at least this. */
export const UNKNOWN_BUDGET_TOKENS = 48_000;
/** However large the window: more is slow and expensive, and answers get no better. */
const MAX_BUDGET_TOKENS = 200_000;
const MAX_ANSWER_TOKENS = 32_000;
/** Our estimate may be lower than what the vendor counts. */
const ESTIMATE_SHARE = 0.9;
/** What a summary, and an old result, may take of it. */
const PART = 8;

/** `context.main` or what a sub-agent has, as configured. */
export type ContextLimits = Omit<ContextPolicy, "maxContextTokens"> & {
  maxContextTokens?: number | undefined;
};

export interface ModelRoom {
  /** What the model takes, where that is known. */
  windowTokens?: number | undefined;
  /** The longest answer, as configured. */
  maxTokens?: number | undefined;
  /** The most that a request may have since the provider refused a longer one. */
  learnedTokens?: number | undefined;
}

export function contextPolicy(limits: ContextLimits, room: ModelRoom): ContextPolicy {
  const { maxContextTokens: configured } = limits;
  const budget = configured ?? budgetOf(room);
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

function budgetOf({ windowTokens, maxTokens }: ModelRoom): number {
  if (windowTokens === undefined) return UNKNOWN_BUDGET_TOKENS;
  const answer = Math.min(maxTokens ?? MAX_ANSWER_TOKENS, windowTokens / 4);
  return Math.max(1, Math.min(MAX_BUDGET_TOKENS, Math.floor((windowTokens - answer) * ESTIMATE_SHARE)));
}
