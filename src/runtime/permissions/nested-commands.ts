// Every simple command that a command line may run, also those behind wrappers ("sudo rm …") and in quoted text that a
// shell or another language gets ("bash -c '…'"). For blocking and denying only.
import { EVALUATORS, INTERPRETERS, isIn, SHELLS, WRAPPERS } from "./programs.ts";
import { simpleCommands, type Word } from "./shell-words.ts";

const MAX_DEPTH = 6;
const MAX_WRAPPED = 64;

export function nestedCommands(text: string): (readonly Word[])[] {
  return nested(text, 0, false);
}

/** `isCode`: of another language, where every text may be a command. */
function nested(text: string, depth: number, isCode: boolean): (readonly Word[])[] {
  if (depth > MAX_DEPTH) return [];
  return simpleCommands(text).flatMap((words) => [
    words,
    ...(isCode ? texts(words, depth, true) : within(words, depth)),
  ]);
}

function within(words: readonly Word[], depth: number): (readonly Word[])[] {
  const [first, ...rest] = words;
  if (first === undefined) return [];
  const runs = (table: ReadonlySet<string>) => isIn(table, first.text);
  if (runs(INTERPRETERS)) return texts(rest, depth, true);
  if (runs(SHELLS)) return texts(rest, depth, false);
  if (!runs(WRAPPERS) && !runs(EVALUATORS)) return [];
  const wrapped = rest.slice(0, MAX_WRAPPED).map((_, index) => rest.slice(index));
  // Behind a wrapper there may be a shell, but wrappers behind wrappers are in `wrapped` already.
  const inner = wrapped.filter(
    ([word]) => word !== undefined && [SHELLS, INTERPRETERS].some((table) => isIn(table, word.text)),
  );
  return [
    ...wrapped.filter(([word]) => word?.text.startsWith("-") === false),
    ...inner.flatMap((command) => within(command, depth)),
    ...texts(rest, depth, false),
  ];
}

function texts(words: readonly Word[], depth: number, isCode: boolean): (readonly Word[])[] {
  return words
    .filter(({ text }) => /[\s;&|(`'"]/.test(text))
    .flatMap(({ text }) => nested(text, depth + 1, isCode));
}
