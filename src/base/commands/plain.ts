// Parses plain commands: words and simple quotes, nothing that a shell expands, splits or interprets. All other commands
// need approval each time. The grammar is an allowlist, so that anything forgotten is rejected.

/** Unquoted: no operator, glob, tilde, brace, comment, expansion or escape, and ASCII only (what splits words depends on the locale). */
const BARE = /^[A-Za-z0-9_./:@%+,=-]$/;
/** In quotes: no `$`, backtick, backslash or `!`, nothing invisible, no whitespace except the space. */
const QUOTED = /^[^\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800$`\\!]$|^ $/u;
const ASSIGNMENT = /^[A-Za-z_][A-Za-z0-9_]*\+?=/;
const RESERVED = new Set(
  "if then else elif fi case esac for select while until do done in function time coproc".split(" "),
);
const MAX_CHARACTERS = 8192;

/** The command's words; undefined if it is not plain. */
export function parsePlain(command: string): string[] | undefined {
  if (command.length > MAX_CHARACTERS || command.normalize("NFC") !== command) return undefined;
  const words = splitPlain(command);
  const first = words?.[0];
  if (words === undefined || first === undefined || first === "") return undefined;
  // Quoted, these would be program names, but no real program is called that.
  if (RESERVED.has(first) || ASSIGNMENT.test(first)) return undefined;
  // "%1" is a job; zsh expands "=ls" to a path.
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
