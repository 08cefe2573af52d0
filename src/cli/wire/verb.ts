// A row of the verb table (verbs.ts): a command of the shell, the prompt, or both.
import type { Answer, RequestRow } from "../../client/index.ts";
import type { RequestArguments } from "../answers.ts";
import type { Command } from "../program.ts";
import type { ShellContext } from "./context.ts";

export interface VerbArguments {
  words: readonly string[];
  flags: Readonly<Record<string, string | true>>;
  /** The unparsed text from word `verbatimFrom` on. */
  rest: string;
}

export interface VerbFrame {
  type: string;
  [key: string]: unknown;
}

export interface Verb extends Omit<Command<ShellContext>, "run" | "notes" | "completes"> {
  where: "prompt" | "shell" | "both";
  frame?(given: VerbArguments): VerbFrame;
  /** It permits nothing, so it may go to a request that was not displayed. */
  isRefusal?: true;
  /** The answer it gives to a request; throws a UsageError for arguments that do not fit. */
  answer?(given: RequestArguments, row: RequestRow, flags: VerbArguments["flags"]): Answer;
}
