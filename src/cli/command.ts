// What every command-line program of ours shares: flags as a table, a usage error that names the nearest good
// word, and the one place where an error becomes a line on stderr and an exit code (0, 1 failed, 2 usage).
import { CodedError, errnoOf, messageOf } from "../base/coded-error.ts";
import { nearest } from "../base/nearest.ts";
import { sanitize } from "../base/sanitize.ts";

export interface Flag {
  /** Without the dashes. */
  name: string;
  short?: string;
  /** What its value is called in the help; absent: it has none. */
  value?: string;
  /** It may be given more than once; what was given is in `many`. */
  isMany?: true;
  summary: string;
  /** What completion offers for its value: files, or a kind in the program's table. */
  completes?: string;
}

export interface Arguments {
  flags: Readonly<Record<string, string | true>>;
  words: string[];
  /** The values of flags with `isMany`, in order. */
  many: Readonly<Record<string, readonly string[]>>;
}

export class UsageError extends CodedError {
  /** What to type for more, when that is not the help of the program. */
  readonly help: string | undefined;

  constructor(message: string, help?: string) {
    super("usage", message);
    this.help = help;
  }
}

/**
 * Takes the flags of the table out of argv. From the word number `verbatimFrom` on, and behind `--`, everything
 * is a word, so that a prompt may hold what looks like a flag. A `--` behind that word is one of them: it may be meant
 * for whoever reads them.
 */
export function parseArguments(
  argv: readonly string[],
  table: readonly Flag[],
  verbatimFrom = Number.POSITIVE_INFINITY,
): Arguments {
  const flags: Record<string, string | true> = {};
  const words: string[] = [];
  const many: Record<string, string[]> = {};
  for (let at = 0; at < argv.length; at += 1) {
    const argument = argv[at] ?? "";
    if (argument === "--" || words.length >= verbatimFrom) {
      words.push(...argv.slice(words.length >= verbatimFrom ? at : at + 1));
      break;
    }
    if (!argument.startsWith("-") || argument === "-") {
      words.push(argument);
      continue;
    }
    const [given = "", inline] = splitOnce(argument, "=");
    const flag = findFlag(given, table);
    if (flag.value === undefined) {
      if (inline !== undefined) throw new UsageError(`${given} takes no value`);
      flags[flag.name] = true;
      continue;
    }
    const value = inline ?? argv[++at];
    if (value === undefined) throw new UsageError(`${given} needs a value: ${given} ${flag.value}`);
    flags[flag.name] = value;
    if (flag.isMany) many[flag.name] = [...(many[flag.name] ?? []), value];
  }
  return { flags, words, many };
}

export function didYouMean(word: string, candidates: readonly string[]): string {
  const found = nearest(word, candidates);
  return found === undefined ? "" : `; did you mean ${found}?`;
}

/**
 * Runs a program to its exit code. The process ends by itself once its output is written, and at once when the reader
 * of its output (head, less) has gone, unless `onReaderGone` says otherwise: there is nobody to tell.
 */
export async function runMain(
  program: string,
  main: () => Promise<number>,
  onReaderGone: () => void = () => process.exit(0),
): Promise<void> {
  process.stdout.on("error", (error) => {
    if (errnoOf(error) === "EPIPE") {
      onReaderGone();
      return;
    }
    process.stderr.write(`${program}: stdout cannot be written: ${sanitize(messageOf(error))}\n`);
    process.exit(1);
  });
  try {
    process.exitCode = await main();
  } catch (error) {
    process.stderr.write(`${program}: ${sanitize(messageOf(error))}\n`);
    if (error instanceof UsageError) process.stderr.write(`Try '${error.help ?? `${program} --help`}'.\n`);
    process.exitCode = error instanceof UsageError ? 2 : 1;
  }
}

function findFlag(given: string, table: readonly Flag[]): Flag {
  const flag = table.find(
    ({ name, short }) => given === `--${name}` || (short !== undefined && given === `-${short}`),
  );
  if (flag !== undefined) return flag;
  const names = table.map(({ name }) => `--${name}`);
  const hint = didYouMean(given, names) || "; if it is meant as text, put -- before it";
  throw new UsageError(`unknown flag ${/\s/.test(given) ? JSON.stringify(given) : given}${hint}`);
}

function splitOnce(text: string, separator: string): [string, string?] {
  const at = text.indexOf(separator);
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}
