// sm: sessions for people and for agents that manage agents. One command, then it exits.
import { CodedError } from "../../base/coded-error.ts";
import { sanitizeJson } from "../../base/sanitize.ts";
import type { HttpClient, HttpOptions } from "../../client/index.ts";
import { type Arguments, didYouMean, parseArguments, UsageError } from "../command.ts";
import { confirm, hasInput, onInterrupt, readInput } from "../input.ts";
import { Output } from "../output.ts";
import { type Command, type Context, textFlag } from "./command.ts";
import { COMMANDS, findCommand } from "./commands.ts";
import { completionScript } from "./completion.ts";
import { SESSION_ID } from "./find.ts";
import { COMMON_FLAGS, commandHelp, OWN_COMMANDS, PROGRAM_FLAGS, programHelp } from "./help.ts";
import { called, type ProgramName } from "./program-name.ts";
import { reach, startDaemon } from "./start-daemon.ts";

export interface MainOptions {
  version: string;
  /** Under which name we were called. */
  program?: ProgramName;
  /** The command that is meant when none is given; absent: the help is shown. */
  alone?: string;
  /** The daemon's program, to be started when none runs. */
  daemonProgram: string;
  /** The script of our own agent. */
  demianProgram: string;
}

/** What a shell gives to a program that Ctrl-C ended. */
const EXIT_INTERRUPTED = 130;
const READING_NOTE_MS = 1_000;

/** With --json an error is one document too, whatever went wrong. */
export async function main(argv: readonly string[], options: MainOptions): Promise<number> {
  try {
    return await mainOf(argv, options);
  } catch (thrown) {
    const error = inWordsOf(thrown, options.program);
    const isJson = argv.slice(0, argv.includes("--") ? argv.indexOf("--") : undefined).includes("--json");
    if (!isJson || !(error instanceof CodedError)) throw error;
    const { code, message, data } = error;
    process.stderr.write(`${sanitizeJson(JSON.stringify({ error: { code, message, data } }))}\n`);
    return error instanceof UsageError ? 2 : 1;
  }
}

async function mainOf(argv: readonly string[], options: MainOptions): Promise<number> {
  // The program's flags stand before the command; what follows is the command's.
  const program = parseArguments(argv, PROGRAM_FLAGS, 1);
  const own = options.program ?? "sm";
  if (program.flags["version"]) return say(`${own} ${options.version}`);
  const [name = program.flags["help"] ? "help" : options.alone, ...rest] = program.words;
  const first = rest[0] === "--" ? rest[1] : rest[0];
  if (name === undefined || name === "help") return say(helpOn(first, own));
  if (name === "completion" && first !== "--help") return say(completionScript(first ?? "", own));
  const command = findCommand(name);
  if (command === undefined) throw unknownCommand(name);
  try {
    const behind = parseArguments(rest, [...(command.flags ?? []), ...COMMON_FLAGS]);
    const given: Arguments = { ...behind, flags: { ...program.flags, ...behind.flags } };
    if (given.flags["help"]) return say(commandHelp(command, own));
    const [fewest, most] = command.words;
    if (given.words.length < fewest || given.words.length > most)
      throw new UsageError(`usage: sm ${command.usage}`);
    return await run(command, given, options);
  } catch (error) {
    throw error instanceof UsageError ? new UsageError(error.message, `sm help ${command.name}`) : error;
  }
}

async function run(command: Command, given: Arguments, options: MainOptions): Promise<number> {
  const signal = onInterrupt();
  const context = contextOf(given, options, signal);
  try {
    return await command.run(given, context);
  } catch (error) {
    if (signal.aborted) return EXIT_INTERRUPTED;
    throw isAboutSelf(error, given, context) ? unknownSelf(error) : error;
  }
}

/** Nobody typed that id, so the daemon's words alone would be a riddle. */
function isAboutSelf(error: unknown, { words, flags }: Arguments, { self }: Context): error is CodedError {
  if (self === undefined || !(error instanceof CodedError) || error.code !== "session_unknown") return false;
  return error.message.includes(self) && !words.includes(self) && flags["parent"] !== self;
}

function unknownSelf({ code, message, data }: CodedError): CodedError {
  const text = `${message}; it is from BLEMEES_SESSION_ID: unset that outside of an agent`;
  return new CodedError(code, text, data === undefined ? {} : { data });
}

function contextOf(given: Arguments, options: MainOptions, signal: AbortSignal): Context {
  const { stdin, stdout, stderr, env } = process;
  const { program = "sm" } = options;
  const inOwnWords = (text: string): string => called(text, program);
  const output = new Output({ stdout, stderr, isQuiet: given.flags["quiet"] === true, inOwnWords });
  const socket = textFlag(given, "socket") ?? (env["BLEMEES_SOCKET"] || undefined);
  if (socket === "") throw new UsageError("--socket needs the path of the daemon's socket");
  const self = env["BLEMEES_SESSION_ID"] || undefined;
  return {
    output,
    isJson: given.flags["json"] === true,
    version: options.version,
    self,
    socket,
    signal,
    env,
    demianProgram: options.demianProgram,
    connect: ({ isPatient } = { isPatient: false }) =>
      connect(given, { socket, self, program: options.daemonProgram, output, isPatient }),
    readInput: () => readPiped(output),
    ...(stdin.isTTY && stderr.isTTY ? { confirm } : {}),
  };
}

/** A stdin that somebody left open never ends: then at least it is said what we wait for. */
async function readPiped(output: Output): Promise<string | undefined> {
  if (!hasInput()) return undefined;
  const timer = setTimeout(() => output.note("· reading the text from stdin"), READING_NOTE_MS);
  try {
    return await readInput();
  } finally {
    clearTimeout(timer);
  }
}

interface ConnectHow {
  socket: string | undefined;
  self: string | undefined;
  program: string;
  output: Output;
  isPatient: boolean;
}

const PATIENCE = { initialMs: 50, maxMs: 1_000 };

async function connect(given: Arguments, how: ConnectHow): Promise<HttpClient> {
  const { socket, self, program, output, isPatient } = how;
  if (self !== undefined && !SESSION_ID.test(self))
    throw new UsageError(
      `BLEMEES_SESSION_ID is no session id: ${JSON.stringify(self)}; unset it outside of an agent`,
    );
  const options: HttpOptions = {
    ...(isPatient ? { retry: PATIENCE } : {}),
    ...(socket === undefined ? {} : { socket }),
    ...(self === undefined ? {} : { session_id: self }),
    onRetry: (cause, attempt) => {
      if (attempt === 1) output.note(`· ${cause.message}; looking for it again`);
    },
  };
  const http = await reach(options);
  if (http !== undefined) return http;
  if (self !== undefined)
    throw new CodedError(
      "no_daemon",
      "the daemon that runs this agent does not answer; it is not started from inside",
    );
  if (given.flags["no-start"])
    throw new CodedError("no_daemon", "no daemon runs; start one with `blemeesd`, or leave --no-start out");
  return startDaemon({ program, socket, env: process.env, note: (text) => output.note(text) }, options);
}

/** Texts say `sm`; under another name errors say that one. */
function inWordsOf(error: unknown, program: ProgramName = "sm"): unknown {
  if (program === "sm" || !(error instanceof CodedError)) return error;
  const message = called(error.message, program);
  if (error instanceof UsageError)
    return new UsageError(message, error.help === undefined ? undefined : called(error.help, program));
  const { data, cause } = error;
  return new CodedError(error.code, message, { cause, ...(data === undefined ? {} : { data }) });
}

function unknownCommand(name: string): UsageError {
  const names = [
    ...COMMANDS.flatMap((command) => [command.name, ...(command.aliases ?? [])]),
    ...OWN_COMMANDS.map((own) => own.name),
  ];
  return new UsageError(`unknown command: ${name}${didYouMean(name, names)}`);
}

function helpOn(name: string | undefined, program: ProgramName): string {
  const command = name === undefined ? undefined : findCommand(name);
  if (command !== undefined) return commandHelp(command, program);
  if (name === undefined || name.startsWith("-") || OWN_COMMANDS.some((own) => own.name === name))
    return programHelp(program);
  throw unknownCommand(name);
}

function say(text: string): number {
  process.stdout.write(`${text}\n`);
  return 0;
}
