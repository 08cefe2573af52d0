// docs/cli.md, from what the programs print themselves.
import { programHelp, promptHelp, verbHelp } from "../../src/cli/blemeesctl/help.ts";
import { VERBS } from "../../src/cli/blemeesctl/verbs.ts";
import { COMMANDS as DEMIAN_COMMANDS } from "../../src/cli/demian/commands.ts";
import { commandHelp as demianCommandHelp, programHelp as demianHelp } from "../../src/cli/demian/help.ts";
import { COMMANDS } from "../../src/cli/sm/commands.ts";
import { commandHelp, programHelp as smHelp } from "../../src/cli/sm/help.ts";
import { helpText } from "../../src/daemon/flags.ts";
import { block, code, page } from "./markdown.ts";

export function cliPage(): string {
  const inShell = VERBS.filter((verb) => verb.where !== "prompt");
  return page("Command line", "the programs' own tables", [
    "stdout is the answer, stderr is talk. Exit status: 0 done, 1 failed, 2 wrong usage.",
    "## blemees",
    "Alone it is the screen of all sessions; every command of [`sm`](#sm) works behind it too, in the same way.",
    block(smHelp("blemees")),
    "## blemeesd",
    "The daemon, in the foreground. On a terminal it says where it listens and what to try; elsewhere it only logs (stderr, one JSON object a line). SIGINT, SIGTERM and SIGHUP stop it in the orderly way. Every setting is explained in [config.md](config.md).",
    block(helpText()),
    "## blemeesctl",
    "With a command it does that and exits. Without one it is a prompt that speaks the protocol, one frame a line; it also reads commands from a pipe.",
    block(programHelp()),
    ...inShell.flatMap((verb) => [`### ${code(verb.name)}`, block(verbHelp(verb))]),
    "### At the prompt",
    block(promptHelp()),
    "## sm",
    "Sessions for people and for agents that manage agents: every command prints JSON with `--json`, and exits.",
    block(smHelp()),
    ...COMMANDS.flatMap((command) => [`### ${code(`sm ${command.name}`)}`, block(commandHelp(command))]),
    "## demian",
    "Our own coding agent. With a message it answers and exits; without one, at a terminal, it is a talk. `demian-cli` is another name of it, and `demian-plain` the one that stays plain text. Configuration, permissions and the sandbox are in [demian.md](demian.md).",
    block(demianHelp()),
    ...DEMIAN_COMMANDS.flatMap((command) => [
      `### ${code(`demian ${command.name}`)}`,
      block(demianCommandHelp(command)),
    ]),
  ]);
}
