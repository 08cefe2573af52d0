// Every simple command that a command line may run, also those behind wrappers ("sudo rm …") and in quoted text that a
// shell or another language gets ("bash -c '…'"). For blocking and denying only.
import { EVALUATORS, INTERPRETERS, isIn, SHELLS, WRAPPERS } from "./programs.ts";
import { simpleCommands, type Word } from "./shell-words.ts";

const MAX_DEPTH = 6;
const MAX_WRAPPED = 64;

export function nestedCommands(text: string): (readonly Word[])[] {
  return nested(text, 0, false, new Set());
}

/**
 * `isCode`: of another language, where every text may be a command. `seen`: behind wrappers the same text comes again and
 * again; read each time, a short line could take for ever.
 */
function nested(text: string, depth: number, isCode: boolean, seen: Set<string>): (readonly Word[])[] {
  const key = `${isCode} ${text}`;
  if (depth > MAX_DEPTH || seen.has(key)) return [];
  seen.add(key);
  return simpleCommands(text).flatMap((words) => [
    words,
    ...(isCode ? texts(words, depth, true, seen) : within(words, depth, seen)),
  ]);
}

function within(words: readonly Word[], depth: number, seen: Set<string>): (readonly Word[])[] {
  const [first, ...rest] = words;
  if (first === undefined) return [];
  const runs = (table: ReadonlySet<string>) => isIn(table, first.text);
  if (runs(INTERPRETERS)) return texts(rest, depth, true, seen);
  if (runs(SHELLS)) return texts(rest, depth, false, seen);
  if (!runs(WRAPPERS) && !runs(EVALUATORS)) return [];
  const wrapped = rest.slice(0, MAX_WRAPPED).map((_, index) => rest.slice(index));
  // Behind a wrapper there may be a shell, but wrappers behind wrappers are in `wrapped` already.
  const inner = wrapped.filter(
    ([word]) => word !== undefined && [SHELLS, INTERPRETERS].some((table) => isIn(table, word.text)),
  );
  return [
    ...wrapped.filter(([word]) => word?.text.startsWith("-") === false),
    ...inner.flatMap((command) => within(command, depth, seen)),
    ...texts(rest, depth, false, seen),
  ];
}

function texts(
  words: readonly Word[],
  depth: number,
  isCode: boolean,
  seen: Set<string>,
): (readonly Word[])[] {
  return words
    .filter(({ text }) => /[\s;&|(`'"]/.test(text))
    .flatMap(({ text }) => nested(text, depth + 1, isCode, seen));
}
