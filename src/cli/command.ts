// Command-line arguments: flags as a table, usage errors that suggest the nearest valid word, typed flag values.
import { CodedError } from "../base/coded-error.ts";
import { pickNearest } from "../base/nearest.ts";
import { defined } from "../base/values.ts";

export interface Flag {
  /** Without the dashes. */
  name: string;
  short?: string;
  /** The value's name in the help; absent for a flag without a value. */
  value?: string;
  /** The value may be missing, and is given as `--name=VALUE` only: a word after the flag is not its value. */
  isValueOptional?: true;
  /** May be repeated; the values are in `many`. */
  isMany?: true;
  summary: string;
  /** Completion of its value: `file`, or a key of the program's `flagAsks`. */
  completes?: string;
}

/** A row of a table of flags, such as `defineFlag("-n, --lines N", "print the last N lines")`; `--name[=VALUE]` has an optional value. */
export function defineFlag(
  usage: string,
  summary: string,
  more: Pick<Flag, "isMany" | "completes"> = {},
): Flag {
  const [, short, name = "", value, optional] =
    /^(?:-(\w), )?--([\w-]+)(?: (.+)|\[=(.+)\])?$/.exec(usage) ?? [];
  const isValueOptional = optional === undefined ? undefined : (true as const);
  return { name, summary, ...defined({ short, value: value ?? optional, isValueOptional }), ...more };
}

export interface Arguments {
  flags: Readonly<Record<string, string | true>>;
  words: string[];
  /** Values of flags with `isMany`, in order. */
  many: Readonly<Record<string, readonly string[]>>;
}

export class UsageError extends CodedError {
  /** The command that explains more; default: the program's help. */
  readonly help: string | undefined;

  constructor(message: string, help?: string) {
    super("usage", message);
    this.help = help;
  }
}

/**
 * Separates flags from words. From word number `verbatimFrom` on, and after `--`, everything is a word, so a prompt may
 * contain what looks like a flag. A `--` after that word is kept: it may be meant for whatever reads the words.
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
    if (flag.value === undefined || (flag.isValueOptional === true && inline === undefined)) {
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
  const found = pickNearest(word, candidates);
  return found === undefined ? "" : `; did you mean ${found}?`;
}

export function readTextFlag({ flags }: Pick<Arguments, "flags">, name: string): string | undefined {
  const value = flags[name];
  return typeof value === "string" ? value : undefined;
}

export function readNumberFlag(
  given: Pick<Arguments, "flags">,
  name: string,
  { least = 0, isWhole = false }: { least?: number; isWhole?: boolean } = {},
): number | undefined {
  const text = readTextFlag(given, name);
  if (text === undefined) return undefined;
  const value = Number(text);
  if (text.trim() !== "" && value >= least && (!isWhole || Number.isInteger(value))) return value;
  throw new UsageError(
    `--${name} must be a ${isWhole ? "whole " : ""}number of at least ${least}, not ${JSON.stringify(text)}`,
  );
}

function findFlag(given: string, table: readonly Flag[]): Flag {
  const flag = table.find(
    ({ name, short }) => given === `--${name}` || (short !== undefined && given === `-${short}`),
  );
  if (flag !== undefined) return flag;
  const names = table.map(({ name }) => `--${name}`);
  const hint = didYouMean(given, names) || "; to pass it as text, put -- before it";
  throw new UsageError(`unknown flag ${/\s/.test(given) ? JSON.stringify(given) : given}${hint}`);
}

function splitOnce(text: string, separator: string): [string, string?] {
  const at = text.indexOf(separator);
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}
