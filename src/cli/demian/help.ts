// Help texts of demian, made from its tables.
import { flagLines, usageLines } from "../help-lines.ts";
import { CHAT_COMMANDS } from "./chat-commands.ts";
import type { Command } from "./command.ts";
import { COMMANDS, OWN_COMMANDS } from "./commands.ts";
import { COMMON_FLAGS, PROGRAM_FLAGS } from "./flags.ts";

export function programHelp(program = "demian"): string {
  return [
    `usage: ${program} [FLAG …] [MESSAGE]`,
    `       ${program} COMMAND …`,
    "",
    `  ${program}                                     talk: choose a provider, then say what to do`,
    `  ${program} "make the tests pass"               one message; the answer is on stdout`,
    `  git diff | ${program} "review this"            with more text on stdin`,
    `  ${program} --agent plan --image mockup.png "how would you build this?"`,
    `  ${program} --yes --json "fix the linter"       for scripts: nothing is asked, events are JSON`,
    "",
    "Commands:",
    ...usageLines([...COMMANDS, ...OWN_COMMANDS]),
    "",
    "While talking:",
    ...usageLines(CHAT_COMMANDS),
    "  A line that ends with \\ goes on in the next one. Ctrl-C stops the task, twice leaves; Ctrl-D leaves.",
    "",
    "Flags:",
    ...flagLines(PROGRAM_FLAGS),
    "",
    "Without a terminal nothing is asked: what would be is refused, unless --yes or a rule of the config allows it.",
    "Exit status: 0 answered, 1 failed or cut short, 2 wrong usage, 130 stopped with Ctrl-C.",
  ].join("\n");
}

export function commandHelp(command: Command, program = "demian"): string {
  const { usage, summary, flags, examples, notes = [] } = command;
  return [
    `usage: ${program} ${usage}`,
    "",
    ...examples.map((example) => `  ${program} ${example}`),
    "",
    `${summary[0]?.toUpperCase()}${summary.slice(1)}.`,
    ...(notes.length === 0 ? [] : ["", ...notes]),
    "",
    "Flags:",
    ...flagLines([...flags, ...COMMON_FLAGS]),
  ].join("\n");
}
