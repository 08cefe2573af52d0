// Tokens of a turn. Codex reports the total of the thread (`total`) and of the last model call (`last`), and may repeat
// itself (seen with 0.166: the first update of a turn can be the last one of the previous turn). So a turn's usage is
// the growth of `total`; `last` is used only if the earlier total is unknown.
import { asCount, asObject } from "../../../base/values.ts";
import { USAGE_KEYS, type Usage } from "../../../protocol/usage.ts";
import type { ThreadState } from "./state.ts";

const CODEX_KEYS: Record<(typeof USAGE_KEYS)[number], string> = {
  input_tokens: "inputTokens",
  output_tokens: "outputTokens",
  cache_read_input_tokens: "cachedInputTokens",
  cache_creation_input_tokens: "cacheWriteInputTokens",
  reasoning_output_tokens: "reasoningOutputTokens",
};

/** `thread/tokenUsage/updated`. */
export function noteUsage(thread: ThreadState, tokenUsage: unknown): void {
  const { total: all, last: call } = asObject(tokenUsage);
  const total = readUsage(all);
  const grown = thread.total === undefined ? undefined : subtract(total, thread.total);
  thread.total = total;
  // Also sent on resume, about earlier turns; a turn starts at zero.
  thread.spent = add(thread.spent ?? {}, grown ?? readUsage(call));
}

/** Part of the history was removed, and its tokens with it. */
export function forgetTotal(thread: ThreadState): void {
  thread.total = undefined;
}

function readUsage(value: unknown): Usage {
  const tokens = asObject(value);
  return Object.fromEntries(USAGE_KEYS.map((key) => [key, asCount(tokens[CODEX_KEYS[key]]) ?? 0])) as Usage;
}

/** Undefined if it shrank: then it is another count. */
function subtract(now: Usage, before: Usage): Usage | undefined {
  const entries = USAGE_KEYS.map((key) => [key, (now[key] ?? 0) - (before[key] ?? 0)] as const);
  return entries.every(([, value]) => value >= 0) ? (Object.fromEntries(entries) as Usage) : undefined;
}

function add(one: Usage, other: Usage): Usage {
  return Object.fromEntries(USAGE_KEYS.map((key) => [key, sum(one[key], other[key])])) as Usage;
}

function sum(one = 0, other = 0): number {
  return Math.min(one + other, Number.MAX_SAFE_INTEGER);
}
