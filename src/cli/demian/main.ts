// demian: a command, or a message, or a talk at the terminal. Everything but the tables is loaded when it is needed.
import { CodedError } from "../../base/coded-error.ts";
import { sanitizeJson } from "../../base/sanitize.ts";
import type { Runtime, RuntimeOrder } from "../../runtime/session-types.ts";
import { type Arguments, didYouMean, parseArguments, UsageError } from "../command.ts";
import { Output } from "../output.ts";
import type { Command, Context } from "./command.ts";
import { COMMAND_NAMES, findCommand } from "./commands.ts";
import { COMMON_FLAGS, PROGRAM_FLAGS } from "./flags.ts";
import type { Io } from "./io.ts";

export interface MainOptions {
  /** What it is called as: demian, demian-cli or demian-plain. */
  program: string;
  version: string;
  io: Io;
  /** blemeesd, which `--daemon` starts where none runs; absent: it cannot. */
  daemonProgram?: string;
  /** For tests; default: the real one. */
  createRuntime?(order: RuntimeOrder): Promise<Runtime>;
}

/** With --json an error is one document too, whatever went wrong. */
export async function main(argv: readonly string[], options: MainOptions): Promise<number> {
  try {
    return await mainOf(argv, options);
  } catch (error) {
    if (!headOf(argv).includes("--json") || !(error instanceof CodedError)) throw error;
    const { code, message, data } = error;
    options.io.stderr.write(`${sanitizeJson(JSON.stringify({ error: { code, message, data } }))}\n`);
    return error instanceof UsageError ? 2 : 1;
  }
}

async function mainOf(argv: readonly string[], options: MainOptions): Promise<number> {
  const { program, version, io } = options;
  const name = firstWord(argv);
  const command = name === undefined ? undefined : findCommand(name);
  if (command !== undefined) return runCommand(command, argv, options);
  if (name === "help" || name === "completion") return runOwn(name, argv, options);
  const given = parseArguments(argv, PROGRAM_FLAGS);
  if (given.flags["version"]) return say(io, `${program} ${version}`);
  if (given.flags["help"]) return say(io, (await import("./help.ts")).programHelp(program));
  checkTypo(given, argv, program);
  const { runTalk } = await import("./talk.ts");
  return runTalk(given, contextOf(given, options));
}

async function runCommand(command: Command, argv: readonly string[], options: MainOptions): Promise<number> {
  const { program, io } = options;
  try {
    const { flags, words, many } = parseArguments(argv, [...command.flags, ...COMMON_FLAGS]);
    const given: Arguments = { flags, words: words.slice(1), many };
    if (flags["help"]) return say(io, (await import("./help.ts")).commandHelp(command, program));
    const [fewest, most] = command.words;
    if (given.words.length < fewest || given.words.length > most) {
      throw new UsageError(`usage: ${program} ${command.usage}; a message that begins so stands in quotes`);
    }
    return await command.run(given, contextOf(given, options));
  } catch (error) {
    throw error instanceof UsageError
      ? new UsageError(error.message, `${program} help ${command.name}`)
      : error;
  }
}

async function runOwn(
  name: "help" | "completion",
  argv: readonly string[],
  { program, io }: MainOptions,
): Promise<number> {
  const { flags, words } = parseArguments(argv, COMMON_FLAGS);
  const [, first, ...more] = words;
  const { commandHelp, programHelp } = await import("./help.ts");
  if (name === "completion" && !flags["help"]) {
    const { completionScript } = await import("./completion.ts");
    return say(io, completionScript(first ?? "", program));
  }
  const command = first === undefined ? undefined : findCommand(first);
  if (command !== undefined && more.length === 0) return say(io, commandHelp(command, program));
  if (first === undefined || COMMAND_NAMES.includes(first) || flags["help"]) {
    return say(io, programHelp(program));
  }
  throw new UsageError(
    `no command is called ${JSON.stringify(first)}${didYouMean(first, COMMAND_NAMES)}; a message that begins so stands in quotes`,
  );
}

/** Of the arguments before `--`, which are text behind it. */
function firstWord(argv: readonly string[]): string | undefined {
  const head = headOf(argv);
  const at = head.findIndex((argument) => COMMAND_NAMES.includes(argument));
  if (at === -1) return undefined;
  // Only flags, each with its value, may stand before a command.
  const flags = [...PROGRAM_FLAGS, ...(findCommand(head[at] ?? "")?.flags ?? [])];
  try {
    return parseArguments(head.slice(0, at), flags).words.length === 0 ? head[at] : undefined;
  } catch {
    return undefined; // it is the value of a flag, or something is wrong that is told later
  }
}

function headOf(argv: readonly string[]): readonly string[] {
  return argv.includes("--") ? argv.slice(0, argv.indexOf("--")) : argv;
}

/** One word that is nearly a command was hardly meant for a model. */
function checkTypo({ words, flags }: Arguments, argv: readonly string[], program: string): void {
  const [word = ""] = words;
  if (words.length !== 1 || flags["prompt"] !== undefined || argv.includes("--") || /[\s/]/.test(word))
    return;
  const hint = didYouMean(word, COMMAND_NAMES);
  if (hint === "" || word.length < 4) return;
  throw new UsageError(`no command is called ${word}${hint} As a message: ${program} --prompt ${word}`);
}

function contextOf(given: Arguments, options: MainOptions): Context {
  const { program, version, io } = options;
  const { stdout, stderr, env } = io;
  return {
    program,
    version,
    io,
    daemonProgram: options.daemonProgram ?? "blemeesd",
    output: new Output({ stdout, stderr, env, isQuiet: given.flags["quiet"] === true }),
    isJson: given.flags["json"] === true,
    createRuntime: options.createRuntime ?? (given.flags["demo"] === true ? createDemo : createReal),
  };
}

const createReal: Context["createRuntime"] = async (order) =>
  (await import("../../runtime/runtime.ts")).createRuntime(order);

const createDemo: Context["createRuntime"] = async (order) =>
  createReal((await import("../../runtime/demo/index.ts")).asDemo(order));

function say(io: Io, text: string): number {
  io.stdout.write(`${text}\n`);
  return 0;
}
