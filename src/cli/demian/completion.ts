// What the completion scripts of demian are made from.
import { SANDBOX_MODES } from "../../runtime/sandbox/types.ts";
import { type CompletionTable, SHELLS, completionScript as scriptOf } from "../completion.ts";
import { COMMANDS, OWN_COMMANDS } from "./commands.ts";
import { COMMON_FLAGS, PROGRAM_FLAGS } from "./flags.ts";

export function completionScript(shell: string, program = "demian"): string {
  return scriptOf(shell, tableOf(program));
}

function tableOf(program: string): CompletionTable {
  return {
    program,
    commands: [
      ...COMMANDS.map(({ name, summary, flags, completes, takes }) => {
        return { name, summary, flags, words: completes, takes };
      }),
      ...OWN_COMMANDS.map(({ name, summary }) => ({
        name,
        summary,
        words: name === "completion" ? SHELLS : COMMANDS.map((command) => command.name),
      })),
    ],
    programFlags: PROGRAM_FLAGS,
    commonFlags: COMMON_FLAGS,
    asks: { trustable: `${program} trust --names` },
    flagAsks: {
      agent: `${program} list-agents --main --names`,
      provider: `${program} list-providers --names`,
      sandbox: `printf "%s\\n" ${SANDBOX_MODES.join(" ")}`,
      mode: 'printf "%s\\n" single multi',
    },
  };
}
