// Tokens of a turn. Codex tells the sum of the whole thread (`total`) and of the last model call (`last`), and may
// repeat itself (seen with 0.166: the first update of a turn can be the last one of the turn before). So a turn has
// spent what `total` grew by; `last` serves only where the earlier total is not known.
import { USAGE_KEYS, type Usage } from "../../../protocol/usage.ts";
import { countOf, objectOf } from "../../values.ts";
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
  const { total: all, last: call } = objectOf(tokenUsage);
  const total = readUsage(all);
  const grown = thread.total === undefined ? undefined : subtract(total, thread.total);
  thread.total = total;
  // Sent on resume too, about what was spent before; a turn begins at nothing.
  thread.spent = add(thread.spent ?? {}, grown ?? readUsage(call));
}

/** A part of the history was taken back, and its tokens with it. */
export function forgetTotal(thread: ThreadState): void {
  thread.total = undefined;
}

function readUsage(value: unknown): Usage {
  const tokens = objectOf(value);
  return Object.fromEntries(USAGE_KEYS.map((key) => [key, countOf(tokens[CODEX_KEYS[key]]) ?? 0])) as Usage;
}

/** Undefined when it shrank: then it is another count. */
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
