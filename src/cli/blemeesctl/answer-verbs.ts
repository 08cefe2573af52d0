// The verbs that answer what an agent asks: rows of the verb table. Only they do; a message never answers anything.

import { answersOf, decisionOf, refusalOf } from "../answers.ts";
import type { Flag } from "../command.ts";
import type { Verb } from "./verb.ts";

const ANY = Number.POSITIVE_INFINITY;
const SHOWN: Flag = {
  name: "shown",
  value: "HASH",
  summary: "only the request with this shown_hash",
};
const INPUT: Flag = { name: "input", value: "JSON", summary: "run the tool with this input instead" };
const OPTION: Flag = {
  name: "option",
  value: "NAME",
  summary: "one of the options that the request lists",
};

/** `take`: the flag that takes a session over, shared with the other verbs. */
export function answerVerbs(take: Flag): Verb[] {
  const flags = [SHOWN, take];
  return [
    {
      name: "accept",
      usage: "accept REQUEST",
      summary: "let the agent do what it asks for, this once",
      where: "both",
      words: [0, ANY],
      flags: [INPUT, ...flags],
      example: "accept req_5a01f0d8",
      answer: (given, _row, said) => decisionOf("accept", given, { input: textOf(said["input"]) }),
    },
    {
      name: "accept-session",
      usage: "accept-session REQUEST",
      summary: "the same, and do not ask again until the agent ends",
      where: "both",
      words: [0, ANY],
      flags: [OPTION, ...flags],
      example: "accept-session req_5a01f0d8",
      answer: (given, _row, said) =>
        decisionOf("acceptForSession", given, { option: textOf(said["option"]) }),
    },
    {
      name: "always",
      usage: "always REQUEST",
      summary: "the same, permanently; the request says what is written to disk",
      where: "both",
      words: [0, ANY],
      flags: [OPTION, ...flags],
      answer: (given, _row, said) => decisionOf("acceptAlways", given, { option: textOf(said["option"]) }),
    },
    {
      name: "decline",
      usage: "decline [REQUEST] [message…]",
      summary: "refuse what the agent asks for; the message is passed on to it",
      where: "both",
      words: [0, ANY],
      verbatimFrom: 1,
      flags,
      example: "decline req_5a01f0d8 use git mv instead",
      isRefusal: true,
      answer: (given) => refusalOf("decline", given),
    },
    {
      name: "cancel",
      usage: "cancel [REQUEST] [message…]",
      summary: "refuse it and stop the turn",
      where: "both",
      words: [0, ANY],
      verbatimFrom: 1,
      flags,
      isRefusal: true,
      answer: (given) => refusalOf("cancel", given),
    },
    {
      name: "answer",
      usage: "answer REQUEST QUESTION=TEXT…",
      summary: "answer questions by number, header or id; twice for two answers, 1=- takes stdin (secrets)",
      where: "both",
      words: [1, ANY],
      flags,
      example: 'answer req_5a01f0d8 1=Red 2="dark blue"',
      answer: answersOf,
    },
  ];
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
