// A command-line program as data: its table of commands gives dispatch, help, completion, exit codes (0 done, 1 failed,
// 2 usage) and the one place where an error becomes a line on stderr.
import { CodedError, readErrno, toMessage } from "../base/coded-error.ts";
import { sanitize, sanitizeJson } from "../base/sanitize.ts";
import { defined } from "../base/values.ts";
import { type Arguments, didYouMean, type Flag, parseArguments, UsageError } from "./command.ts";
import { buildCompletionScript, type CompletionTable, SHELLS } from "./completion.ts";

export interface Command<C> {
  name: string;
  aliases?: readonly string[];
  usage: string;
  summary: string;
  /** Minimum and maximum number of arguments. */
  words: readonly [number, number];
  /** From this argument on everything is text, including what looks like a flag. */
  verbatimFrom?: number;
  flags?: readonly Flag[];
  /** Common flags that its help does not list. */
  hides?: readonly string[];
  /** Without the program's name, unless something is piped into it. */
  examples?: readonly string[];
  notes?: readonly string[];
  /** Completion of its arguments: words, or a key of the program's `asks`. */
  completes?: string | readonly string[];
  run(given: Arguments, context: C): Promise<number>;
}

/** As the maximum of `words`: any number of arguments. */
export const ANY = Number.POSITIVE_INFINITY;

export interface Group<C> {
  title: string;
  commands: readonly Command<C>[];
}

export interface Program<C> {
  /** The name it was started by. */
  name: string;
  /** The name that its texts use, if that is another one. */
  textName?: string;
  version: string;
  /** The first lines of the help, after the name. */
  usages: readonly string[];
  /** Each with what it does. */
  examples: readonly (readonly [string, string])[];
  groups: readonly Group<C>[];
  /** Lines of the help between commands and flags. */
  details: readonly string[];
  /** The last lines of the help. */
  notes: readonly string[];
  /** Flags of every command. */
  commonFlags: readonly Flag[];
  /** Flags without a command; includes the common ones. */
  flags: readonly Flag[];
  asks: CompletionTable["asks"];
  flagAsks?: CompletionTable["flagAsks"];
  createContext(given: Arguments): C;
  /** Handles what a command throws: gives an exit code, or throws. */
  recover?(error: unknown, given: Arguments, context: C): number;
  /** Without a command; absent: prints the help. */
  runAlone?(given: Arguments, argv: readonly string[]): Promise<number>;
  /** A first word that is not a command is text for `runAlone`; the value explains it in errors. */
  textNote?: string;
  /** Why a word that looks like a command is not one. */
  explainUnknown?(name: string): string | undefined;
  stdout?: { write(text: string): unknown };
  stderr?: { write(text: string): unknown };
}

/** Throws what goes wrong, except with --json: then the error is one JSON document on stderr. */
export async function runProgram<C>(program: Program<C>, argv: readonly string[]): Promise<number> {
  try {
    return await dispatch(program, argv);
  } catch (thrown) {
    const error = renameError(thrown, program);
    const dashes = argv.indexOf("--");
    const isJson = argv.slice(0, dashes === -1 ? undefined : dashes).includes("--json");
    if (!isJson || !(error instanceof CodedError)) throw error;
    const { code, message, data } = error;
    const { stderr = process.stderr } = program;
    stderr.write(`${sanitizeJson(JSON.stringify({ error: { code, message, data } }))}\n`);
    return error instanceof UsageError ? 2 : 1;
  }
}

/**
 * Runs `main` to its exit code. The process ends by itself once its output is written, or at once when the reader of its
 * output (head, less) is gone, unless `onReaderGone` does something else.
 */
export async function runMain(
  program: string,
  main: () => Promise<number>,
  onReaderGone: () => void = () => process.exit(0),
): Promise<void> {
  process.stdout.on("error", (error) => {
    if (readErrno(error) === "EPIPE") {
      onReaderGone();
      return;
    }
    process.stderr.write(`${program}: cannot write to stdout: ${sanitize(toMessage(error))}\n`);
    process.exit(1);
  });
  try {
    process.exitCode = await main();
  } catch (error) {
    process.stderr.write(`${program}: ${sanitize(toMessage(error))}\n`);
    if (error instanceof UsageError) process.stderr.write(`Try '${error.help ?? `${program} --help`}'.\n`);
    process.exitCode = error instanceof UsageError ? 2 : 1;
  }
}

export function listCommands<C>({ groups }: Pick<Program<C>, "groups">): Command<C>[] {
  return groups.flatMap(({ commands }) => commands);
}

export function formatProgramHelp<C>(program: Program<C>): string {
  const { name, usages, examples, groups, details, flags, notes } = program;
  const shown = examples.map(([example, meaning]) => [exampleLine(example, program), meaning] as const);
  const width = Math.max(0, ...shown.map(([example]) => example.length));
  const text = [
    ...usages.map((usage, at) => `${at === 0 ? "usage:" : "      "} ${name} ${usage}`.trimEnd()),
    "",
    ...shown.map(([example, meaning]) => `  ${example.padEnd(width)}  ${meaning}`.trimEnd()),
    "",
    ...groups.flatMap(({ title, commands }, at) => [
      `${title}:`,
      ...formatUsageLines([...commands, ...(at === groups.length - 1 ? OWN_COMMANDS : [])]),
      "",
    ]),
    ...(details.length === 0 ? [] : [...details, ""]),
    "Flags:",
    ...formatFlags(flags),
    "",
    ...notes,
  ];
  return renameText(text.join("\n"), program);
}

export function formatCommandHelp<C>(program: Program<C>, command: Command<C>): string {
  const { usage, summary, aliases, flags = [], hides = [], examples = [], notes = [] } = command;
  const { name, commonFlags } = program;
  const text = [
    `usage: ${name} ${usage}`,
    "",
    ...examples.map((example) => `  ${exampleLine(example, program)}`),
    ...(examples.length === 0 ? [] : [""]),
    `${summary[0]?.toUpperCase()}${summary.slice(1)}.`,
    ...(aliases === undefined ? [] : [`Also: ${aliases.join(", ")}`]),
    ...(notes.length === 0 ? [] : ["", ...notes]),
    "",
    "Flags:",
    ...formatFlags([...flags, ...commonFlags.filter(({ name }) => !hides.includes(name))]),
  ];
  return renameText(text.join("\n"), program);
}

export function buildProgramCompletion<C>(program: Program<C>, shell: string): string {
  const commands = listCommands(program);
  const names = commands.map(({ name }) => name);
  return buildCompletionScript(shell, {
    program: program.name,
    commands: [
      ...commands.flatMap(({ name, aliases = [], summary, flags, completes }) =>
        [name, ...aliases].map((word) => ({
          name: word,
          summary,
          flags,
          ...(typeof completes === "string" ? { takes: completes } : { words: completes }),
        })),
      ),
      ...OWN_COMMANDS.map(({ name, summary }) => ({
        name,
        summary,
        words: name === "completion" ? SHELLS : names,
      })),
    ],
    programFlags: program.flags,
    commonFlags: program.commonFlags,
    asks: program.asks,
    ...defined({ flagAsks: program.flagAsks }),
  });
}

/** Our own text, in the name that the program was started by. */
export function renameText(text: string, { name, textName }: { name: string; textName?: string }): string {
  if (textName === undefined || textName === name) return text;
  return text.replace(new RegExp(`(?<![\\w./-])${textName}(?= )`, "g"), name);
}

/** A long usage gets a line of its own, so that the summaries stay in one column. */
export function formatUsageLines(rows: readonly { usage: string; summary: string }[]): string[] {
  const width = 28;
  return rows.flatMap(({ usage, summary }) =>
    usage.length <= width
      ? [`  ${usage.padEnd(width)}  ${summary}`]
      : [`  ${usage}`, `  ${"".padEnd(width)}  ${summary}`],
  );
}

export function formatFlags(flags: readonly Flag[]): string[] {
  const rows = flags.map(({ name, short, value, isValueOptional, summary }) => ({
    usage: `${short === undefined ? "" : `-${short}, `}--${name}${value === undefined ? "" : isValueOptional ? `[=${value}]` : ` ${value}`}`,
    summary,
  }));
  const width = Math.max(...rows.map(({ usage }) => usage.length));
  return rows.map(({ usage, summary }) => `  ${usage.padEnd(width)}  ${summary}`);
}

/** Commands of every program. */
const OWN_COMMANDS = [
  {
    name: "completion",
    usage: `completion ${SHELLS.join("|")}`,
    summary: "print a completion script for your shell",
  },
  { name: "help", usage: "help [COMMAND]", summary: "show this text, or the help of a command" },
] as const;

async function dispatch<C>(program: Program<C>, argv: readonly string[]): Promise<number> {
  // Flags may precede the command; its own table decides about them when it is known.
  const anyFlags = [...program.flags, ...listCommands(program).flatMap(({ flags = [] }) => flags)];
  const leading = parseArguments(argv, anyFlags, 1);
  const [name, ...rest] = leading.words;
  const at = argv.length - leading.words.length;
  const isQuoted = program.textNote !== undefined && argv[at - 1] === "--";
  if (leading.flags["version"]) return print(program, `${program.name} ${program.version}`);
  const command = name === undefined || isQuoted ? undefined : findCommand(program, name);
  if (command !== undefined) return runCommand(program, command, [...argv.slice(0, at), ...rest]);
  if (!isQuoted && (name === "help" || name === "completion")) return runOwn(program, name, rest);
  if (name !== undefined && program.textNote === undefined) throw unknownCommand(program, name);
  const given = parseArguments(argv, program.flags);
  if (given.flags["version"]) return print(program, `${program.name} ${program.version}`);
  if (given.flags["help"] || program.runAlone === undefined)
    return print(program, formatProgramHelp(program));
  return program.runAlone(given, argv);
}

async function runCommand<C>(
  program: Program<C>,
  command: Command<C>,
  argv: readonly string[],
): Promise<number> {
  try {
    const { flags = [], verbatimFrom, words, usage } = command;
    const given = parseArguments(argv, [...flags, ...program.commonFlags], verbatimFrom);
    if (given.flags["help"]) return print(program, formatCommandHelp(program, command));
    const [fewest, most] = words;
    if (given.words.length < fewest || given.words.length > most)
      throw new UsageError(`usage: ${program.name} ${usage}${textNote(program)}`);
    const context = program.createContext(given);
    const { recover } = program;
    if (recover === undefined) return await command.run(given, context);
    return await command.run(given, context).catch((error: unknown) => recover(error, given, context));
  } catch (error) {
    if (!(error instanceof UsageError) || error.help !== undefined) throw error;
    throw new UsageError(error.message, `${program.name} help ${command.name}`);
  }
}

function runOwn<C>(program: Program<C>, name: "help" | "completion", rest: readonly string[]): number {
  const { flags, words } = parseArguments(rest, program.commonFlags);
  const [first, ...more] = words;
  if (name === "completion" && !flags["help"])
    return print(program, buildProgramCompletion(program, first ?? ""));
  const command = first === undefined ? undefined : findCommand(program, first);
  if (command !== undefined && more.length === 0) return print(program, formatCommandHelp(program, command));
  if (first === undefined || flags["help"] || OWN_COMMANDS.some((own) => own.name === first))
    return print(program, formatProgramHelp(program));
  throw unknownCommand(program, first);
}

function findCommand<C>(program: Program<C>, name: string): Command<C> | undefined {
  return listCommands(program).find((command) => command.name === name || command.aliases?.includes(name));
}

function unknownCommand<C>(program: Program<C>, name: string): UsageError {
  const why = program.explainUnknown?.(name);
  const help = `${program.name} --help`;
  if (why !== undefined) return new UsageError(why, help);
  const known = [...listCommands(program), ...OWN_COMMANDS].flatMap((command) => [
    command.name,
    ...("aliases" in command ? (command.aliases ?? []) : []),
  ]);
  return new UsageError(`unknown command: ${name}${didYouMean(name, known)}${textNote(program)}`, help);
}

function textNote({ textNote }: { textNote?: string }): string {
  return textNote === undefined ? "" : `; ${textNote}`;
}

function renameError(error: unknown, program: { name: string; textName?: string }): unknown {
  if (!(error instanceof CodedError)) return error;
  const message = renameText(error.message, program);
  if (message === error.message) return error;
  if (error instanceof UsageError) return new UsageError(message, error.help);
  const { data, cause } = error;
  return new CodedError(error.code, message, { cause, ...defined({ data }) });
}

function exampleLine(example: string, program: { name: string; textName?: string }): string {
  return renameText(example.includes("| ") ? example : `${program.name} ${example}`.trimEnd(), program);
}

function print({ stdout = process.stdout }: Pick<Program<never>, "stdout">, text: string): number {
  stdout.write(`${text}\n`);
  return 0;
}
