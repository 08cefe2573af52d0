// Shortens what is long in a step. What was cut once is short enough not to be cut again.
import type { ToolCall } from "../messages.ts";
import type { Step } from "./steps.ts";

const BYTES_PER_TOKEN = 4;

/** Beginning and end of the text, within `maxTokens` as they are estimated. */
export function cutText(text: string, maxTokens: number): string {
  const maxBytes = maxTokens * BYTES_PER_TOKEN;
  if (Buffer.byteLength(text) <= maxBytes) return text;
  const bytes = Buffer.from(text);
  const mark = `\n[… ${bytes.length} bytes in all, cut here to save space …]\n`;
  const room = Math.max(0, maxBytes - Buffer.byteLength(mark));
  const head = bytes.subarray(0, wholeCharacter(bytes, Math.floor((room * 2) / 3), -1));
  const tail = bytes.subarray(wholeCharacter(bytes, bytes.length - Math.floor(room / 3), 1));
  return `${head.toString()}${mark}${tail.toString()}`;
}

/** The same, and never over: with no room for the mark there is only a beginning. */
export function capText(text: string, maxTokens: number): string {
  const short = cutText(text, maxTokens);
  const bytes = Buffer.from(short);
  const maxBytes = Math.max(0, maxTokens) * BYTES_PER_TOKEN;
  if (bytes.length <= maxBytes) return short;
  const whole = Buffer.from(text);
  return whole.subarray(0, wholeCharacter(whole, maxBytes, -1)).toString();
}

/** Only tool results, which can be had again. */
export function cutResults(step: Step, maxTokens: number): Step {
  if (step.kind === "user") return step;
  const results = step.results.map((result) => ({ ...result, content: cutText(result.content, maxTokens) }));
  return { ...step, results };
}

/** Results, the answer itself and what its calls were given. */
export function cutAnswer(step: Step, maxTokens: number): Step {
  if (step.kind === "user") return step;
  const { content, toolCalls, ...rest } = step.answer;
  const answer = {
    ...rest,
    ...(content === undefined ? {} : { content: content === null ? null : cutText(content, maxTokens) }),
    ...(toolCalls === undefined ? {} : { toolCalls: toolCalls.map((call) => cutCall(call, maxTokens)) }),
  };
  return cutResults({ ...step, answer }, maxTokens);
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

function wholeCharacter(bytes: Buffer, index: number, step: 1 | -1): number {
  let at = index;
  while (at > 0 && at < bytes.length && ((bytes[at] ?? 0) & 0xc0) === 0x80) at += step;
  return at;
}
