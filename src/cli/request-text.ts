// A request as a person reads it before deciding: all of it, and none of it able to pass for our own words. What
// others wrote stands behind a bar on every row of the screen, also where a long line breaks; the rest is ours.
import { reveal, revealLine } from "../base/sanitize.ts";
import type { Choice, Decision, Question, RequestRow } from "../client/index.ts";
import { behindBar, cutTo } from "./bar.ts";
import { entriesText, inputText, newlineNotes } from "./request-input.ts";

/** How a program calls what can be decided, and the command that shows a request whole. */
export interface RequestWords {
  show: string;
  verbs: Readonly<Record<Decision, string>>;
}

export const BLEMEESCTL_WORDS: RequestWords = {
  show: "blemeesctl requests",
  verbs: {
    accept: "accept",
    acceptForSession: "accept-session",
    acceptAlways: "always",
    decline: "decline",
    cancel: "cancel",
  },
};

const MEANING: Record<Decision, string> = {
  accept: "this once",
  acceptForSession: "and remember it until the agent ends",
  acceptAlways: "and remember it for good",
  decline: "the agent goes on without it",
  cancel: "decline, and stop the turn",
};

/** `hint` says how to answer from here. */
export function requestLines(
  row: RequestRow,
  hint: string,
  columns: number,
  words: RequestWords = BLEMEESCTL_WORDS,
): string[] {
  const { payload, path } = row;
  const quote = (text: string): string[] => behindBar(reveal(text), columns);
  const part = (title: string, text: string | undefined): string[] =>
    text === undefined || text === "" ? [] : [`  ${title}${lineCount(text)}:`, ...quote(text)];
  return [
    `? ${revealLine(row.backend)} asks (${row.request_type}):`,
    ...quote(revealLine(payload.title)),
    `  request ${revealLine(row.request_id)}`,
    `  session ${revealLine(row.session_id)}`,
    ...part("for the sub-agent", path?.join("\n")),
    ...part("because", payload.reason),
    ...part("command", payload.command),
    ...part("in", payload.cwd),
    ...(payload.changes ?? []).flatMap(({ kind, path: file, move_path, diff }) => [
      ...part(`${kind} the file`, file),
      ...part("move it to", move_path),
      ...part("as follows", diff),
    ]),
    ...newlineNotes(payload).map((note) => `  ${note}`),
    ...part("plan", payload.plan),
    ...part(`input of ${cutTo(revealLine(payload.tool_name ?? "the tool"), 40)}`, inputText(payload)),
    ...part("it also says", entriesText(payload.details)),
    ...(payload.questions ?? []).flatMap((question, at) => questionLines(question, at + 1, part, quote)),
    ...(row.is_cut ? [`  (cut; ${words.show} ${revealLine(row.request_id)} shows it whole)`] : []),
    "  choices:",
    ...payload.choices.flatMap((choice) => choiceLines(choice, row, part, words)),
    `  ${hint}`,
  ];
}

/** What can be said to this request, for a hint. */
export function verbsFor({ payload }: RequestRow, words: RequestWords = BLEMEESCTL_WORDS): string {
  const hasQuestions = payload.questions !== undefined;
  return payload.choices.map(({ decision }) => verbFor(decision, hasQuestions, words)).join(", ");
}

function verbFor(decision: Decision, hasQuestions: boolean, { verbs }: RequestWords): string {
  return decision === "accept" && hasQuestions ? "answer" : verbs[decision];
}

type Part = (title: string, text: string | undefined) => string[];

function choiceLines(choice: Choice, { payload }: RequestRow, part: Part, words: RequestWords): string[] {
  const { decision, takes = [], remembers, writes = [] } = choice;
  const verb = verbFor(decision, payload.questions !== undefined, words);
  const extra = verb === "answer" ? " 1=TEXT 2=TEXT …" : takes.map((name) => EXTRAS[name]).join("");
  const meaning = verb === "answer" ? "the questions by their numbers" : MEANING[decision];
  return [
    `    ${`${verb}${extra}`.padEnd(24)}  ${meaning}`,
    ...part("  from then on", remembers?.join("\n")),
    ...writes.flatMap(({ path, content }) => [
      ...part("  this changes the file", path),
      ...part("  as follows", content),
    ]),
  ];
}

const EXTRAS = { message: " [message…]", updated_input: " [--input JSON]" } as const;

function questionLines(
  question: Question,
  number: number,
  part: Part,
  quote: (text: string) => string[],
): string[] {
  const { options = [], multi_select, allows_other, is_secret, header } = question;
  const how = [
    ...(options.length === 0 ? [] : [multi_select ? "choose some" : "choose one"]),
    ...(options.length > 0 && allows_other ? ["or say it in your own words"] : []),
    ...(is_secret ? ["the answer is kept secret"] : []),
  ];
  return [
    ...part(`question ${number}${how.length === 0 ? "" : ` (${how.join("; ")})`}`, question.question),
    ...(header === undefined ? [] : quote(`[${header}]`)),
    ...options.flatMap(({ label, description }) =>
      quote(`• ${revealLine(label)}${description === undefined ? "" : `: ${description}`}`),
    ),
  ];
}

function lineCount(text: string): string {
  const count = text.replace(/\n$/, "").split("\n").length;
  return count > 1 ? ` (${count} lines)` : "";
}
