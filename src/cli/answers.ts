// From what a person typed to the answer of a request. Pure: which requests there are is told by the caller.
import { isDeepStrictEqual } from "node:util";
import { revealLine } from "../base/sanitize.ts";
import type { Answer, RequestRow } from "../client/index.ts";
import { deliverable } from "../protocol/deliverable.ts";
import { cutTo } from "./bar.ts";
import { UsageError } from "./command.ts";
import { parseJsonObject } from "./values.ts";

/** What a verb that answers was given, with the request's id taken out of the words. */
export interface Given {
  /** An id, or the beginning of one. */
  request: string | undefined;
  text: string;
  words: readonly string[];
}

export const REQUEST_ID = /^req_\w*$/;
/** A shorter beginning of an id is typed without having read it. */
export const SHORTEST_NAME = "req_5a01".length;

/** The first word may name the request; the rest belongs to the answer. */
export function splitRequest(words: readonly string[], rest: string): Given {
  const all = rest === "" ? [...words] : [...words, rest];
  const [first = "", ...others] = all.flatMap((word, at) => (at === 0 ? cutFirst(word) : [word]));
  if (!REQUEST_ID.test(first)) return { request: undefined, text: all.join(" "), words: all };
  return { request: first, text: others.join(" "), words: others };
}

/** The one that is meant: by its id, by the beginning of its id, or because there is no other. */
export function pickRequest(rows: readonly RequestRow[], request: string | undefined): RequestRow {
  const found = rows.filter(({ request_id }) => request === undefined || request_id.startsWith(request));
  const exact = found.find(({ request_id }) => request_id === request);
  const [only, ...others] = exact === undefined ? found : [exact];
  if (only === undefined) {
    throw new UsageError(request === undefined ? "no pending requests" : `no pending request ${request}`);
  }
  if (others.length > 0) {
    const list = found.map(
      ({ request_id, payload }) => `  ${request_id}  ${cutTo(revealLine(payload.title), 60)}`,
    );
    throw new UsageError(`which one? Name the request:\n${list.join("\n")}`);
  }
  return only;
}

/** Whoever lets an agent do something must have meant this request, and not whichever waits. */
export function isNamed({ request = "" }: Given, { request_id }: RequestRow): boolean {
  return request === request_id || (request.length >= SHORTEST_NAME && request_id.startsWith(request));
}

/** Whether the answer that counts says the same. What is secret is not told, so it cannot be compared. */
export function isSameAnswer(one: Answer, other: Answer, { payload }: RequestRow): boolean {
  const known = (answer: Answer): unknown => {
    if (!("answers" in answer)) return deliverable(payload, answer);
    const secret = payload.questions?.filter(({ is_secret }) => is_secret).map(({ id }) => id) ?? [];
    const told = Object.entries(answer.answers).filter(([id]) => !secret.includes(id));
    return Object.fromEntries(told.map(([id, said]) => [id, [said].flat()]));
  };
  return isDeepStrictEqual(known(one), known(other));
}

export function decisionOf(
  decision: "accept" | "acceptForSession" | "acceptAlways",
  given: Given,
  { option, input }: { option?: string | undefined; input?: string | undefined } = {},
): Answer {
  if (given.text !== "") throw new UsageError(`${given.text}: this takes only a request (req_…)`);
  return {
    decision,
    ...(option === undefined ? {} : { option }),
    ...(input === undefined ? {} : { updated_input: parseJsonObject(input) }),
  };
}

export function refusalOf(decision: "decline" | "cancel", { text }: Given): Answer {
  return { decision, ...(text === "" ? {} : { message: text }) };
}

/** `1=Red 2="dark blue"`: a question by its number, header or id; the same one twice gives two answers. */
export function answersOf({ words }: Given, { payload }: RequestRow): Answer {
  const { questions = [] } = payload;
  if (questions.length === 0) throw new UsageError("this asks no question: accept or decline it");
  if (words.length === 0) throw new UsageError("say what to answer: answer 1=TEXT 2=TEXT …");
  const answers: Record<string, string | string[]> = {};
  for (const word of words) {
    const [key, text] = splitPair(word);
    const question =
      questions.find(({ id }) => id === key) ??
      questions.find(({ header }) => header === key) ??
      (/^\d+$/.test(key) ? questions[Number(key) - 1] : undefined);
    if (question === undefined)
      throw new UsageError(
        `no question ${key}; ${questions.length === 1 ? "there is only 1" : `there are 1 to ${questions.length}`}`,
      );
    const before = Object.hasOwn(answers, question.id) ? [answers[question.id] ?? []].flat() : [];
    answers[question.id] = before.length === 0 ? text : [...before, text];
  }
  return { answers };
}

/** At the prompt a line may come as one word. */
function cutFirst(word: string): string[] {
  const [, first = word, behind = ""] = /^(\S+)\s+(.*)$/s.exec(word) ?? [];
  return behind === "" ? [first] : [first, behind];
}

function splitPair(word: string): [string, string] {
  const [, quoted, plain, text = ""] = /^(?:("(?:[^"\\]|\\.)*")|([^=]+))=(.*)$/s.exec(word) ?? [];
  const key = quoted === undefined ? plain : unquoted(quoted);
  if (key === undefined) throw new UsageError(`expected QUESTION=TEXT, got ${word}`);
  return [key, unquoted(text)];
}

/** A text in double quotes is what it says between them; numbers stay the text they are. */
function unquoted(text: string): string {
  if (!/^".*"$/s.test(text)) return text;
  try {
    return String(JSON.parse(text));
  } catch {
    return text; // not JSON after all
  }
}
