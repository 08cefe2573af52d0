// What a request shows to the model when the conversation is long (§7): the system prompt with a summary of older turns,
// then recent turns as they were, with a ledger of what sub-agents reported. By rule and without I/O: the same history always gives the same request. The history
// itself stays whole, but for /compact.
import type { Message } from "../messages.ts";
import type { CompactReport } from "../session-types.ts";
import { cutAnswer, cutResults } from "./cut.ts";
import { estimateMessage, estimateMessages, estimateText } from "./estimate.ts";
import { type LedgerPolicy, withLedger } from "./ledger.ts";
import { type Step, toMessages, toSteps, turnStarts } from "./steps.ts";
import { emptySummary, extendSummary, parseSummary, renderSummary, type Summary } from "./summary.ts";

/** `context.main` of the configuration. */
export interface ContextPolicy extends LedgerPolicy {
  maxContextTokens: number;
  compactAtRatio: number;
  summaryTargetTokens: number;
  recentTurns: number;
  minRecentTurns: number;
  maxRawMessages?: number | undefined;
  maxInlineToolResultTokens: number;
  reserveForImagesTokens: number;
}

export interface ContextOrder {
  system: string;
  history: readonly Message[];
  policy: ContextPolicy;
  /** What else counts in the request: the descriptions of the tools. */
  overheadTokens?: number;
}

export interface CompiledContext {
  /** One system message, then the conversation. */
  messages: Message[];
  estimatedTokens: number;
  /** Only when something was left out or cut. */
  compacted?: CompactReport;
}

/** Where a turn is cut it is at a multiple of this, so that the request keeps its beginning for a while (caches). */
const GRID = 4;
/** What /compact keeps of a long turn. */
const STEPS_PER_TURN = 4;
const HARD_CUTS = [1000, 500, 250, 120, 60];

export function compileContext(order: ContextOrder): CompiledContext {
  const { system, policy, overheadTokens = 0 } = order;
  const whole = ledgered(split(order.history), policy);
  const measure = (draft: Draft): number =>
    estimateMessages(requestOf(system, draft), policy.reserveForImagesTokens) + overheadTokens;
  const before = measure(whole);
  const chosen = choose(whole, policy, measure, before);
  const estimatedTokens = chosen === whole ? before : measure(chosen);
  const messages = requestOf(system, chosen);
  if (chosen === whole) return { messages, estimatedTokens };
  return { messages, estimatedTokens, compacted: reportOf(whole, chosen, before, estimatedTokens) };
}

/** For `/compact`: as much as makes sense, at once. Undefined: there is too little, or nothing would be gained. */
export function compactHistory(
  history: readonly Message[],
  policy: ContextPolicy,
): { history: Message[]; report: CompactReport } | undefined {
  const whole = split(history);
  const measure = (draft: Draft) => estimateMessages(storedOf(draft), policy.reserveForImagesTokens);
  const starts = turnStarts(whole.steps);
  const turn = starts.at(-policy.minRecentTurns) ?? 0;
  // Few turns, but long ones: then the beginning of them goes too.
  const step = whole.steps.length - policy.recentTurns * STEPS_PER_TURN;
  const count = Math.max(turn, step, 0);
  const folded = fold(whole, count, policy.summaryTargetTokens);
  if (folded === whole) return undefined;
  const [before, after] = [measure(whole), measure(folded)];
  if (after >= before) return undefined;
  return { history: storedOf(folded), report: reportOf(whole, folded, before, after) };
}

/** Keeps the last turns as they are and folds all before them into a summary. Undefined: there is nothing before them. */
export function foldTurns(
  history: readonly Message[],
  policy: Pick<ContextPolicy, "recentTurns" | "summaryTargetTokens">,
): Message[] | undefined {
  const whole = split(history);
  const count = turnStarts(whole.steps).at(-policy.recentTurns) ?? 0;
  const folded = fold(whole, count, policy.summaryTargetTokens);
  return folded === whole ? undefined : storedOf(folded);
}

interface Draft {
  summary?: { content: Summary; text: string };
  steps: readonly Step[];
  /** Messages that are in the summary now and were not before. */
  folded: number;
}

function split(history: readonly Message[]): Draft {
  const conversation = history.filter(({ role }) => role !== "system");
  const content = summaryIn(conversation[0]);
  if (content === undefined) return { steps: toSteps(conversation), folded: 0 };
  const text = String(conversation[0]?.content);
  return { summary: { content, text }, steps: toSteps(conversation.slice(1)), folded: 0 };
}

function ledgered(draft: Draft, policy: LedgerPolicy): Draft {
  const steps = withLedger(draft.steps, policy);
  return steps === draft.steps ? draft : { ...draft, steps };
}

/** What a history begins with after `/compact`. */
function summaryIn(message: Message | undefined): Summary | undefined {
  return message?.role === "user" && typeof message.content === "string"
    ? parseSummary(message.content)
    : undefined;
}

function requestOf(system: string, { summary, steps }: Draft): Message[] {
  // Chat templates of local models take one system message only, and only at the beginning.
  const content = summary === undefined ? system : `${system}\n\n${summary.text}`;
  return [{ role: "system", content }, ...toMessages(steps)];
}

/** In a history the summary is a user message: system messages are not part of histories. */
function storedOf({ summary, steps }: Draft): Message[] {
  const first: Message[] = summary === undefined ? [] : [{ role: "user", content: summary.text }];
  return [...first, ...toMessages(steps)];
}

type Measure = (draft: Draft) => number;

function choose(whole: Draft, policy: ContextPolicy, measure: Measure, before: number): Draft {
  const threshold = Math.floor(policy.maxContextTokens * policy.compactAtRatio);
  const maxRaw = policy.maxRawMessages ?? Number.POSITIVE_INFINITY;
  const isShort = ({ steps }: Draft) => toMessages(steps).length <= maxRaw;
  if (before < threshold && isShort(whole)) return whole;
  let best = whole;
  let bestTokens = before;
  const take = (draft: Draft, goal: number): boolean => {
    const tokens = measure(draft);
    if (tokens < bestTokens) {
      best = draft;
      bestTokens = tokens;
    }
    return tokens < before && tokens < goal && isShort(draft);
  };
  for (const draft of softDrafts(whole, policy, threshold)) if (take(draft, threshold)) return draft;
  if (bestTokens <= policy.maxContextTokens) return best;
  for (const draft of hardDrafts(whole, policy)) if (take(draft, policy.maxContextTokens + 1)) return draft;
  return best;
}

/** From the mildest: fewer turns, then shorter results, then fewer steps of the turns that are left. */
function* softDrafts(whole: Draft, policy: ContextPolicy, threshold: number): Generator<Draft> {
  const { steps } = whole;
  const target = policy.summaryTargetTokens;
  const starts = turnStarts(steps);
  for (let turns = Math.min(policy.recentTurns, starts.length); turns >= policy.minRecentTurns; turns -= 1) {
    const count = starts.at(-turns) ?? 0;
    if (count > 0) yield fold(whole, count, target);
  }
  const least = starts.at(-policy.minRecentTurns) ?? 0;
  yield shorter(fold(whole, least, target), policy.maxInlineToolResultTokens);
  const last = steps.length - policy.minRecentTurns;
  const sizes = steps.map((step) => sizeOf(step, policy.maxInlineToolResultTokens));
  let tail = sizes.slice(least).reduce((sum, size) => sum + size, 0);
  for (let count = least + 1; count <= last; count += 1) {
    tail -= sizes[count - 1] ?? 0;
    // Summaries cost time: they are made only where there is a chance.
    if (count < last && (count % GRID !== 0 || tail + target >= threshold)) continue;
    yield shorter(fold(whole, count, target), policy.maxInlineToolResultTokens);
  }
}

/** What is left of a step at least when its results are cut: nothing is cut to find out. */
function sizeOf(step: Step, maxTokens: number): number {
  if (step.kind === "user") return estimateMessage(step.user);
  const results = step.results.map((result) => Math.min(estimateMessage(result), maxTokens));
  return results.reduce((sum, size) => sum + size, estimateMessage(step.answer));
}

/** The last resort: only the current request and the last answer, shorter and shorter. */
function* hardDrafts(whole: Draft, policy: ContextPolicy): Generator<Draft> {
  const count = Math.max(0, whole.steps.length - 1);
  for (const [index, maxTokens] of HARD_CUTS.entries()) {
    const target = Math.floor(policy.summaryTargetTokens / 2 ** index);
    const folded = fold(whole, count, target);
    yield { ...folded, steps: folded.steps.map((step) => cutAnswer(step, maxTokens)) };
  }
}

function shorter(draft: Draft, maxTokens: number): Draft {
  const last = draft.steps.length - 1;
  return {
    ...draft,
    steps: draft.steps.map((step, index) => (index < last ? cutResults(step, maxTokens) : step)),
  };
}

/** The first `count` steps go into the summary, but for the request that is being worked on. */
function fold(whole: Draft, count: number, targetTokens: number): Draft {
  const { steps } = whole;
  const current = steps.findLastIndex(({ kind }) => kind === "user");
  const gone = steps.slice(0, count).filter((_, index) => index !== current);
  const text = whole.summary?.text ?? "";
  if (gone.length === 0 && estimateText(text) <= targetTokens) return whole;
  const content = extendSummary(whole.summary?.content ?? emptySummary(), gone);
  const kept = steps.filter((_, index) => index === current || index >= count);
  return {
    summary: { content, text: renderSummary(content, targetTokens) },
    steps: kept,
    folded: toMessages(gone).length,
  };
}

function reportOf(whole: Draft, chosen: Draft, beforeTokens: number, afterTokens: number): CompactReport {
  return {
    beforeTokens,
    afterTokens,
    dropped: chosen.folded,
    kept: toMessages(chosen.steps).length,
    summaryTokens: estimateText((chosen.summary ?? whole.summary)?.text ?? ""),
  };
}
