// What the completion scripts of sm are made from. Sessions complete by id and by name; Tab starts no daemon.
import { type CompletionTable, SHELLS, completionScript as scriptOf } from "../completion.ts";
import { COMMANDS } from "./commands.ts";
import { COMMON_FLAGS, OWN_COMMANDS, PROGRAM_FLAGS } from "./help.ts";

export function completionScript(shell: string): string {
  return scriptOf(shell, tableOf());
}

function tableOf(): CompletionTable {
  return {
    program: "sm",
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
    asks: { session: "sm --no-start all --ids", request: "sm --no-start requests --ids" },
    flagAsks: { message: "sm --no-start queue SESSION --ids" },
  };
}
