// The verbs that answer requests, as rows of the verb table. A message never answers a request.

import { asString } from "../../base/values.ts";
import { toAnswers, toDecision, toRefusal } from "../answers.ts";
import { defineFlag, type Flag } from "../command.ts";
import { ANY } from "../program.ts";
import { INPUT, SHOWN } from "../requests.ts";
import type { Verb } from "./verb.ts";

const OPTION: Flag = defineFlag("--option NAME", "one of the options that the request lists");

export function answerVerbs(take: Flag): Verb[] {
  const flags = [SHOWN, take];
  return [
    {
      name: "accept",
      usage: "accept REQUEST",
      summary: "approve a request once",
      where: "both",
      words: [0, ANY],
      flags: [INPUT, ...flags],
      examples: ["accept req_5a01f0d8"],
      answer: (given, _row, flags) => toDecision("accept", given, { input: asString(flags["input"]) }),
    },
    {
      name: "accept-session",
      usage: "accept-session REQUEST",
      summary: "approve it, and do not ask again until the agent ends",
      where: "both",
      words: [0, ANY],
      flags: [OPTION, ...flags],
      examples: ["accept-session req_5a01f0d8"],
      answer: (given, _row, flags) =>
        toDecision("acceptForSession", given, { option: asString(flags["option"]) }),
    },
    {
      name: "always",
      usage: "always REQUEST",
      summary: "approve it, and never ask again; the request lists what is written to disk",
      where: "both",
      words: [0, ANY],
      flags: [OPTION, ...flags],
      answer: (given, _row, flags) =>
        toDecision("acceptAlways", given, { option: asString(flags["option"]) }),
    },
    {
      name: "decline",
      usage: "decline [REQUEST] [message…]",
      summary: "decline a request; the agent gets the message",
      where: "both",
      words: [0, ANY],
      verbatimFrom: 1,
      flags,
      examples: ["decline req_5a01f0d8 use git mv instead"],
      isRefusal: true,
      answer: (given) => toRefusal("decline", given),
    },
    {
      name: "cancel",
      usage: "cancel [REQUEST] [message…]",
      summary: "decline a request and stop the turn",
      where: "both",
      words: [0, ANY],
      verbatimFrom: 1,
      flags,
      isRefusal: true,
      answer: (given) => toRefusal("cancel", given),
    },
    {
      name: "answer",
      usage: "answer REQUEST QUESTION=TEXT…",
      summary:
        "answer questions by number, header or id; repeat a question to give several answers; 1=- reads stdin",
      where: "both",
      words: [1, ANY],
      flags,
      examples: ['answer req_5a01f0d8 1=Red 2="dark blue"'],
      answer: toAnswers,
    },
  ];
}
