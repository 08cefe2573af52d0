// What a command of demian gets besides its arguments.
import type { Runtime, RuntimeOrder } from "../../runtime/session-types.ts";
import type { Output } from "../output.ts";
import type { Command as ProgramCommand } from "../program.ts";
import type { Io } from "./io.ts";

export interface DemianContext {
  /** The name it was started by: demian, demian-cli or demian-plain. */
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

/** Imports its own dependencies, so that no command pays for another. */
export type DemianCommand = ProgramCommand<DemianContext>;
