// What a request shows of what sub-agents reported (§7): recent reports as they are, but not longer than wanted; of each
// older one a line with who did what, how it ended and where the whole is. The history itself stays whole.
import { DELEGATE_TOOL } from "../delegation/types.ts";
import type { ToolCall, ToolMessage } from "../messages.ts";
import { capText } from "./cut-text.ts";
import { estimateText } from "./estimate.ts";
import { oneLine } from "./one-line.ts";
import type { Step } from "./steps.ts";

export interface LedgerPolicy {
  /** How many reports stay as they are. */
  keepRawDelegateResults?: number | undefined;
  maxDelegateResultTokens?: number | undefined;
  /** Of all lines together. */
  ledgerTargetTokens?: number | undefined;
}

const MARK = "[Ledger] ";
const LEFT_OUT = `${MARK}left out`;
const MAX_REFERENCE_CHARS = 400;
const MAX_LINE_CHARS = 1000;
const REFERENCE = /^\[Reference: (.+)\]$/;
/** From the longest to the shortest that still says something. */
const SHORT: LineLength = { task: 60, outcome: 80 };
const LENGTHS: readonly LineLength[] = [{ task: 120, outcome: 200 }, SHORT, { task: 30, outcome: 0 }];

interface LineLength {
  task: number;
  outcome: number;
}

/** How a report ends that says where more of it is. */
export function referenceLine(reference: string): string {
  return `[Reference: ${oneLine(reference, MAX_REFERENCE_CHARS)}]`;
}

/** The same steps when nothing changes: without delegation nothing does. */
export function withLedger(steps: readonly Step[], policy: LedgerPolicy): readonly Step[] {
  const places = delegations(steps);
  if (places.length === 0) return steps;
  const { keepRawDelegateResults: keep, maxDelegateResultTokens: most, ledgerTargetTokens: target } = policy;
  // What the model has not read yet is no ledger's: it asked for it just now.
  const last = steps.length - 1;
  const older = keep === undefined ? [] : places.slice(0, Math.max(0, places.length - keep));
  const entries = older.filter(({ step }) => step !== last);
  const lines = ledgerLines(entries, target ?? Number.POSITIVE_INFINITY);
  const contents = new Map<ToolMessage, string>();
  if (most !== undefined)
    for (const { result } of places) contents.set(result, shorter(result.content, most));
  entries.forEach(({ result }, index) => {
    contents.set(result, lines[index] ?? LEFT_OUT);
  });
  const isSame = [...contents].every(([result, content]) => result.content === content);
  return isSame ? steps : steps.map((step) => replaced(step, contents));
}

/** For a summary; also of a result that is a line already. */
export function delegationLine(call: ToolCall, result: ToolMessage): string {
  if (isLine(result.content)) return oneLine(result.content.slice(MARK.length), MAX_LINE_CHARS);
  return lineOf(call, result, SHORT);
}

export function isDelegation({ name }: ToolCall): boolean {
  return name === DELEGATE_TOOL;
}

interface Place {
  step: number;
  call: ToolCall;
  result: ToolMessage;
}

function delegations(steps: readonly Step[]): Place[] {
  return steps.flatMap((step, index) => {
    if (step.kind === "user") return [];
    return (step.answer.toolCalls ?? []).flatMap((call, at) => {
      const result = step.results[at];
      return isDelegation(call) && result !== undefined ? [{ step: index, call, result }] : [];
    });
  });
}

/** One for each, within `maxTokens` together: newer ones have room first, the oldest are left out. */
function ledgerLines(places: readonly Place[], maxTokens: number): string[] {
  const least = estimateText(LEFT_OUT);
  let room = maxTokens - places.length * least;
  const newestFirst = places.toReversed().map((place) => {
    const line = lineWithin(place, room + least);
    room -= estimateText(line) - least;
    return line;
  });
  return newestFirst.reverse();
}

/** What is shorter than a line about it stays as it is. */
function lineWithin({ call, result }: Place, maxTokens: number): string {
  const { content } = result;
  const lines = isLine(content)
    ? [content]
    : LENGTHS.map((length) => `${MARK}${lineOf(call, result, length)}`);
  const line = lines.find((one) => estimateText(one) <= maxTokens) ?? LEFT_OUT;
  return estimateText(content) <= Math.min(estimateText(line), maxTokens) ? content : line;
}

function lineOf({ input }: ToolCall, { content, isError }: ToolMessage, length: LineLength): string {
  const { agent, task } = (typeof input === "object" ? (input ?? {}) : {}) as Record<string, unknown>;
  const { body, reference } = parted(content);
  const outcome = length.outcome === 0 ? "" : `: ${oneLine(body, length.outcome)}`;
  const who = oneLine(typeof agent === "string" ? agent : "?", 64);
  const what = oneLine(typeof task === "string" ? task : "", length.task);
  const where = reference === undefined ? "" : ` (${reference})`;
  return `${who}: ${what} → ${isError === true ? "failed" : "done"}${outcome}${where}`;
}

function isLine(content: string): boolean {
  return content.startsWith(MARK) && content.length <= MAX_LINE_CHARS && !content.includes("\n");
}

/** Only the last line counts: what stands before it is the sub-agent's own text. */
function parted(content: string): { body: string; reference?: string } {
  const at = content.lastIndexOf("\n") + 1;
  const reference = REFERENCE.exec(content.slice(at))?.[1];
  return reference === undefined ? { body: content } : { body: content.slice(0, at).trimEnd(), reference };
}

/** The reference stays whole as long as there is room for more than that. */
function shorter(content: string, maxTokens: number): string {
  if (estimateText(content) <= maxTokens) return content;
  const { body, reference } = parted(content);
  if (reference === undefined) return capText(content, maxTokens);
  const line = `\n\n${referenceLine(reference)}`;
  const room = maxTokens - estimateText(line) - 1;
  return room > estimateText(line) ? `${capText(body, room)}${line}` : capText(content, maxTokens);
}

function replaced(step: Step, contents: ReadonlyMap<ToolMessage, string>): Step {
  if (step.kind === "user") return step;
  const results = step.results.map((result) => {
    const content = contents.get(result) ?? result.content;
    return content === result.content ? result : { ...result, content };
  });
  return { ...step, results };
}
