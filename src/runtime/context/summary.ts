// The summary that replaces older turns: requests, answers, files, commands, sub-agents and failures. Built by rule, so
// the same turns always give the same text. It can be parsed, so that a later summary includes an earlier one.
import { readUserText, type ToolCall, type ToolMessage } from "../messages.ts";
import { estimateText } from "./estimate.ts";
import { formatDelegation, isDelegation } from "./ledger.ts";
import { shorten } from "./one-line.ts";
import type { Step } from "./steps.ts";

const SECTIONS = {
  asked: "The user asked",
  answered: "Said and decided",
  changed: "Files changed",
  read: "Files read",
  ran: "Commands run",
  delegated: "Delegated to sub-agents",
  failed: "What failed",
} as const;
type Section = keyof typeof SECTIONS;
const NAMES = Object.keys(SECTIONS) as Section[];

interface Lines {
  items: string[];
  /** How many older ones were dropped. */
  omitted: number;
}

export interface Summary {
  /** How many messages it replaces. */
  messages: number;
  sections: Record<Section, Lines>;
}

const HEAD = "[Summary of the earlier conversation]";
const NOTE = "Older messages were omitted to save space. Read a file again before you rely on what it said.";
const FIRST_ASK_CHARS = 1200;
const ASK_CHARS = 400;
const ANSWER_CHARS = 300;
const LINE_CHARS = 160;

export function createSummary(): Summary {
  const lines = (): Lines => ({ items: [], omitted: 0 });
  return {
    messages: 0,
    sections: {
      asked: lines(),
      answered: lines(),
      changed: lines(),
      read: lines(),
      ran: lines(),
      delegated: lines(),
      failed: lines(),
    },
  };
}

/** Adds more steps. Does not change `before`. */
export function extendSummary(before: Summary, steps: readonly Step[]): Summary {
  const summary = structuredClone(before);
  for (const step of steps) {
    if (step.kind === "user") {
      summary.messages += 1;
      const { asked } = summary.sections;
      const isFirst = asked.items.length + asked.omitted === 0;
      add(asked, shorten(readUserText(step.user), isFirst ? FIRST_ASK_CHARS : ASK_CHARS));
      continue;
    }
    summary.messages += 1 + step.results.length;
    const text = step.answer.content ?? "";
    add(summary.sections.answered, shorten(text, step.results.length > 0 ? LINE_CHARS : ANSWER_CHARS));
    (step.answer.toolCalls ?? []).forEach((call, index) => {
      addCall(summary, call, step.results[index]);
    });
  }
  return summary;
}

/** Marks text that a model wrote as a summary, so that it is recognized like one built by rule. */
export function wrapSummary({ messages }: Summary, text: string): string {
  return [HEAD, `${messages} messages. ${NOTE}`, text].join("\n");
}

/** The first request, which every summary keeps. */
export function renderFirstRequest({ sections: { asked } }: Summary): string {
  const [first] = asked.items;
  return first === undefined || asked.omitted > 0 ? "" : `## ${SECTIONS.asked} first\n- ${first}`;
}

/** At most `maxTokens` if possible: the oldest lines are dropped first, but the first request stays. */
export function renderSummary(summary: Summary, maxTokens: number): string {
  const trimmed = structuredClone(summary);
  let text = render(trimmed);
  for (let excess = estimateText(text) - maxTokens; excess > 0; excess = estimateText(text) - maxTokens) {
    if (!dropOldest(trimmed, excess)) return text;
    text = render(trimmed);
  }
  return text;
}

/** Undefined: not a summary. */
export function parseSummary(text: string): Summary | undefined {
  const [head, count, ...lines] = text.split("\n");
  const messages = Number(/^(\d+) messages\./.exec(count ?? "")?.[1]);
  if (head !== HEAD || !Number.isSafeInteger(messages)) return undefined;
  const summary = createSummary();
  summary.messages = messages;
  let section: Lines | undefined;
  for (const line of lines) {
    const title = NAMES.find((name) => line === `## ${SECTIONS[name]}`);
    if (title !== undefined) section = summary.sections[title];
    const omitted = /^- \((\d+) older left out\)$/.exec(line)?.[1];
    if (section === undefined || !line.startsWith("- ")) continue;
    if (omitted === undefined) section.items.push(line.slice(2));
    else section.omitted = Number(omitted);
  }
  return summary;
}

function addCall({ sections }: Summary, call: ToolCall, result: ToolMessage | undefined): void {
  const { name, input } = call;
  if (isDelegation(call) && result !== undefined) {
    add(sections.delegated, formatDelegation(call, result));
    return;
  }
  const readInput = (key: string) => {
    const value = typeof input === "object" && input !== null ? (input as Record<string, unknown>)[key] : "";
    return typeof value === "string" ? shorten(value, LINE_CHARS) : "";
  };
  const content = result?.content ?? "";
  const hasFailed = result?.isError === true;
  if (name === "bash" && readInput("command") !== "")
    add(sections.ran, `${readInput("command")} → ${readExit(content, hasFailed)}`);
  if (hasFailed) add(sections.failed, shorten(`${name} ${readInput("path")}: ${content}`, LINE_CHARS));
  else if (name === "read_file") addOnce(sections.read, readInput("path"));
  else if (name === "write_file" || name === "edit_file") addOnce(sections.changed, readInput("path"));
  else if (name === "apply_patch") for (const line of content.split("\n")) addOnce(sections.changed, line);
}

function readExit(content: string, hasFailed: boolean): string {
  const code = /\bexit(?:ed)?(?: with)?(?: code| status)?:? (\d{1,3})\b/i.exec(content)?.[1];
  return code === undefined ? (hasFailed ? "failed" : "ok") : `exit ${code}`;
}

function add(lines: Lines, item: string): void {
  if (item !== "") lines.items.push(item);
}

function addOnce(lines: Lines, item: string): void {
  lines.items = lines.items.filter((other) => other !== item);
  add(lines, item);
}

function render({ messages, sections }: Summary): string {
  const parts = NAMES.flatMap((name) => {
    const { items, omitted } = sections[name];
    if (items.length + omitted === 0) return [];
    const older = omitted === 0 ? [] : [`- (${omitted} older left out)`];
    return [`## ${SECTIONS[name]}`, ...older, ...items.map((item) => `- ${item}`)];
  });
  return [HEAD, `${messages} messages. ${NOTE}`, ...parts].join("\n");
}

/** Drops about `excess` tokens from the longest section. False: nothing left to drop. */
function dropOldest({ sections }: Summary, excess: number): boolean {
  const size = (name: Section) =>
    sections[name].items.slice(countProtected(name)).reduce((sum, item) => sum + estimateText(item) + 1, 0);
  let longest = NAMES.reduce((best, name) => (size(name) > size(best) ? name : best));
  let from = countProtected(longest);
  if (size(longest) === 0) {
    if (sections.asked.items.length === 0) return false;
    longest = "asked";
    from = 0;
  }
  const { items } = sections[longest];
  // At most half of the excess at once, so that sections shrink together.
  let dropped = 0;
  do {
    const [item = ""] = items.splice(from, 1);
    sections[longest].omitted += 1;
    dropped += estimateText(item) + 1;
  } while (dropped < excess / 2 && items.length > from);
  return true;
}

function countProtected(name: Section): number {
  return name === "asked" ? 1 : 0;
}
