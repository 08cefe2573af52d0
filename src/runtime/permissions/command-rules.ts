// Whether a rule with `commandPrefix` fits a command. To allow, everything must be certain; to deny, a suspicion is enough.
import { parsePlain } from "./command.ts";
import {
  APPENDERS,
  baseName,
  EVALUATORS,
  GIT_READERS,
  hasExecutingOption,
  INTERPRETERS,
  isIn,
  READERS,
  runsOthers,
  SHELLS,
  WRAPPERS,
} from "./programs.ts";
import { simpleCommands, type Word } from "./shell-words.ts";
import type { ResolvedCommand } from "./types.ts";

/** What may follow the words of an allow rule where little is known of the program: names of things, no options. */
const OPERAND = /^[A-Za-z0-9_./@][A-Za-z0-9_./@ -]*$/;
const SHORT = /^-[A-Za-z]+$/;
const MAX_DEPTH = 6;
/** Words that are looked at, those of commands within commands each time; more of them were made so that nobody can tell. */
const MAX_LOOKS = 100_000;

/**
 * The command begins with these words. Words after them may not turn it into something else: programs that run others
 * fit exactly or not at all, options are taken from those only that merely read.
 */
export function allowsCommand(prefix: string, resolved: ResolvedCommand | undefined): boolean {
  const wanted = parsePlain(prefix);
  if (wanted === undefined || resolved === undefined) return false;
  const { argv, executable } = resolved;
  if (!wanted.every((word, index) => argv[index] === word)) return false;
  const rest = argv.slice(wanted.length);
  if (rest.length === 0) return true;
  if (runsOthers(argv[0] ?? "") || runsOthers(executable) || baseName(argv[0] ?? "") === "sed") return false;
  if (hasExecutingOption(argv)) return false;
  if (isIn(READERS, argv[0] ?? "")) return true;
  if (baseName(argv[0] ?? "") !== "git") return rest.every((word) => OPERAND.test(word));
  // Which git command it is must be said by the rule, or be one that reads.
  if (GIT_READERS.has(argv[1] ?? "")) return true;
  return wanted.length > 1 && rest.every((word) => OPERAND.test(word));
}

/** Some command in it begins with these words, or nobody can tell. */
export function mightRun(prefix: string, command: string): boolean {
  const [first, ...others] = prefix.split(/\s+/).filter((word) => word !== "");
  if (first === undefined) return true;
  return textRuns(command, { first, others, looks: 0 }, 0, true);
}

interface Wanted {
  first: string;
  others: readonly string[];
  /** How many words were looked at so far. */
  looks: number;
}

/** `isShell`: what it does not say may be anything. The code of other languages is searched for what it says only. */
function textRuns(text: string, wanted: Wanted, depth: number, isShell: boolean): boolean {
  if (depth > MAX_DEPTH) return true;
  return simpleCommands(text).some((words) => commandRuns(words, wanted, depth, isShell));
}

function commandRuns(words: readonly Word[], wanted: Wanted, depth: number, isShell: boolean): boolean {
  const [first, ...rest] = words;
  if (first === undefined) return false;
  wanted.looks += words.length;
  if (depth > MAX_DEPTH || wanted.looks > MAX_LOOKS) return true;
  if (isName(first, wanted.first)) return restFits(wanted.others, rest);
  if (!isShell)
    return words.some((word) => mayHoldText(word) && textRuns(word.text, wanted, depth + 1, false));
  if (isUnknownName(first)) return true;
  if (isIn(SHELLS, first.text)) return shellRuns(rest, wanted, depth);
  if (isIn(EVALUATORS, first.text)) {
    return textRuns(rest.map(({ text }) => text).join(" "), wanted, depth + 1, true);
  }
  if (isIn(INTERPRETERS, first.text)) {
    return rest.some((word) => mayHoldText(word) && textRuns(word.text, wanted, depth + 1, false));
  }
  return isIn(WRAPPERS, first.text) && wrapperRuns(first, rest, wanted, depth);
}

function shellRuns(rest: readonly Word[], wanted: Wanted, depth: number): boolean {
  // It reads its commands from somewhere else.
  if (rest.every(({ text }) => /^[-+]/.test(text))) return true;
  return rest.some(
    (word) => (mayHoldText(word) || word.isDynamic) && textRuns(word.text, wanted, depth + 1, true),
  );
}

function wrapperRuns(wrapper: Word, rest: readonly Word[], wanted: Wanted, depth: number): boolean {
  const command = rest.findIndex(
    ({ text }, index) => !/^-|^[A-Za-z_]\w*=|^\d/.test(text) && !rest[index - 1]?.text.startsWith("-"),
  );
  return rest.some((word, index) => {
    if (isName(word, wanted.first)) {
      return isIn(APPENDERS, wrapper.text) || restFits(wanted.others, rest.slice(index + 1));
    }
    if (isUnknownName(word) && (command === -1 || index <= command)) return true;
    if (runsOthers(word.text) && commandRuns(rest.slice(index), wanted, depth + 1, true)) return true;
    return /\s/.test(word.text) && textRuns(word.text, wanted, depth + 1, true);
  });
}

/** Options and file names hold no commands. */
function mayHoldText({ text }: Word): boolean {
  return /[\s;&|(`'"]/.test(text);
}

function isName({ text }: Word, name: string): boolean {
  return text === name || baseName(text) === name.toLowerCase();
}

/** Only the shell knows what program this will be. */
function isUnknownName({ text, isDynamic }: Word): boolean {
  const last = text.slice(text.lastIndexOf("/") + 1);
  return isDynamic && last !== "[" && last !== "[[" && /[$*?[{]/.test(last);
}

/** In this order, with anything in between ("git -C dir push"); letters of short options in any arrangement. */
function restFits(wanted: readonly string[], words: readonly Word[]): boolean {
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
