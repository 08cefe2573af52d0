// Shortens long parts of a step. A part is cut only once.
import type { ToolCall } from "../messages.ts";
import { cutText } from "./cut-text.ts";
import { estimateText } from "./estimate.ts";
import type { Step } from "./steps.ts";

/** Only tool results, which can be fetched again. */
/** Tells the model how to get the rest: the next offset of a file, or the file with the full output. */
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

interface ResultCut {
  /** The call that produced it. */
  call: ToolCall | undefined;
  maxTokens: number;
  /** The model has not read it yet: a page of the same length will fit. */
  isNewest: boolean;
}

const BYTES_PER_TOKEN = 4;
/** With less room, a hint would displace the content. */
const MIN_HINT_TOKENS = 100;
/** The page limit of read_file. */
const MAX_LINES = 2000;
const NUMBERED_LINE = /^ *(\d+)\t/;
/** Written by tools/output.ts. */
const KEPT_OUTPUT = /the full output is in (\S+?)(?= …\]|$)/m;

export function cutResult(content: string, { call, maxTokens, isNewest }: ResultCut): string {
  if (estimateText(content) <= maxTokens) return content;
  if (maxTokens < MIN_HINT_TOKENS) return cutText(content, maxTokens);
  const page = call?.name === "read_file" ? cutPage(content, maxTokens, isNewest) : undefined;
  return page ?? cutText(content, maxTokens, hintFor(content));
}

function hintFor(content: string): string {
  const kept = KEPT_OUTPUT.exec(content)?.[1];
  return kept === undefined
    ? "request less at a time to see the rest"
    : `the full output is in ${kept}: use read_file with offset and limit`;
}

/** The first lines of a read_file page, and where to continue. Undefined: no line fits. */
function cutPage(content: string, maxTokens: number, isNewest: boolean): string | undefined {
  const lines = content.split("\n");
  let room = maxTokens * BYTES_PER_TOKEN - Buffer.byteLength(pageMark(9_999_999, 9_999_999, MAX_LINES));
  let count = 0;
  for (const line of lines) {
    room -= Buffer.byteLength(line) + 1;
    if (room < 0 || !NUMBERED_LINE.test(line)) break;
    count += 1;
  }
  const [first, last] = [lines[0], lines[count - 1]].map((line) => NUMBERED_LINE.exec(line ?? "")?.[1]);
  if (first === undefined || last === undefined) return undefined;
  const limit = isNewest ? Math.min(count, MAX_LINES) : undefined;
  return lines.slice(0, count).join("\n") + pageMark(Number(first), Number(last), limit);
}

function pageMark(first: number, last: number, limit: number | undefined): string {
  const page = `offset=${last + 1}${limit === undefined ? "" : ` limit=${limit}`}`;
  return `\n\n[cut here to save space: lines ${first}-${last}; continue with ${page}]`;
}
