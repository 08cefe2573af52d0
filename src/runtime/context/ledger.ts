// The ledger of sub-agent reports in a request: recent reports are kept, within a limit; each older one becomes a line
// with the agent, the task, the outcome and where the full report is. The history itself is unchanged.
import { DELEGATE_TOOL } from "../delegation/types.ts";
import type { ToolCall, ToolMessage } from "../messages.ts";
import { capText } from "./cut-text.ts";
import { estimateText } from "./estimate.ts";
import { toOneLine } from "./one-line.ts";
import type { Step } from "./steps.ts";

export interface LedgerPolicy {
  /** How many reports are kept. */
  keepRawDelegateResults?: number | undefined;
  maxDelegateResultTokens?: number | undefined;
  /** Limit of all lines together. */
  ledgerTargetTokens?: number | undefined;
}

const MARK = "[Ledger] ";
const LEFT_OUT = `${MARK}left out`;
const MAX_REFERENCE_CHARS = 400;
const MAX_LINE_CHARS = 1000;
const REFERENCE = /^\[Reference: (.+)\]$/;
/** From the longest to the shortest useful form. */
const SHORT: LineLength = { task: 60, outcome: 80 };
const LENGTHS: readonly LineLength[] = [{ task: 120, outcome: 200 }, SHORT, { task: 30, outcome: 0 }];

interface LineLength {
  task: number;
  outcome: number;
}

/** The last line of a report that says where to find the rest. */
export function formatReference(reference: string): string {
  return `[Reference: ${toOneLine(reference, MAX_REFERENCE_CHARS)}]`;
}

/** Returns the same steps if nothing changes, as without delegation. */
export function withLedger(steps: readonly Step[], policy: LedgerPolicy): readonly Step[] {
  const places = delegations(steps);
  if (places.length === 0) return steps;
  const { keepRawDelegateResults: keep, maxDelegateResultTokens: most, ledgerTargetTokens: target } = policy;
  // Results the model has not read yet are not shortened.
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
  return isSame ? steps : steps.map((step) => replaceResults(step, contents));
}

/** For a summary; also for a result that is already a line. */
export function formatDelegation(call: ToolCall, result: ToolMessage): string {
  if (isLine(result.content)) return toOneLine(result.content.slice(MARK.length), MAX_LINE_CHARS);
  return renderLine(call, result, SHORT);
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

/** One line per report, within `maxTokens` in total: newer ones first, the oldest are omitted. */
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

/** A report shorter than its line is kept. */
function lineWithin({ call, result }: Place, maxTokens: number): string {
  const { content } = result;
  const lines = isLine(content)
    ? [content]
    : LENGTHS.map((length) => `${MARK}${renderLine(call, result, length)}`);
  const line = lines.find((one) => estimateText(one) <= maxTokens) ?? LEFT_OUT;
  return estimateText(content) <= Math.min(estimateText(line), maxTokens) ? content : line;
}

function renderLine({ input }: ToolCall, { content, isError }: ToolMessage, length: LineLength): string {
  const { agent, task } = (typeof input === "object" ? (input ?? {}) : {}) as Record<string, unknown>;
  const { body, reference } = splitReference(content);
  const outcome = length.outcome === 0 ? "" : `: ${toOneLine(body, length.outcome)}`;
  const who = toOneLine(typeof agent === "string" ? agent : "?", 64);
  const what = toOneLine(typeof task === "string" ? task : "", length.task);
  const where = reference === undefined ? "" : ` (${reference})`;
  return `${who}: ${what} → ${isError === true ? "failed" : "done"}${outcome}${where}`;
}

function isLine(content: string): boolean {
  return content.startsWith(MARK) && content.length <= MAX_LINE_CHARS && !content.includes("\n");
}

/** Only the last line counts: everything above it is the sub-agent's text. */
function splitReference(content: string): { body: string; reference?: string } {
  const at = content.lastIndexOf("\n") + 1;
  const reference = REFERENCE.exec(content.slice(at))?.[1];
  return reference === undefined ? { body: content } : { body: content.slice(0, at).trimEnd(), reference };
}

/** The reference stays whole as long as there is room for more. */
function shorter(content: string, maxTokens: number): string {
  if (estimateText(content) <= maxTokens) return content;
  const { body, reference } = splitReference(content);
  if (reference === undefined) return capText(content, maxTokens);
  const line = `\n\n${formatReference(reference)}`;
  const room = maxTokens - estimateText(line) - 1;
  return room > estimateText(line) ? `${capText(body, room)}${line}` : capText(content, maxTokens);
}

function replaceResults(step: Step, contents: ReadonlyMap<ToolMessage, string>): Step {
  if (step.kind === "user") return step;
  const results = step.results.map((result) => {
    const content = contents.get(result) ?? result.content;
    return content === result.content ? result : { ...result, content };
  });
  return { ...step, results };
}
