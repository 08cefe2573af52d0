// A request as a person reads it before deciding: all of it, and none of it able to pass for our own words. What
// others wrote stands behind a bar on every row of the screen, also where a long line breaks; the rest is ours.
import { reveal, revealLine } from "../base/sanitize.ts";
import { shellWord } from "../base/shell-word.ts";
import type { Decision, RequestRow } from "../client/index.ts";
import { choiceParts, lineCount, type RequestPart, requestParts } from "../client/view/request-parts.ts";
import { behindBar, cutTo } from "./bar.ts";

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

/** `hint` says how to answer from here. */
export function requestLines(
  row: RequestRow,
  hint: string,
  columns: number,
  words: RequestWords = BLEMEESCTL_WORDS,
): string[] {
  const draw = (part: RequestPart): string[] => partLines(part, columns, words);
  return [
    `? ${revealLine(row.backend)} asks (${row.request_type}):`,
    ...requestParts(row).flatMap(draw),
    ...(row.is_cut ? [`  (cut; ${words.show} ${revealLine(row.request_id)} shows it whole)`] : []),
    "  choices:",
    ...choiceParts(row).flatMap(draw),
    `  ${hint}`,
  ];
}

/** What can be said to this request, for a hint. */
export function verbsFor({ payload }: RequestRow, words: RequestWords = BLEMEESCTL_WORDS): string {
  const hasQuestions = payload.questions !== undefined;
  const verbs = payload.choices.map(({ decision }) =>
    verbFor(decision, decision === "accept" && hasQuestions, words),
  );
  return [...new Set(verbs)].join(", ");
}

function verbFor(decision: Decision, isAnswer: boolean, { verbs }: RequestWords): string {
  return isAnswer ? "answer" : verbs[decision];
}

function partLines(part: RequestPart, columns: number, words: RequestWords): string[] {
  if (part.kind === "words") {
    return [`  ${part.text}${part.id === undefined ? "" : ` ${revealLine(part.id)}`}`];
  }
  if (part.kind === "choice") {
    const { choice, isAnswer, meaning } = part;
    const takes = (choice.takes ?? []).map((name) => EXTRAS[name]).join("");
    const option = choice.option === undefined ? "" : ` --option ${shellWord(revealLine(choice.option))}`;
    const verb = `${verbFor(choice.decision, isAnswer, words)}${option}${isAnswer ? " 1=TEXT 2=TEXT …" : takes}`;
    return [`    ${verb.padEnd(24)}  ${meaning}`];
  }
  const { title, name, text, form, isOfChoice } = part;
  const lines = behindBar(form === "line" ? revealLine(text) : reveal(text), columns);
  if (title === undefined) return lines;
  const named = name === undefined ? title : `${title} ${cutTo(revealLine(name), 40)}`;
  return [`  ${isOfChoice ? "  " : ""}${named}${lineCount(text)}:`, ...lines];
}

const EXTRAS = { message: " [message…]", updated_input: " [--input JSON]" } as const;
