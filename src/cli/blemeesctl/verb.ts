// The shape of a row in the verb table (verbs.ts), and what a verb is given.
import type { Answer, RequestRow } from "../../client/index.ts";
import type { Given } from "../answers.ts";
import type { Flag } from "../command.ts";

export interface VerbArguments {
  words: readonly string[];
  flags: Readonly<Record<string, string | true>>;
  /** What stood behind the words of a verb with `verbatimFrom`, as it was typed. */
  rest: string;
}

export interface Frame {
  type: string;
  [key: string]: unknown;
}

export interface Verb {
  name: string;
  aliases?: readonly string[];
  usage: string;
  summary: string;
  /** Where it can be used: at the prompt, as an argument in the shell, or both. */
  where: "prompt" | "shell" | "both";
  /** The fewest and the most words it takes. */
  words: readonly [number, number];
  /** From this word on the line is taken as it was typed. */
  verbatimFrom?: number;
  flags?: readonly Flag[];
  example?: string;
  frame?(given: VerbArguments): Frame;
  /** Its answer lets the agent do nothing, so it may go to a request that was not looked at. */
  isRefusal?: true;
  /** What it says to a request; throws a UsageError for words that do not fit. */
  answer?(given: Given, row: RequestRow, flags: VerbArguments["flags"]): Answer;
}
