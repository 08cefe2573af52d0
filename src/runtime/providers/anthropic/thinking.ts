// The reasoning effort in Anthropic's terms: adaptive thinking with an effort, or a token budget for models before 4.6.
import type { MessageCreateParams } from "@anthropic-ai/sdk/resources/messages/messages";
import { type Effort, pickNearestEffort } from "../effort.ts";
import type { ChatRequest } from "../types.ts";

type Thinking = Pick<MessageCreateParams, "thinking" | "output_config">;

const ADAPTIVE_EFFORTS = ["low", "medium", "high", "xhigh", "max"] as const;
/** They reject adaptive thinking; later ones reject a budget. */
const WITH_BUDGET = /claude-(3|(opus|sonnet|haiku)-4(-[015])?($|-\d{8}))/;
const BUDGETS: Readonly<Record<Exclude<Effort, "none">, number>> = {
  minimal: 1024,
  low: 4096,
  medium: 10_000,
  high: 16_000,
  xhigh: 24_000,
  max: 31_000,
};
const LEAST_BUDGET = 1024;

/** Without an effort the model's default applies. `maxTokens` includes the thinking. */
export function toThinking({ effort, model, facts }: ChatRequest, maxTokens: number): Thinking {
  if (effort === undefined || facts?.reasoning === false) return {};
  if (effort === "none") return { thinking: { type: "disabled" } };
  if (WITH_BUDGET.test(model)) {
    const budget = Math.min(BUDGETS[effort], Math.floor(maxTokens / 2));
    return budget < LEAST_BUDGET ? {} : { thinking: { type: "enabled", budget_tokens: budget } };
  }
  const nearest = pickNearestEffort(effort, ADAPTIVE_EFFORTS);
  return {
    // Some models leave the text out by default, and there would be nothing to show.
    thinking: { type: "adaptive", display: "summarized" },
    ...(nearest === undefined ? {} : { output_config: { effort: nearest } }),
  };
}
