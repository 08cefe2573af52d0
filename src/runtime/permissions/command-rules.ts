// Matches rules with `commandPrefix` against a command. An allow rule needs certainty; for a denial, suspicion is enough.
import { parsePlain } from "../../base/commands/plain.ts";
import {
  APPENDERS,
  EVALUATORS,
  GIT_READERS,
  getBaseName,
  hasExecutingOption,
  INTERPRETERS,
  isIn,
  READERS,
  runsOtherPrograms,
  SHELLS,
  WRAPPERS,
} from "../../base/commands/programs.ts";
import { splitCommands, type Word } from "./shell-words.ts";
import type { ResolvedCommand } from "./types.ts";

/** What may follow the prefix of an allow rule if the program is not a known reader: operands, no options. */
const OPERAND = /^[A-Za-z0-9_./@][A-Za-z0-9_./@ -]*$/;
const SHORT = /^-[A-Za-z]+$/;
const MAX_DEPTH = 6;
/** Counts nested commands each time; a longer command is an attempt to hide something. */
const MAX_WORDS_CHECKED = 100_000;

/**
 * The command starts with the prefix, and the rest cannot turn it into something else: programs that run others must match
 * exactly, and only readers may have options.
 */
export function allowsCommand(prefix: string, resolved: ResolvedCommand | undefined): boolean {
  const wanted = parsePlain(prefix);
  if (wanted === undefined || resolved === undefined) return false;
  const { argv, executable } = resolved;
  if (!wanted.every((word, index) => argv[index] === word)) return false;
  const rest = argv.slice(wanted.length);
  if (rest.length === 0) return true;
  if (
    runsOtherPrograms(argv[0] ?? "") ||
    runsOtherPrograms(executable) ||
    getBaseName(argv[0] ?? "") === "sed"
  )
    return false;
  if (hasExecutingOption(argv)) return false;
  if (isIn(READERS, argv[0] ?? "")) return true;
  if (getBaseName(argv[0] ?? "") !== "git") return rest.every((word) => OPERAND.test(word));
  // The rule must name the git command, unless it is one that only reads.
  if (GIT_READERS.has(argv[1] ?? "")) return true;
  return wanted.length > 1 && rest.every((word) => OPERAND.test(word));
}

/** A command in it starts with the prefix, or might. */
export function mightRun(prefix: string, command: string): boolean {
  const [first, ...others] = prefix.split(/\s+/).filter((word) => word !== "");
  if (first === undefined) return true;
  return textRuns(command, { first, others, wordsChecked: 0 }, 0, true);
}

interface Wanted {
  first: string;
  others: readonly string[];
  /** Words checked so far. */
  wordsChecked: number;
}

/** `isShell`: unknown words may be anything. Code in other languages is searched only for literal matches. */
function textRuns(text: string, wanted: Wanted, depth: number, isShell: boolean): boolean {
  if (depth > MAX_DEPTH) return true;
  return splitCommands(text).some((words) => commandRuns(words, wanted, depth, isShell));
}

function commandRuns(words: readonly Word[], wanted: Wanted, depth: number, isShell: boolean): boolean {
  const [first, ...rest] = words;
  if (first === undefined) return false;
  wanted.wordsChecked += words.length;
  if (depth > MAX_DEPTH || wanted.wordsChecked > MAX_WORDS_CHECKED) return true;
  if (isName(first, wanted.first)) return matchesRest(wanted.others, rest);
  if (!isShell)
    return words.some((word) => mayContainCommand(word) && textRuns(word.text, wanted, depth + 1, false));
  if (isUnknownName(first)) return true;
  if (isIn(SHELLS, first.text)) return shellRuns(rest, wanted, depth);
  if (isIn(EVALUATORS, first.text)) {
    return textRuns(rest.map(({ text }) => text).join(" "), wanted, depth + 1, true);
  }
  if (isIn(INTERPRETERS, first.text)) {
    return rest.some((word) => mayContainCommand(word) && textRuns(word.text, wanted, depth + 1, false));
  }
  return isIn(WRAPPERS, first.text) && wrapperRuns(first, rest, wanted, depth);
}

function shellRuns(rest: readonly Word[], wanted: Wanted, depth: number): boolean {
  // The shell reads its commands from stdin or a file.
  if (rest.every(({ text }) => /^[-+]/.test(text))) return true;
  return rest.some(
    (word) => (mayContainCommand(word) || word.isDynamic) && textRuns(word.text, wanted, depth + 1, true),
  );
}

function wrapperRuns(wrapper: Word, rest: readonly Word[], wanted: Wanted, depth: number): boolean {
  const command = rest.findIndex(
    ({ text }, index) => !/^-|^[A-Za-z_]\w*=|^\d/.test(text) && !rest[index - 1]?.text.startsWith("-"),
  );
  return rest.some((word, index) => {
    if (isName(word, wanted.first)) {
      return isIn(APPENDERS, wrapper.text) || matchesRest(wanted.others, rest.slice(index + 1));
    }
    if (isUnknownName(word) && (command === -1 || index <= command)) return true;
    if (runsOtherPrograms(word.text) && commandRuns(rest.slice(index), wanted, depth + 1, true)) return true;
    return /\s/.test(word.text) && textRuns(word.text, wanted, depth + 1, true);
  });
}

/** Options and file names contain no commands. */
function mayContainCommand({ text }: Word): boolean {
  return /[\s;&|(`'"]/.test(text);
}

function isName({ text }: Word, name: string): boolean {
  return text === name || getBaseName(text) === name.toLowerCase();
}

/** The program depends on an expansion. */
function isUnknownName({ text, isDynamic }: Word): boolean {
  const last = text.slice(text.lastIndexOf("/") + 1);
  return isDynamic && last !== "[" && last !== "[[" && /[$*?[{]/.test(last);
}

/** In order, with anything in between ("git -C dir push"); short options in any combination. */
function matchesRest(wanted: readonly string[], words: readonly Word[]): boolean {
  const letters = new Set(words.filter(({ text }) => SHORT.test(text)).flatMap(({ text }) => [...text]));
  let at = 0;
  for (const want of wanted) {
    if (SHORT.test(want) && [...want].every((letter) => letters.has(letter))) continue;
    const found = words.findIndex(
      ({ text, isDynamic }, index) => index >= at && (isDynamic || text === want),
    );
    if (found === -1) return false;
    if (words[found]?.isDynamic) return true;
    at = found + 1;
  }
  return true;
}
