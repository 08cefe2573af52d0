// The shape of a row in the table of commands (commands.ts), and what a command is given.
import type { HttpClient } from "../../client/index.ts";
import type { Arguments, Flag } from "../command.ts";
import type { Output } from "../output.ts";

export interface Context {
  output: Output;
  /** One JSON document instead of text, or one a line where it streams. */
  isJson: boolean;
  version: string;
  /** The session whose agent runs us. */
  self: string | undefined;
  /** Where the daemon listens, when that was said. */
  socket: string | undefined;
  /** Aborted by Ctrl-C. */
  signal: AbortSignal;
  /** The script of our own agent, for the doctor. */
  demianProgram: string;
  env: Readonly<Record<string, string | undefined>>;
  /** The daemon, started if it was not there and that is wanted. `isPatient`: one that goes away is waited for until Ctrl-C. */
  connect(how?: { isPatient: boolean }): Promise<HttpClient>;
  /** What stands on stdin; undefined when nothing was put there. */
  readInput(): Promise<string | undefined>;
  /** Asks the person at the terminal; absent when nobody sits there. */
  confirm?(question: string): Promise<boolean>;
}

export interface Command {
  name: string;
  aliases?: readonly string[];
  usage: string;
  summary: string;
  /** The fewest and the most words it takes. */
  words: readonly [number, number];
  flags?: readonly Flag[];
  examples: readonly string[];
  /** What else the help says. */
  notes?: readonly string[];
  /** What completion offers for its words. */
  completes?: "session" | "request" | readonly string[];
  run(given: Arguments, context: Context): Promise<number>;
}

export const ANY = Number.POSITIVE_INFINITY;

export { numberFlag, textFlag } from "../flag-values.ts";

/** The document for programs, or the lines for people. */
export async function show(context: Context, document: object, lines: () => readonly string[]): Promise<0> {
  if (context.isJson) await context.output.json(document);
  else for (const line of lines()) await context.output.line(line);
  return 0;
}
