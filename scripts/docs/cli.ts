// docs/cli.md, from the programs' own help.

import { createProgram as createBlemees } from "../../src/cli/blemees/main.ts";
import { ProcessIo } from "../../src/cli/demian/io.ts";
import { createProgram as createDemian } from "../../src/cli/demian/main.ts";
import { formatCommandHelp, formatProgramHelp, listCommands, type Program } from "../../src/cli/program.ts";
import { formatPromptHelp } from "../../src/cli/wire/help.ts";
import { createProgram as createWire } from "../../src/cli/wire/main.ts";
import { formatHelp } from "../../src/daemon/flags.ts";
import { block, code, page } from "./markdown.ts";

export function cliPage(): string {
  const blemees = createBlemees({ name: "blemees", version: "", daemonProgram: "", demianProgram: "" });
  const wire = createWire({ name: "blemees wire", version: "" });
  return page("Command line", "the programs' own tables", [
    "Answers go to stdout, everything else to stderr. Exit status: 0 done, 1 failed, 2 wrong usage.",
    "## blemees",
    "Without a command, the screen of all sessions. `sm` is its short name: the same commands, fewer letters. Every command prints JSON with `--json`.",
    block(formatProgramHelp(blemees)),
    ...commandSections(blemees),
    "## blemees wire",
    "Also installed as `blemeesctl`. With a command, runs it and exits. Without one, a prompt that speaks the protocol, one frame per line; it also reads commands from a pipe.",
    block(formatProgramHelp(wire)),
    ...commandSections(wire),
    "### At the prompt",
    block(formatPromptHelp()),
    "## blemeesd",
    "The daemon, in the foreground. On a terminal it prints where it listens and what to try; otherwise it only logs (stderr, one JSON object per line). SIGINT, SIGTERM and SIGHUP stop it gracefully. Every setting is explained in [config.md](config.md).",
    block(formatHelp()),
    "## demian",
    "Our own coding agent. With a message it answers and exits; without one, on a terminal, it is a chat. `demian-cli` is another name for it, and `demian-plain` always uses plain text. Configuration, permissions and the sandbox are in [demian.md](demian.md).",
    block(formatProgramHelp(createDemian({ program: "demian", version: "", io: new ProcessIo() }))),
    ...commandSections(createDemian({ program: "demian", version: "", io: new ProcessIo() })),
  ]);
}

function commandSections<C>(program: Program<C>): string[] {
  return listCommands(program).flatMap((command) => [
    `### ${code(`${program.name} ${command.name}`)}`,
    block(formatCommandHelp(program, command)),
  ]);
}
