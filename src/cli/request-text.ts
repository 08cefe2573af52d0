// A request as lines for a terminal. What others wrote is behind a bar on every row, also where a long line breaks, so
// it cannot pass for our own words.
import { reveal, revealLine } from "../base/sanitize.ts";
import { shellWord } from "../base/shell-word.ts";
import type { Answer, Decision, RequestRow } from "../client/index.ts";
import {
  type CardChoice,
  choiceOf,
  type RequestPart,
  requestCard,
  requestDetails,
} from "../client/view/request-card.ts";
import { behindBar, besideBar, cutTo } from "./bar.ts";
import { UsageError } from "./command.ts";

/** What a program calls the decisions, and the command that shows a request with its details. */
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

export interface RequestTextOptions {
  words?: RequestWords;
  /** The session's name. */
  name?: string | undefined;
  hasDetails?: boolean;
  /** Already decided: only the choice that this takes is listed. */
  answer?: Answer;
}

const MAX_NAME = 40;

/** `hint` says how to answer from here. */
export function requestLines(
  row: RequestRow,
  hint: string,
  columns: number,
  { words = BLEMEESCTL_WORDS, name, hasDetails = false, answer }: RequestTextOptions = {},
): string[] {
  const { asks, parts, questions, choices } = requestCard(row);
  const draw = (part: RequestPart): string[] => partLines(part, columns, "  ");
  const taken = answer === undefined ? undefined : choiceOf(row, answer);
  const listed = choices.filter(({ choice }) => taken === undefined || choice === taken);
  const verbs = listed.map((choice) => commandFor(choice, words));
  const widest = Math.max(0, ...verbs.map((verb) => verb.length));
  const agent = cutTo(revealLine(row.backend), MAX_NAME);
  return [
    `? ${name === undefined ? agent : `${cutTo(revealLine(name), MAX_NAME)} (${agent})`} ${asks}:`,
    ...[...parts, ...questions].flatMap(draw),
    ...(row.is_cut ? ["  (truncated: this is not the whole request)"] : []),
    "  Choices:",
    ...listed.flatMap((choice, at) => [
      `    ${verbs[at]?.padEnd(widest)}  ${choice.meaning}`,
      ...choice.notes.flatMap((note) => partLines(note, columns, "      ")),
    ]),
    ...(hasDetails
      ? ["  Details:", ...requestDetails(row).flatMap(draw)]
      : [`  Details: ${words.show} ${revealLine(row.request_id)}`]),
    `  ${hint}`,
  ];
}

/** Throws if the request waits and does not offer this answer, in the words of the program. */
export function requireOffered(
  row: RequestRow,
  answer: Answer,
  words: RequestWords = BLEMEESCTL_WORDS,
): void {
  if (row.status !== "pending" || choiceOf(row, answer) !== undefined) return;
  const offered = requestCard(row).choices.map(
    (choice) => `${verbFor(choice, words)}${optionFlag(choice.choice.option)}`,
  );
  const { decision, option } = "decision" in answer ? answer : { decision: "accept" as const };
  const said = `${words.verbs[decision]}${optionFlag(option)}`;
  throw new UsageError(`this request does not offer "${said}"; it offers: ${offered.join(", ")}`);
}

/** What can be said to this request, for a hint. */
export function verbsFor(row: RequestRow, words: RequestWords = BLEMEESCTL_WORDS): string {
  const verbs = requestCard(row).choices.map((choice) => verbFor(choice, words));
  return [...new Set(verbs)].join(", ");
}

function verbFor({ choice, isAnswer }: CardChoice, { verbs }: RequestWords): string {
  return isAnswer ? "answer" : verbs[choice.decision];
}

/** The verb with what it takes. */
function commandFor(choice: CardChoice, words: RequestWords): string {
  const { takes: extras = [] } = choice.choice;
  const takes = extras.map((extra) => EXTRAS[extra]).join("");
  return `${verbFor(choice, words)}${optionFlag(choice.choice.option)}${choice.isAnswer ? " 1=TEXT 2=TEXT …" : takes}`;
}

function optionFlag(name: string | undefined): string {
  return name === undefined ? "" : ` --option ${shellWord(revealLine(name))}`;
}

/** A single line of others is beside our words about it if it fits, else below them. */
function partLines(part: RequestPart, columns: number, indent: string): string[] {
  if (part.kind === "words") {
    return [`${indent}${part.text}${part.id === undefined ? "" : ` ${revealLine(part.id)}`}`];
  }
  const { title, form } = part;
  const text = form === "line" ? revealLine(part.text) : reveal(part.text);
  const below = behindBar(text, columns, indent);
  if (title === undefined) return below;
  return besideBar(`${indent}${title}`, text, columns) ?? [`${indent}${title}:`, ...below];
}

const EXTRAS = { message: " [message…]", updated_input: " [--input JSON]" } as const;
