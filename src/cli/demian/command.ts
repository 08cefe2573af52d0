// The shape of a row in the table of commands (commands.ts), and what a command is given.
import type { Runtime, RuntimeOrder } from "../../runtime/session-types.ts";
import type { Arguments, Flag } from "../command.ts";
import type { Output } from "../output.ts";
import type { Io } from "./io.ts";

export interface Context {
  /** What it was called as: demian, demian-cli or demian-plain. */
  program: string;
  version: string;
  output: Output;
  /** One JSON document instead of text. */
  isJson: boolean;
  io: Io;
  /** blemeesd, for `--daemon`. */
  daemonProgram: string;
  createRuntime(order: RuntimeOrder): Promise<Runtime>;
}

export interface Command {
  name: string;
  usage: string;
  summary: string;
  /** The fewest and the most words it takes. */
  words: readonly [number, number];
  flags: readonly Flag[];
  examples: readonly string[];
  /** What else the help says. */
  notes?: readonly string[];
  /** What completion offers for its words. */
  completes?: readonly string[];
  /** What else it offers for them (completion.ts). */
  takes?: "trustable";
  /** Loads what it needs by itself, so that no command pays for another. */
  run(given: Arguments, context: Context): Promise<number>;
}
