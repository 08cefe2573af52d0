// Finds every simple command that a command line may run, including those after wrappers ("sudo rm …") and in quoted code
// for a shell or another language ("bash -c '…'"). For blocking and denying only.
import { EVALUATORS, INTERPRETERS, isIn, SHELLS, WRAPPERS } from "../../base/commands/programs.ts";
import { splitCommands, type Word } from "./shell-words.ts";

const MAX_DEPTH = 6;
const MAX_WRAPPED = 64;

export function findNestedCommands(text: string): (readonly Word[])[] {
  return findInText(text, 0, false, new Set());
}

/**
 * `isCode`: code in another language, where any string may be a command. `seen` prevents exponential work, because
 * wrappers repeat the same text.
 */
function findInText(text: string, depth: number, isCode: boolean, seen: Set<string>): (readonly Word[])[] {
  const key = `${isCode} ${text}`;
  if (depth > MAX_DEPTH || seen.has(key)) return [];
  seen.add(key);
  return splitCommands(text).flatMap((words) => [
    words,
    ...(isCode ? findInQuotes(words, depth, true, seen) : findInWords(words, depth, seen)),
  ]);
}

function findInWords(words: readonly Word[], depth: number, seen: Set<string>): (readonly Word[])[] {
  const [first, ...rest] = words;
  if (first === undefined) return [];
  const runs = (table: ReadonlySet<string>) => isIn(table, first.text);
  if (runs(INTERPRETERS)) return findInQuotes(rest, depth, true, seen);
  if (runs(SHELLS)) return findInQuotes(rest, depth, false, seen);
  if (!runs(WRAPPERS) && !runs(EVALUATORS)) return [];
  const wrapped = rest.slice(0, MAX_WRAPPED).map((_, index) => rest.slice(index));
  // A wrapper may start a shell; nested wrappers are in `wrapped` already.
  const inner = wrapped.filter(
    ([word]) => word !== undefined && [SHELLS, INTERPRETERS].some((table) => isIn(table, word.text)),
  );
  return [
    ...wrapped.filter(([word]) => word?.text.startsWith("-") === false),
    ...inner.flatMap((command) => findInWords(command, depth, seen)),
    ...findInQuotes(rest, depth, false, seen),
  ];
}

function findInQuotes(
  words: readonly Word[],
  depth: number,
  isCode: boolean,
  seen: Set<string>,
): (readonly Word[])[] {
  return words
    .filter(({ text }) => /[\s;&|(`'"]/.test(text))
    .flatMap(({ text }) => findInText(text, depth + 1, isCode, seen));
}
