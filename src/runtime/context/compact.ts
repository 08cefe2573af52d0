// Builds the context of a request: the system prompt, a summary of older turns as a message, then recent turns
// unchanged, with a ledger of sub-agent reports. A request starts with the previous one, so that the provider's cache
// holds, until it is too long; then much is folded at once. By rule and without I/O. Only /compact changes the history
// itself.
import type { Message } from "../messages.ts";
import type { CompactReport } from "../session-types.ts";
import { cutAnswer, cutResults, fitResults } from "./cut.ts";
import { estimateMessage, estimateMessages, estimateText } from "./estimate.ts";
import { type LedgerPolicy, withLedger } from "./ledger.ts";
import { findTurnStarts, type Step, toMessages, toSteps } from "./steps.ts";
import {
  createSummary,
  extendSummary,
  parseSummary,
  renderSummary,
  type Summary,
  wrapSummary,
} from "./summary.ts";

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
  /** "model": the model writes the summary of a fold (write-summary.ts). */
  compression?: string;
}

export interface ContextOrder {
  system: string;
  history: readonly Message[];
  policy: ContextPolicy;
  /** Other tokens in the request: the tool descriptions. */
  overheadTokens?: number;
  /** Of the previous request. */
  view?: ContextView | undefined;
}

export interface CompiledContext {
  /** One system message, then the conversation. */
  messages: Message[];
  estimatedTokens: number;
  /** Only if this request folds or cuts more than the previous one. */
  compacted?: CompactReport;
  /** For the next request. */
  view: ContextView;
}

/** The part of a history that a request showed. */
export interface ContextView {
  draft: Draft;
  /** How many messages of the history it covers, and the last of them: a rewritten history has a different one. */
  covered: number;
  last: Message | undefined;
  /** The size at which to fold again, and the threshold it was computed for: it changes with the model. */
  foldAtTokens: number;
  threshold: number;
}

/** The share of the space between minimum and threshold that a fold leaves in use: folds are rare and large. */
const KEPT_SHARE = 0.25;
/** Steps of a long turn that /compact keeps. */
const STEPS_PER_TURN = 4;
const HARD_CUTS = [1000, 500, 250, 120, 60];

export function compileContext(order: ContextOrder): CompiledContext {
  const { system, history, policy, view, overheadTokens = 0 } = order;
  const measure = (draft: Draft): number =>
    estimateMessages(toRequest(system, draft), policy.reserveForImagesTokens) + overheadTokens;
  const threshold = Math.floor(policy.maxContextTokens * policy.compactAtRatio);
  const covered = { covered: history.length, last: history.at(-1), threshold };
  const grown = grow(view, history, policy);
  const current = grown ?? addLedger(split(history), policy);
  const before = measure(current);
  const isSame = grown !== undefined && view?.threshold === threshold;
  const foldAtTokens = isSame ? view.foldAtTokens : threshold;
  if (before < foldAtTokens && isShort(current, policy.maxRawMessages)) {
    const next = { draft: current, ...covered, foldAtTokens };
    return { messages: toRequest(system, current), estimatedTokens: before, view: next };
  }
  const whole = grown === undefined ? current : addLedger(split(history), policy);
  const chosen = choose(whole, policy, measure);
  const after = measure(chosen);
  // A context that cannot get below the threshold is not folded again for every few tokens.
  const again = after < threshold ? threshold : Math.ceil((after + policy.maxContextTokens) / 2);
  const next = { draft: chosen, ...covered, foldAtTokens: Math.min(again, policy.maxContextTokens) };
  const made = { messages: toRequest(system, chosen), estimatedTokens: after, view: next };
  return chosen === whole ? made : { ...made, compacted: createReport(whole, chosen, measure(whole), after) };
}

/** The messages of the request that left this view. */
export function renderView(system: string, { draft }: ContextView): Message[] {
  return toRequest(system, draft);
}

/** The same context with a summary that the model wrote. */
export function replaceSummary(system: string, compiled: CompiledContext, written: string): CompiledContext {
  const { draft } = compiled.view;
  if (draft.summary === undefined) return compiled;
  const text = wrapSummary(draft.summary.content, written);
  const grownTokens = estimateText(text) - estimateText(draft.summary.text);
  const next = { ...draft, summary: { ...draft.summary, text } };
  return {
    ...compiled,
    messages: toRequest(system, next),
    estimatedTokens: compiled.estimatedTokens + grownTokens,
    view: { ...compiled.view, draft: next },
  };
}

/** For `/compact`: folds as much as is useful. Undefined: too little, or no gain. */
export function compactHistory(
  history: readonly Message[],
  policy: Omit<ContextPolicy, "maxContextTokens" | "compactAtRatio">,
): { history: Message[]; report: CompactReport } | undefined {
  const whole = split(history);
  const measure = (draft: Draft) => estimateMessages(toHistory(draft), policy.reserveForImagesTokens);
  const starts = findTurnStarts(whole.steps);
  const turn = starts.at(-policy.minRecentTurns) ?? 0;
  // Few but long turns: fold their beginning too.
  const step = whole.steps.length - policy.recentTurns * STEPS_PER_TURN;
  const count = Math.max(turn, step, 0);
  const folded = fold(whole, count, policy.summaryTargetTokens);
  if (folded === whole) return undefined;
  const [before, after] = [measure(whole), measure(folded)];
  if (after >= before) return undefined;
  return { history: toHistory(folded), report: createReport(whole, folded, before, after) };
}

/** Keeps the last turns unchanged and folds all before them into a summary. Undefined: nothing to fold. */
export function foldTurns(
  history: readonly Message[],
  policy: Pick<ContextPolicy, "recentTurns" | "summaryTargetTokens">,
): Message[] | undefined {
  const whole = split(history);
  const count = findTurnStarts(whole.steps).at(-policy.recentTurns) ?? 0;
  const folded = fold(whole, count, policy.summaryTargetTokens);
  return folded === whole ? undefined : toHistory(folded);
}

interface Draft {
  summary?: { content: Summary; text: string };
  steps: readonly Step[];
  /** Messages that are newly in the summary. */
  folded: number;
}

function split(history: readonly Message[]): Draft {
  const conversation = history.filter(({ role }) => role !== "system");
  const content = summaryIn(conversation[0]);
  if (content === undefined) return { steps: toSteps(conversation), folded: 0 };
  const text = String(conversation[0]?.content);
  return { summary: { content, text }, steps: toSteps(conversation.slice(1)), folded: 0 };
}

/** The previous request plus new messages. Undefined: no previous request, or the history was rewritten. */
function grow(
  view: ContextView | undefined,
  history: readonly Message[],
  policy: LedgerPolicy,
): Draft | undefined {
  if (view === undefined || history[view.covered - 1] !== view.last || history.length < view.covered) return;
  const since = toSteps(history.slice(view.covered));
  const capped = withLedger(since, { ...policy, keepRawDelegateResults: undefined });
  return { ...view.draft, steps: [...view.draft.steps, ...capped] };
}

function addLedger(draft: Draft, policy: LedgerPolicy): Draft {
  const steps = withLedger(draft.steps, policy);
  return steps === draft.steps ? draft : { ...draft, steps };
}

/** The first message of a history after `/compact`. */
function summaryIn(message: Message | undefined): Summary | undefined {
  return message?.role === "user" && typeof message.content === "string"
    ? parseSummary(message.content)
    : undefined;
}

function toRequest(system: string, draft: Draft): Message[] {
  return [{ role: "system", content: system }, ...toHistory(draft)];
}

/** The summary is a user message: chat templates of local models accept only one system message, at the start. */
function toHistory({ summary, steps }: Draft): Message[] {
  const first: Message[] = summary === undefined ? [] : [{ role: "user", content: summary.text }];
  return [...first, ...toMessages(steps)];
}

type Measure = (draft: Draft) => number;

function isShort({ steps }: Draft, maxMessages = Number.POSITIVE_INFINITY): boolean {
  return toMessages(steps).length <= maxMessages;
}

function choose(whole: Draft, policy: ContextPolicy, measure: Measure): Draft {
  const { maxContextTokens, compactAtRatio, maxRawMessages } = policy;
  const threshold = Math.floor(maxContextTokens * compactAtRatio);
  const before = measure(whole);
  let best = whole;
  let bestTokens = before;
  const take = (draft: Draft, mostTokens: number): boolean => {
    const tokens = measure(draft);
    if (tokens < bestTokens) {
      best = draft;
      bestTokens = tokens;
    }
    return tokens < before && tokens <= mostTokens && isShort(draft, maxRawMessages);
  };
  const least = stepsFolded(whole, whole.steps.length - policy.minRecentTurns, policy);
  const fitsLeast = take(least, maxContextTokens);
  const spare = Math.max(0, threshold - bestTokens);
  const goal = Math.min(maxContextTokens, Math.floor(bestTokens + KEPT_SHARE * spare));
  for (const draft of softDrafts(whole, policy, goal)) if (take(draft, goal)) return draft;
  if (fitsLeast) return least;
  if (bestTokens <= maxContextTokens) return best;
  for (const draft of tightDrafts(whole, policy, measure)) if (take(draft, maxContextTokens)) return draft;
  return best;
}

/** From mild to drastic: fewer turns, shorter results, then fewer steps of the remaining turns. */
function* softDrafts(whole: Draft, policy: ContextPolicy, goal: number): Generator<Draft> {
  const { steps } = whole;
  const { summaryTargetTokens: target, maxRawMessages } = policy;
  const starts = findTurnStarts(steps);
  for (let turns = Math.min(policy.recentTurns, starts.length); turns >= policy.minRecentTurns; turns -= 1) {
    const count = starts.at(-turns) ?? 0;
    if (count === 0) continue;
    const draft = fold(whole, count, target);
    // With a limit on messages, leave room for new ones too.
    if (maxRawMessages === undefined || isShort(draft, maxRawMessages / 2)) yield draft;
  }
  const least = starts.at(-policy.minRecentTurns) ?? 0;
  yield stepsFolded(whole, least, policy);
  const last = steps.length - policy.minRecentTurns;
  const sizes = steps.map((step) => measureSize(step, policy.maxInlineToolResultTokens));
  let tail = sizes.slice(least).reduce((sum, size) => sum + size, 0);
  for (let count = least + 1; count <= last; count += 1) {
    tail -= sizes[count - 1] ?? 0;
    // Summaries are slow: only built if they might fit.
    if (count < last && tail > goal) continue;
    yield stepsFolded(whole, count, policy);
  }
}

/** Lower bound of a step's size with its results cut, computed without cutting. */
function measureSize(step: Step, maxTokens: number): number {
  if (step.kind === "user") return estimateMessage(step.user);
  const results = step.results.map((result) => Math.min(estimateMessage(result), maxTokens));
  return results.reduce((sum, size) => sum + size, estimateMessage(step.answer));
}

/** Older results are cut too; those of the last step are whole. */
function stepsFolded(whole: Draft, count: number, policy: ContextPolicy): Draft {
  const draft = fold(whole, Math.max(0, count), policy.summaryTargetTokens);
  const last = draft.steps.length - 1;
  const shorter = (step: Step) => cutResults(step, policy.maxInlineToolResultTokens);
  return { ...draft, steps: draft.steps.map((step, index) => (index < last ? shorter(step) : step)) };
}

/** Last resort: only the current request and the last answer, whose results get the remaining space. */
function* tightDrafts(whole: Draft, policy: ContextPolicy, measure: Measure): Generator<Draft> {
  const count = Math.max(0, whole.steps.length - 1);
  const fitToRoom = (draft: Draft): Draft => {
    const bare = { ...draft, steps: draft.steps.map((step) => fitResults(step, 0)) };
    const room = policy.maxContextTokens - measure(bare);
    return { ...draft, steps: draft.steps.map((step) => fitResults(step, room)) };
  };
  const folded = fold(whole, count, policy.summaryTargetTokens);
  yield fitToRoom(folded);
  for (const [index, maxTokens] of HARD_CUTS.entries()) {
    const less = fold(whole, count, Math.floor(policy.summaryTargetTokens / 2 ** index));
    yield fitToRoom({ ...less, steps: less.steps.map((step) => cutAnswer(step, maxTokens)) });
  }
}

/** The first `count` steps go into the summary, except the current request. */
function fold(whole: Draft, count: number, targetTokens: number): Draft {
  const { steps } = whole;
  const current = steps.findLastIndex(({ kind }) => kind === "user");
  const gone = steps.slice(0, count).filter((_, index) => index !== current);
  const text = whole.summary?.text ?? "";
  if (gone.length === 0 && estimateText(text) <= targetTokens) return whole;
  const content = extendSummary(whole.summary?.content ?? createSummary(), gone);
  const kept = steps.filter((_, index) => index === current || index >= count);
  return {
    summary: { content, text: renderSummary(content, targetTokens) },
    steps: kept,
    folded: toMessages(gone).length,
  };
}

function createReport(whole: Draft, chosen: Draft, beforeTokens: number, afterTokens: number): CompactReport {
  return {
    beforeTokens,
    afterTokens,
    dropped: chosen.folded,
    kept: toMessages(chosen.steps).length,
    summaryTokens: estimateText((chosen.summary ?? whole.summary)?.text ?? ""),
  };
}
