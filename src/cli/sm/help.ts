// Help texts of sm, made from the table of commands.
import type { Flag } from "../command.ts";
import { flagLines, usageLines } from "../help-lines.ts";
import type { Command } from "./command.ts";
import { GROUPS } from "./commands.ts";
import { called, type ProgramName } from "./program-name.ts";

export const COMMON_FLAGS: readonly Flag[] = [
  {
    name: "socket",
    value: "PATH",
    completes: "file",
    summary: "the daemon's socket (default: $BLEMEES_SOCKET, $BLEMEESD_SOCKET, …)",
  },
  { name: "json", summary: "one JSON document, or one a line where it streams" },
  { name: "quiet", short: "q", summary: "no talk on stderr, only errors" },
  { name: "no-start", summary: "do not start the daemon when it is not running" },
  { name: "help", short: "h", summary: "show help, also after a command" },
];
export const PROGRAM_FLAGS: readonly Flag[] = [
  ...COMMON_FLAGS,
  { name: "version", short: "V", summary: "print the version" },
];
/** Commands that main.ts carries out itself. */
export const OWN_COMMANDS = [
  {
    name: "completion",
    usage: "completion bash|zsh|fish",
    summary: "print a completion script for your shell",
  },
  { name: "help", usage: "help [COMMAND]", summary: "this text, or more about a command" },
] as const;

export function programHelp(program: ProgramName = "sm"): string {
  const text = [
    program === "sm" ? "usage: sm COMMAND …" : `usage: ${program} [COMMAND …]`,
    "",
    ...[...(program === "sm" ? [] : SCREENS), ...BEGINNING].map(
      ([command, what]) => `  ${`${program} ${command}`.padEnd(EXAMPLE_WIDTH)}${what}`,
    ),
    "",
    ...GROUPS.flatMap(({ title, commands }, at) => [
      `${title}:`,
      ...usageLines([...commands, ...(at === GROUPS.length - 1 ? OWN_COMMANDS : [])]),
      "",
    ]),
    "ID is a session's id, the beginning of it, or its name. `sm help COMMAND` says more about one.",
    "The daemon is started if it is not running. Inside an agent, sm knows whose it is: spawn makes children.",
    "",
    "Flags:",
    ...flagLines(PROGRAM_FLAGS),
    "",
    "Exit status: 0 done, 1 failed, 2 wrong usage; of wait and --wait: sm help wait.",
  ].join("\n");
  return called(text, program);
}

const EXAMPLE_WIDTH = 57;
const SCREENS: readonly (readonly [string, string])[] = [
  ["", "all sessions on one screen of this terminal"],
  ["web", "the same in your browser"],
];
const BEGINNING: readonly (readonly [string, string])[] = [
  ['spawn codex --name fixer "make the tests pass"', "start an agent"],
  ["children", "who works, waits, is stuck, and what it cost"],
  ["requests", "what agents ask; sm approve, decline or answer it"],
  ['send fixer "and the linter" --wait', "go on with it"],
];

export function commandHelp(command: Command, program: ProgramName = "sm"): string {
  const { usage, summary, aliases, flags = [], examples, notes = [] } = command;
  const text = [
    `usage: sm ${usage}`,
    "",
    ...examples.map((example) => `  ${/^(.*[|;] *)?sm\b/.test(example) ? "" : "sm "}${example}`),
    "",
    `${summary[0]?.toUpperCase()}${summary.slice(1)}.`,
    ...(aliases === undefined ? [] : [`Also: ${aliases.join(", ")}`]),
    ...(notes.length === 0 ? [] : ["", ...notes]),
    "",
    "Flags:",
    ...flagLines([...flags, ...COMMON_FLAGS]),
  ].join("\n");
  return called(text, program);
}
