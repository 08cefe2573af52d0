// blemeesctl: with a verb it does that and exits; without one it is a prompt (or reads verbs from a pipe).
import { type Arguments, parseArguments } from "../command.ts";
import { onInterrupt, readInput } from "../input.ts";
import { Output } from "../output.ts";
import { completionScript } from "./completion.ts";
import { COMMON_FLAGS, PROGRAM_FLAGS, programHelp, verbHelp } from "./help.ts";
import { parseShell } from "./parse.ts";
import { feedFrom } from "./piped.ts";
import { Repl } from "./repl.ts";
import { runShell } from "./shell.ts";
import { linesOf, PromptLine, talkOn } from "./terminal.ts";
import { findVerb } from "./verbs.ts";

export async function main(argv: readonly string[], version: string): Promise<number> {
  // The program's flags stand before the verb; what follows is the verb's.
  const program = parseArguments(argv, PROGRAM_FLAGS, 1);
  if (program.flags["version"]) return say(`blemeesctl ${version}`);
  if (program.flags["help"]) return say(programHelp());
  if (program.words.length === 0) return prompt(program, version);
  return runVerb(program, version);
}

async function runVerb(program: Arguments, version: string): Promise<number> {
  const { verb, given } = parseShell(program.words, COMMON_FLAGS);
  const flags = { ...program.flags, ...given.flags };
  if (flags["help"]) return say(verbHelp(verb));
  if (verb.name === "help") return say(helpOn(given.words[0]));
  if (verb.name === "completion") return say(completionScript(given.words[0] ?? ""));
  const { stdout, stderr } = process;
  return runShell(
    { verb, given },
    {
      output: new Output({ stdout, stderr, isQuiet: flags["quiet"] === true }),
      isJson: flags["json"] === true,
      daemon: { client: `blemeesctl/${version}`, ...socketOf(flags) },
      signal: onInterrupt(),
      readInput,
      ...(process.stdin.isTTY && stderr.isTTY ? { readLines: linesOf(process.stdin, stderr) } : {}),
    },
  );
}

async function prompt(program: Arguments, version: string): Promise<number> {
  const { stdin, stdout } = process;
  const line = new PromptLine(stdout);
  const repl = new Repl({
    socket: socketOf(program.flags).socket,
    client: `blemeesctl/${version}`,
    print: (text) => line.print(text),
    get columns() {
      return stdout.isTTY ? stdout.columns || 80 : undefined;
    },
    isScript: !stdin.isTTY,
  });
  const isConnected = program.flags["no-connect"] === true || (await repl.connect());
  if (stdin.isTTY) await talkOn({ input: stdin, output: stdout }, line, repl);
  else await repl.attended(() => feedFrom(stdin, repl));
  repl.quit();
  if (repl.hasFailed) process.exit(1); // a daemon that does not answer does not hang up either
  await repl.disconnect();
  return isConnected || stdin.isTTY ? 0 : 1;
}

function helpOn(name: string | undefined): string {
  const verb = name === undefined ? undefined : findVerb(name);
  return verb === undefined ? programHelp() : verbHelp(verb);
}

function say(text: string): number {
  process.stdout.write(`${text}\n`);
  return 0;
}

function socketOf(flags: Arguments["flags"]): { socket?: string } {
  return typeof flags["socket"] === "string" ? { socket: flags["socket"] } : {};
}
