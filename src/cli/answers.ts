// Turns typed arguments into the answer of a request. Pure: the caller passes the requests.

import { isDeepStrictEqual } from "node:util";
import { revealLine } from "../base/sanitize.ts";
import { defined } from "../base/values.ts";
import type { Answer, RequestRow } from "../client/index.ts";
import { toDeliverable } from "../protocol/deliverable.ts";
import { truncate } from "./bar.ts";
import { UsageError } from "./command.ts";
import { parseJsonObject } from "./values.ts";

/** The arguments of a verb that answers, without the request's id. */
export interface RequestArguments {
  /** An id or a prefix of one. */
  request: string | undefined;
  text: string;
  words: readonly string[];
}

export const REQUEST_ID = /^req_\w*$/;
/** A shorter prefix could be typed without reading the id. */
export const MIN_ID_LENGTH = "req_5a01".length;

/** The first word may name the request; the rest is the answer. */
export function splitRequest(words: readonly string[], rest: string): RequestArguments {
  const all = rest === "" ? [...words] : [...words, rest];
  const [first = "", ...others] = all.flatMap((word, at) => (at === 0 ? cutFirst(word) : [word]));
  if (!REQUEST_ID.test(first)) return { request: undefined, text: all.join(" "), words: all };
  return { request: first, text: others.join(" "), words: others };
}

/** Picks a request by its id, a prefix of it, or because it is the only one. */
export function pickRequest(rows: readonly RequestRow[], request: string | undefined): RequestRow {
  const found = rows.filter(({ request_id }) => request === undefined || request_id.startsWith(request));
  const exact = found.find(({ request_id }) => request_id === request);
  const [only, ...others] = exact === undefined ? found : [exact];
  if (only === undefined) {
    throw new UsageError(request === undefined ? "no pending requests" : `no pending request ${request}`);
  }
  if (others.length > 0) {
    const list = found.map(
      ({ request_id, payload }) => `  ${request_id}  ${truncate(revealLine(payload.title), 60)}`,
    );
    throw new UsageError(`several requests match; name one:\n${list.join("\n")}`);
  }
  return only;
}

/** An approval must name its request; it must not go to whichever one happens to be pending. */
export function isNamed({ request = "" }: RequestArguments, { request_id }: RequestRow): boolean {
  return request === request_id || (request.length >= MIN_ID_LENGTH && request_id.startsWith(request));
}

/** Compares two answers. Secrets are masked by the daemon, so they are left out. */
export function isSameAnswer(one: Answer, other: Answer, { payload }: RequestRow): boolean {
  const toComparable = (answer: Answer): unknown => {
    if (!("answers" in answer)) return toDeliverable(payload, answer);
    const secret = payload.questions?.filter(({ is_secret }) => is_secret).map(({ id }) => id) ?? [];
    const open = Object.entries(answer.answers).filter(([id]) => !secret.includes(id));
    return Object.fromEntries(open.map(([id, texts]) => [id, [texts].flat()]));
  };
  return isDeepStrictEqual(toComparable(one), toComparable(other));
}

export function toDecision(
  decision: "accept" | "acceptForSession" | "acceptAlways",
  given: RequestArguments,
  { option, input }: { option?: string | undefined; input?: string | undefined } = {},
): Answer {
  if (given.text !== "") throw new UsageError(`${given.text}: only a request id (req_…) is allowed here`);
  return {
    decision,
    ...defined({ option }),
    ...(input === undefined ? {} : { updated_input: parseJsonObject(input) }),
  };
}

export function toRefusal(decision: "decline" | "cancel", { text }: RequestArguments): Answer {
  return { decision, ...(text === "" ? {} : { message: text }) };
}

/** `1=Red 2="dark blue"`: questions by number, header or id; repeat one for several answers. */
export function toAnswers({ words }: RequestArguments, { payload }: RequestRow): Answer {
  const { questions = [] } = payload;
  if (questions.length === 0) throw new UsageError("this request asks no question: accept or decline it");
  if (words.length === 0) throw new UsageError("no answer given: answer 1=TEXT 2=TEXT …");
  const answers: Record<string, string | string[]> = {};
  for (const word of words) {
    const [key, text] = splitPair(word);
    const question =
      questions.find(({ id }) => id === key) ??
      questions.find(({ header }) => header === key) ??
      (/^\d+$/.test(key) ? questions[Number(key) - 1] : undefined);
    if (question === undefined)
      throw new UsageError(
        `no question ${key}; ${questions.length === 1 ? "there is only one" : `there are 1 to ${questions.length}`}`,
      );
    const before = Object.hasOwn(answers, question.id) ? [answers[question.id] ?? []].flat() : [];
    answers[question.id] = before.length === 0 ? text : [...before, text];
  }
  return { answers };
}

/** At the prompt, the line may be a single word. */
function cutFirst(word: string): string[] {
  const [, first = word, rest = ""] = /^(\S+)\s+(.*)$/s.exec(word) ?? [];
  return rest === "" ? [first] : [first, rest];
}

function splitPair(word: string): [string, string] {
  const [, quoted, plain, text = ""] = /^(?:("(?:[^"\\]|\\.)*")|([^=]+))=(.*)$/s.exec(word) ?? [];
  const key = quoted === undefined ? plain : unquote(quoted);
  if (key === undefined) throw new UsageError(`expected QUESTION=TEXT, got ${word}`);
  return [key, unquote(text)];
}

/** Double-quoted text is read as a JSON string. */
function unquote(text: string): string {
  if (!/^".*"$/s.test(text)) return text;
  try {
    return String(JSON.parse(text));
  } catch {
    return text; // not JSON after all
  }
}
