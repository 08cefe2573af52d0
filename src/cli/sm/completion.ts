// What the completion scripts of sm are made from. Sessions complete by id and by name; Tab starts no daemon.
import { type CompletionTable, SHELLS, completionScript as scriptOf } from "../completion.ts";
import { COMMANDS } from "./commands.ts";
import { COMMON_FLAGS, OWN_COMMANDS, PROGRAM_FLAGS } from "./help.ts";
import type { ProgramName } from "./program-name.ts";

export function completionScript(shell: string, program: ProgramName = "sm"): string {
  return scriptOf(shell, tableOf(program));
}

function tableOf(program: ProgramName): CompletionTable {
  return {
    program,
    commands: [
      ...COMMANDS.flatMap(({ name, aliases = [], summary, flags, completes }) =>
        [name, ...aliases].map((word) => ({
          name: word,
          summary,
          flags,
          ...(typeof completes === "string" ? { takes: completes } : { words: completes }),
        })),
      ),
      ...OWN_COMMANDS.map(({ name, summary }) => ({
        name,
        summary,
        words: name === "completion" ? SHELLS : COMMANDS.map((command) => command.name),
      })),
    ],
    programFlags: PROGRAM_FLAGS,
    commonFlags: COMMON_FLAGS,
    asks: {
      session: `${program} --no-start all --ids`,
      request: `${program} --no-start requests --ids`,
    },
    flagAsks: { message: `${program} --no-start queue SESSION --ids` },
  };
}
