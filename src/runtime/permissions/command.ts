// The commands that are understood for certain: words and simple quotes, nothing that a shell expands, splits or obeys.
// Whatever is not in this grammar is asked each time. It lists what is allowed, so that what was forgotten is refused.

/** Unquoted: no operator, glob, tilde, brace, comment, expansion or escape, and ASCII only (what splits words depends on the locale). */
const BARE = /^[A-Za-z0-9_./:@%+,=-]$/;
/** In quotes: no `$`, backtick, backslash or `!`, nothing invisible, no blank but the space. */
const QUOTED = /^[^\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800$`\\!]$|^ $/u;
const ASSIGNMENT = /^[A-Za-z_][A-Za-z0-9_]*\+?=/;
const RESERVED = new Set(
  "if then else elif fi case esac for select while until do done in function time coproc".split(" "),
);
const MAX_CHARACTERS = 8192;

/** The words that a shell makes of the command; undefined: it is not plain. */
export function parsePlain(command: string): string[] | undefined {
  if (command.length > MAX_CHARACTERS || command.normalize("NFC") !== command) return undefined;
  const words = splitPlain(command);
  const first = words?.[0];
  if (words === undefined || first === undefined || first === "") return undefined;
  // Quoted, these would be names of programs; nobody needs one that is called so.
  if (RESERVED.has(first) || ASSIGNMENT.test(first)) return undefined;
  // "%1" is a job; "=ls" is what zsh makes a path of.
  if (first.startsWith("%") || words.some((word) => word.startsWith("="))) return undefined;
  return words;
}

function splitPlain(command: string): string[] | undefined {
  const words: string[] = [];
  let word: string | undefined;
  let quote: string | undefined;
  for (const char of command) {
    if (quote !== undefined) {
      if (char === quote) quote = undefined;
      else if (QUOTED.test(char)) word += char;
      else return undefined;
    } else if (char === " ") {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (char === "'" || char === '"') {
      quote = char;
      word ??= "";
    } else if (BARE.test(char)) word = (word ?? "") + char;
    else return undefined;
  }
  if (quote !== undefined) return undefined;
  if (word !== undefined) words.push(word);
  return words;
}
