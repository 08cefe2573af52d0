// A request as lines for a terminal. Untrusted text has a bar on every row (bar.ts).
import { reveal, revealLine } from "../base/sanitize.ts";
import { quoteShellWord } from "../base/shell-word.ts";
import type { Answer, Decision, RequestRow } from "../client/index.ts";
import type { Asker, AskingSession } from "../client/view/asker.ts";
import {
  type CardChoice,
  findChoice,
  type RequestCard,
  type RequestPart,
  toRequestCard,
  toRequestDetails,
} from "../client/view/request-card.ts";
import { drawBarLine, drawBarLines, truncate } from "./bar.ts";
import { UsageError } from "./command.ts";

/** A program's name and its names for the decisions. */
export interface RequestWords {
  program: string;
  verbs: Readonly<Record<Decision, string>>;
}

export const BLEMEESCTL_WORDS: RequestWords = {
  program: "blemeesctl",
  verbs: {
    accept: "accept",
    acceptForSession: "accept-session",
    acceptAlways: "always",
    decline: "decline",
    cancel: "cancel",
  },
};

/** `blemees` and `sm`. */
export function createBlemeesWords(program: string): RequestWords {
  return {
    program,
    verbs: {
      accept: "approve",
      acceptForSession: "approve --session",
      acceptAlways: "approve --always",
      decline: "decline",
      cancel: "decline --cancel",
    },
  };
}

export interface RequestTextOptions {
  words?: RequestWords;
  /** The session that asks. */
  session?: AskingSession | undefined;
  /** Made by the caller, with all that ask for the same. */
  card?: RequestCard;
  hasDetails?: boolean;
  /** The chosen answer; only its choice is listed. */
  answer?: Answer;
}

const MAX_NAME = 40;
const MIN_NAME = 8;
/** Our own text around the names of session, agent and project. */
const AROUND_NAMES = "?  () in  :".length;

/** `hint`: the last line, how to answer. */
export function formatRequest(
  row: RequestRow,
  hint: string,
  columns: number,
  { words = BLEMEESCTL_WORDS, session, card, hasDetails = false, answer }: RequestTextOptions = {},
): string[] {
  const { who, others, asks, parts, why, questions, choices } = card ?? toRequestCard(row, session);
  const draw = (part: RequestPart): string[] => partLines(part, columns, "  ");
  const taken = answer === undefined ? undefined : findChoice(row, answer);
  const listed = choices.filter(({ choice }) => taken === undefined || choice === taken);
  const verbs = listed.map((choice) => commandFor(choice, words));
  const widest = Math.max(0, ...verbs.map((verb) => verb.length));
  const more = others.length === 0 ? "" : ` and ${others.length} more`;
  return [
    `? ${formatAsker(who, columns - asks.length - more.length, more)} ${asks}:`,
    ...(others.length === 0 ? [] : drawBarLines(listNames(others), columns, "  ")),
    ...[...parts, ...why, ...questions].flatMap(draw),
    ...(row.is_cut ? ["  (truncated: this is not the whole request)"] : []),
    "  Choices:",
    ...listed.flatMap((choice, at) => [
      `    ${verbs[at]?.padEnd(widest)}  ${choice.meaning}`,
      ...choice.notes.flatMap((note) => partLines(note, columns, "      ")),
    ]),
    ...(hasDetails
      ? ["  Details:", ...toRequestDetails(row).flatMap(draw)]
      : [`  Details: ${words.program} requests ${revealLine(row.request_id)}`]),
    `  ${hint}`,
  ];
}

const MAX_LISTED = 20;

/** Names are untrusted, so they get a bar. */
function listNames(askers: readonly Asker[]): string {
  const names = askers
    .slice(0, MAX_LISTED)
    .map(({ name, agent }) => truncate(revealLine(name ?? agent), MAX_NAME));
  const more = askers.length - names.length;
  return `also ${names.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

/** "NAME (AGENT) and 3 more in PROJECT". Long names are cut, so that all of it is on one line. */
function formatAsker({ name, agent, project }: Asker, columns: number, more: string): string {
  const most = Math.max(MIN_NAME, Math.min(MAX_NAME, Math.floor((columns - AROUND_NAMES) / 3)));
  const [called, by, where] = [name, agent, project].map((text) =>
    text === undefined ? undefined : truncate(revealLine(text), most),
  );
  return `${called === undefined ? by : `${called} (${by})`}${more}${where === undefined ? "" : ` in ${where}`}`;
}

/** How to answer from the shell. `count`: the number of requests for the same. */
export function makeHint(
  { request_id, payload }: RequestRow,
  { program, verbs }: RequestWords,
  count = 1,
): string {
  const id = revealLine(request_id);
  const same = count === 1 ? "" : " --same";
  return payload.questions === undefined
    ? `Answer${count === 1 ? "" : ` all ${count}`}: ${program} ${verbs.accept} ${id}${same} (or ${program} ${verbs.decline})`
    : `Answer: ${program} answer ${id} 1=TEXT`;
}

/** Throws if the request is pending and does not offer this answer. */
export function requireOffered(
  row: RequestRow,
  answer: Answer,
  words: RequestWords = BLEMEESCTL_WORDS,
): void {
  if (row.status !== "pending" || findChoice(row, answer) !== undefined) return;
  const offered = toRequestCard(row).choices.map(
    (choice) => `${verbFor(choice, words)}${optionFlag(choice.choice.option)}`,
  );
  const { decision, option } = "decision" in answer ? answer : { decision: "accept" as const };
  const said = `${words.verbs[decision]}${optionFlag(option)}`;
  throw new UsageError(`this request does not offer "${said}"; it offers: ${offered.join(", ")}`);
}

/** The verbs that this request accepts. */
export function listVerbs(row: RequestRow, words: RequestWords = BLEMEESCTL_WORDS): string {
  const verbs = toRequestCard(row).choices.map((choice) => verbFor(choice, words));
  return [...new Set(verbs)].join(", ");
}

function verbFor({ choice, isAnswer }: CardChoice, { verbs }: RequestWords): string {
  return isAnswer ? "answer" : verbs[choice.decision];
}

/** The verb with its arguments. */
function commandFor(choice: CardChoice, words: RequestWords): string {
  const { takes: extras = [] } = choice.choice;
  const takes = extras.map((extra) => EXTRAS[extra]).join("");
  return `${verbFor(choice, words)}${optionFlag(choice.choice.option)}${choice.isAnswer ? " 1=TEXT 2=TEXT …" : takes}`;
}

function optionFlag(name: string | undefined): string {
  return name === undefined ? "" : ` --option ${quoteShellWord(revealLine(name))}`;
}

/** A single line of text goes next to its title if it fits, otherwise below it. */
function partLines(part: RequestPart, columns: number, indent: string): string[] {
  if (part.kind === "words") {
    return [`${indent}${part.text}${part.id === undefined ? "" : ` ${revealLine(part.id)}`}`];
  }
  const { title, form } = part;
  const text = form === "line" ? revealLine(part.text) : reveal(part.text);
  const below = drawBarLines(text, columns, indent);
  if (title === undefined) return below;
  return drawBarLine(`${indent}${title}`, text, columns) ?? [`${indent}${title}:`, ...below];
}

const EXTRAS = { message: " [message…]", updated_input: " [--input JSON]" } as const;
