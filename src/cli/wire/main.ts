// blemeesctl: speaks the protocol by hand. With a verb it runs that and exits; without one it is a prompt, or reads
// verbs from a pipe.

import type { Readable } from "node:stream";
import { LineSplitter } from "../../base/ndjson.ts";
import { defined } from "../../base/values.ts";
import { type Arguments, defineFlag, type Flag, readTextFlag } from "../command.ts";
import { abortOnInterrupt, readInput } from "../input.ts";
import { Output } from "../output.ts";
import { type Command, formatUsageLines, type Program, runMain, runProgram } from "../program.ts";
import { BLEMEESCTL_WORDS } from "../request-text.ts";
import type { ShellContext } from "./context.ts";
import { toVerbArguments } from "./parse.ts";
import { Repl } from "./repl.ts";
import { runShell } from "./shell.ts";
import { createLineReader, PromptLine, runPrompt } from "./terminal.ts";
import type { Verb } from "./verb.ts";
import { findVerb, takesSession, VERBS } from "./verbs.ts";

const COMMON_FLAGS: readonly Flag[] = [
  defineFlag(
    "--socket PATH",
    "the daemon's socket (default: $BLEMEESD_SOCKET, $XDG_RUNTIME_DIR/blemeesd.sock, …)",
    { completes: "file" },
  ),
  defineFlag("--json", "print the daemon's frames, one JSON object per line"),
  defineFlag("-h, --help", "show help; after a command, the help of that command"),
];

export interface WireOptions {
  /** What it was started as: `blemeesctl`, or `blemees wire`. */
  name: string;
  version: string;
}

export function start(options: WireOptions): Promise<void> {
  return runMain(options.name, () => main(process.argv.slice(2), options));
}

export function main(argv: readonly string[], options: WireOptions): Promise<number> {
  return runProgram(createProgram(options), argv);
}

export function createProgram(options: WireOptions): Program<ShellContext> {
  const { name, version } = options;
  return {
    name,
    textName: "blemeesctl",
    version,
    usages: ["[--socket PATH] [--json] [COMMAND …]"],
    examples: [
      ['run --backend demo "use a tool"', "run one turn and stream the answer"],
      ["sessions --live", "list live sessions"],
      ["", "a prompt that speaks the protocol"],
    ],
    groups: [{ title: "Commands", commands: VERBS.filter(({ where }) => where !== "prompt").map(toCommand) }],
    details: ["Only at the prompt:", ...formatUsageLines(VERBS.filter(({ where }) => where === "prompt"))],
    notes: ["Exit status: 0 done, 1 failed, 2 usage error."],
    commonFlags: COMMON_FLAGS,
    flags: [
      ...COMMON_FLAGS,
      defineFlag("--no-connect", "start the prompt without connecting"),
      defineFlag("-V, --version", "print the version"),
    ],
    asks: { session: `${name} sessions --live --ids`, request: `${name} requests --ids` },
    createContext: (given) => createContext(given, options),
    runAlone: (given) => prompt(given, options),
    explainUnknown: (name) =>
      findVerb(name) === undefined ? undefined : `${name} works only at the prompt: run blemeesctl alone`,
  };
}

function toCommand(verb: Verb): Command<ShellContext> {
  const completes = verb.answer !== undefined ? "request" : takesSession(verb) ? "session" : [];
  return {
    ...verb,
    completes,
    run: (given, context) => runVerb(verb, given, context),
  };
}

export function runVerb(verb: Verb, given: Arguments, context: ShellContext): Promise<number> {
  return runShell({ verb, given: toVerbArguments(verb, given) }, context);
}

export function createContext(given: Arguments, { name, version }: WireOptions): ShellContext {
  const { stdin, stdout, stderr } = process;
  return {
    output: new Output({ stdout, stderr, isQuiet: given.flags["quiet"] === true }),
    words: { ...BLEMEESCTL_WORDS, program: name },
    isJson: given.flags["json"] === true,
    daemon: { client: `blemeesctl/${version}`, ...readSocket(given) },
    signal: abortOnInterrupt(),
    readInput,
    ...(stdin.isTTY && stderr.isTTY ? { readLines: createLineReader(stdin, stderr) } : {}),
  };
}

async function prompt(given: Arguments, { name, version }: WireOptions): Promise<number> {
  const { stdin, stdout } = process;
  const line = new PromptLine(stdout);
  const repl = new Repl({
    socket: readSocket(given).socket,
    client: `blemeesctl/${version}`,
    print: (text) => line.print(text),
    get columns() {
      return stdout.isTTY ? stdout.columns || 80 : undefined;
    },
    isScript: !stdin.isTTY,
  });
  const isConnected = given.flags["no-connect"] === true || (await repl.connect());
  if (stdin.isTTY)
    await runPrompt({ input: stdin, output: stdout }, `${name.replace(/^.* /, "")}> `, line, repl);
  else await repl.runScript(() => feedFrom(stdin, repl));
  repl.quit();
  if (repl.hasFailed) process.exit(1); // a daemon that does not answer would not close the connection either
  await repl.disconnect();
  return isConnected || stdin.isTTY ? 0 : 1;
}

function readSocket(given: Arguments): { socket?: string } {
  return defined({ socket: readTextFlag(given, "socket") });
}

const MAX_LINE_BYTES = 64 * 1024 * 1024;

/** Runs the lines of a pipe or file, then waits for the answers. */
export async function feedFrom(input: Readable, repl: Repl): Promise<void> {
  const lines: string[] = [];
  // Not readline: it would also split at U+2028, which may occur inside JSON.
  const splitter = new LineSplitter(MAX_LINE_BYTES, {
    line: (text) => lines.push(text),
    badLine: () => repl.print("skipped a line that is not UTF-8"),
    oversize: (bytes) => repl.print(`skipped a line of ${bytes} bytes: too long`),
  });
  for await (const chunk of input) {
    splitter.push(Buffer.from(chunk));
    await drain(lines, repl);
    if (repl.isOver) break;
  }
  lines.push(splitter.rest().toString("utf8"));
  await drain(lines, repl);
  if (!repl.isOver) await repl.waitUntilSettled();
}

async function drain(lines: string[], repl: Repl): Promise<void> {
  for (const line of lines.splice(0)) {
    if (repl.isOver) return;
    await repl.execute(line);
  }
}
