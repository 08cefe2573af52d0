// blemees, also called sm: sessions for users, and for agents that manage agents.

import { CodedError } from "../../base/coded-error.ts";
import { defined } from "../../base/values.ts";
import type { HttpClient, HttpOptions } from "../../client/index.ts";
import { type Arguments, defineFlag, type Flag, readTextFlag, UsageError } from "../command.ts";
import { abortOnInterrupt, confirm, hasInput, readInput } from "../input.ts";
import { Output } from "../output.ts";
import { type Program, renameText, runMain, runProgram } from "../program.ts";
import { createBlemeesWords } from "../request-text.ts";
import type { BlemeesContext } from "./command.ts";
import { GROUPS } from "./commands.ts";
import { SESSION_ID } from "./find.ts";
import { connectIfRunning, startDaemon } from "./start-daemon.ts";
import { TUI } from "./tui.ts";

export interface ProgramOptions {
  /** `blemees` or `sm`. */
  name: string;
  version: string;
  /** The script of blemeesd, to start it. */
  daemonProgram: string;
  /** The script of demian. */
  demianProgram: string;
}

const COMMON_FLAGS: readonly Flag[] = [
  defineFlag("--socket PATH", "the daemon's socket (default: $BLEMEES_SOCKET, $BLEMEESD_SOCKET, …)", {
    completes: "file",
  }),
  defineFlag("--json", "print one JSON document, or one per line when streaming"),
  defineFlag("-q, --quiet", "on stderr, print only errors"),
  defineFlag("--no-start", "do not start the daemon if it is not running"),
  defineFlag("-h, --help", "show help; after a command, the help of that command"),
];

/** The exit code of a program that Ctrl-C ended. */
const EXIT_INTERRUPTED = 130;
const READING_NOTE_MS = 1_000;

export function start(options: ProgramOptions): Promise<void> {
  return runMain(options.name, () => main(process.argv.slice(2), options));
}

export function main(argv: readonly string[], options: ProgramOptions): Promise<number> {
  return runProgram(createProgram(options), argv);
}

export function createProgram(options: ProgramOptions): Program<BlemeesContext> {
  const { name, version } = options;
  // In this order: asking stdin opens it, and agents call us without a terminal.
  const isTerminal = process.stdout.isTTY && process.stdin.isTTY;
  return {
    name,
    textName: "sm",
    version,
    usages: ["[COMMAND …]"],
    examples: [
      ["", "all sessions on one screen"],
      ["web", "the same in your browser"],
      ['spawn codex --name fixer "make the tests pass"', "start an agent"],
      ["children", "which sessions are working, waiting or failed, and what they cost"],
      ["requests", "pending requests; answer with approve, decline or answer"],
      ['send fixer "and the linter" --wait', "send another message"],
    ],
    groups: GROUPS,
    details: [
      "ID is a session's id, the start of it, or its name. `sm help COMMAND` shows the help of a command.",
      "The daemon is started if it is not running. Inside an agent, spawn creates children of that agent's session.",
      "`blemees` and `sm` are the same program.",
    ],
    notes: ["Exit status: 0 done, 1 failed, 2 usage error; for wait and --wait see `sm help wait`."],
    commonFlags: COMMON_FLAGS,
    flags: [...COMMON_FLAGS, defineFlag("-V, --version", "print the version")],
    // Tab never starts a daemon.
    asks: {
      session: `${name} --no-start all --ids`,
      archived: `${name} --no-start all --archived --ids`,
      outside: `${name} --no-start all --outside --ids`,
      request: `${name} --no-start requests --ids`,
    },
    flagAsks: {
      message: `${name} --no-start queue SESSION --ids`,
      session: `${name} --no-start all --ids`,
    },
    createContext: (given) => createContext(given, options),
    recover: (error, given, context) => {
      if (context.signal.aborted) return EXIT_INTERRUPTED;
      throw isAboutSelf(error, given, context) ? unknownSelf(error) : error;
    },
    ...(isTerminal && { runAlone: (given) => TUI.run(given, createContext(given, options)) }),
  };
}

/** The id came from the environment, so the daemon's error alone would be confusing. */
function isAboutSelf(
  error: unknown,
  { words, flags }: Arguments,
  { self }: BlemeesContext,
): error is CodedError {
  if (self === undefined || !(error instanceof CodedError) || error.code !== "session_unknown") return false;
  return error.message.includes(self) && !words.includes(self) && flags["parent"] !== self;
}

function unknownSelf({ code, message, data }: CodedError): CodedError {
  const text = `${message}; the id is from BLEMEES_SESSION_ID: unset it outside of an agent`;
  return new CodedError(code, text, defined({ data }));
}

function createContext(given: Arguments, options: ProgramOptions): BlemeesContext {
  const { stdout, stderr, env } = process;
  const { name, version, daemonProgram, demianProgram } = options;
  const rename = (text: string): string => renameText(text, { name, textName: "sm" });
  const output = new Output({ stdout, stderr, isQuiet: given.flags["quiet"] === true, rename });
  const socket = readTextFlag(given, "socket") ?? (env["BLEMEES_SOCKET"] || undefined);
  if (socket === "") throw new UsageError("--socket needs the path of the daemon's socket");
  const self = env["BLEMEES_SESSION_ID"] || undefined;
  return {
    output,
    words: createBlemeesWords(name),
    isJson: given.flags["json"] === true,
    version,
    self,
    socket,
    signal: abortOnInterrupt(),
    env,
    daemonProgram,
    demianProgram,
    connect: ({ isPatient } = { isPatient: false }) =>
      connect(given, { socket, self, program: daemonProgram, output, isPatient }),
    readInput: () => readPiped(output),
    ...(stderr.isTTY && process.stdin.isTTY ? { confirm } : {}),
  };
}

/** An open stdin never ends, so say what the program is waiting for. */
async function readPiped(output: Output): Promise<string | undefined> {
  if (!hasInput()) return undefined;
  const timer = setTimeout(() => output.note("· reading from stdin"), READING_NOTE_MS);
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
      `BLEMEES_SESSION_ID is not a session id: ${JSON.stringify(self)}; unset it outside of an agent`,
    );
  const options: HttpOptions = {
    ...(isPatient ? { retry: PATIENCE } : {}),
    ...defined({ socket, session_id: self }),
    onRetry: (cause, attempt) => {
      if (attempt === 1) output.note(`· ${cause.message}; reconnecting`);
    },
  };
  // An agent outlives the daemon that started it, and cannot start one.
  const isMissed = self !== undefined && given.flags["no-start"] === undefined;
  const http = await connectIfRunning(options, { isMissed });
  if (http !== undefined) return http;
  if (self !== undefined)
    throw new CodedError(
      "no_daemon",
      "the daemon that runs this agent does not answer; an agent does not start one",
    );
  if (given.flags["no-start"])
    throw new CodedError("no_daemon", "no daemon is running; start one with `blemeesd`, or omit --no-start");
  return startDaemon({ program, socket, env: process.env, note: (text) => output.note(text) }, options);
}
