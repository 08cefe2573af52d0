// Shortens long parts of a step. A part is cut only once.
import type { ToolCall } from "../messages.ts";
import { cutResult } from "./cut-result.ts";
import { cutText } from "./cut-text.ts";
import { estimateText } from "./estimate.ts";
import type { Step } from "./steps.ts";

/** Only tool results, which can be fetched again. */
export function cutResults(step: Step, maxTokens: number): Step {
  if (step.kind === "user") return step;
  return withResults(step, () => maxTokens, false);
}

/** Cuts the tool results of the newest step to `roomTokens` in total: short ones stay whole. */
export function fitResults(step: Step, roomTokens: number): Step {
  if (step.kind === "user") return step;
  let room = roomTokens;
  let left = step.results.length;
  const shares = new Map<number, number>();
  const bySize = step.results.map(({ content }, index) => ({ index, size: estimateText(content) }));
  for (const { index, size } of bySize.sort((a, b) => a.size - b.size)) {
    const share = Math.max(0, Math.min(size, Math.floor(room / left)));
    shares.set(index, share);
    room -= share;
    left -= 1;
  }
  return withResults(step, (index) => shares.get(index) ?? 0, true);
}

function withResults(
  step: Extract<Step, { kind: "answer" }>,
  maxTokens: (index: number) => number,
  isNewest: boolean,
): Step {
  const results = step.results.map((result, index) => {
    const call = step.answer.toolCalls?.[index];
    return { ...result, content: cutResult(result.content, { call, isNewest, maxTokens: maxTokens(index) }) };
  });
  return { ...step, results };
}

/** Shortens the answer and its call inputs; results stay. */
export function cutAnswer(step: Step, maxTokens: number): Step {
  if (step.kind === "user") return step;
  const { content, toolCalls, ...rest } = step.answer;
  const answer = {
    ...rest,
    ...(content === undefined ? {} : { content: content === null ? null : cutText(content, maxTokens) }),
    ...(toolCalls === undefined ? {} : { toolCalls: toolCalls.map((call) => cutCall(call, maxTokens)) }),
  };
  return { ...step, answer };
}

function cutCall(call: ToolCall, maxTokens: number): ToolCall {
  return { ...call, input: cutStrings(call.input, maxTokens) };
}

function cutStrings(value: unknown, maxTokens: number): unknown {
  if (typeof value === "string") return cutText(value, maxTokens);
  if (Array.isArray(value)) return value.map((item: unknown) => cutStrings(item, maxTokens));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, cutStrings(item, maxTokens)]));
}
