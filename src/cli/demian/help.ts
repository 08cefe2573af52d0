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
    talkLine(program),
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
    "  Ctrl-C stops the task, twice leaves.",
    "  On the screen p chooses the provider, m the model and a the agent in an empty line; ? lists all keys.",
    "  With --daemon they choose until your first message, which starts the session.",
    "  In plain lines (demian-plain, --plain, TERM=dumb) one that ends with \\ goes on in the next; Ctrl-D leaves.",
    "",
    "Flags:",
    ...flagLines(PROGRAM_FLAGS),
    "",
    "Without a terminal nothing is asked: what would be is refused, unless --yes or a rule of the config allows it.",
    "Exit status: 0 answered, 1 failed or cut short, 2 wrong usage, 130 stopped with Ctrl-C.",
  ].join("\n");
}

function talkLine(program: string): string {
  const how = program === "demian-plain" ? "talk in plain lines" : "talk on a screen";
  return `  ${program.padEnd(42)}${how}: choose a provider, then say what to do`;
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
