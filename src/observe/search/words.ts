// The words that a text is found by. Pure; indexing and queries must agree on them: a change here needs a migration that
// empties the index (schema.ts).

/** Longer words, such as hashes, are found by their first characters. */
const MAX_WORD_CHARS = 32;
/** Longer runs are encoded data. */
const MAX_RUN_CHARS = 128;

/** Scripts without spaces between words: found by pairs of characters. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const UNSPACED_RUN = new RegExp(`${UNSPACED.source}+|(?:(?!${UNSPACED.source}).)+`, "gsu");
const ASCII_RUN = /[A-Za-z0-9]+/g;
const ANY_RUN = /[\p{L}\p{N}\p{M}]+/gu;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the whole range is meant.
const ASCII = /^[\x00-\x7f]*$/;
const MIXED_CASE = /[\p{Ll}\p{N}]\p{Lu}|\p{Lu}\p{Lu}\p{Ll}/u;
const PARTS = /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u;

/** Without case and accents; wide and narrow forms are the same. Keeps no positions: see `foldWithPlaces`. */
export function foldText(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  let folded = "";
  for (const char of text.normalize("NFC")) folded += foldChar(char);
  return folded;
}

/** The folded text, and for each of its code units where that is in `text`. */
export function foldWithPlaces(text: string): { folded: string; places: number[] } {
  let folded = "";
  const places: number[] = [];
  let at = 0;
  for (const char of text) {
    const one = foldChar(char);
    for (let unit = 0; unit < one.length; unit += 1) places.push(at);
    folded += one;
    at += char.length;
  }
  places.push(at);
  return { folded, places };
}

const folds = new Map<string, string>();

function foldChar(char: string): string {
  if (char < "\u0080") return char.toLowerCase();
  let folded = folds.get(char);
  if (folded === undefined) {
    folded = char
      .normalize("NFKD")
      .replace(/[\u0300-\u036f]/g, "")
      .normalize("NFC")
      .toLowerCase();
    if (folds.size < 20_000) folds.set(char, folded);
  }
  return folded;
}

/** Runs of letters and digits, in order. */
export function listRuns(text: string): string[] {
  return (ASCII.test(text) ? text.match(ASCII_RUN) : text.normalize("NFC").match(ANY_RUN)) ?? [];
}

/** `readPage` is found by `readpage`, `read` and `page`; 日本語 by 日本, 本語 and 語. */
export function listWords(text: string): Set<string> {
  const words = new Set<string>();
  for (const run of listRuns(text)) addRun(words, run);
  return words;
}

function addRun(words: Set<string>, run: string): void {
  if (run.length > MAX_RUN_CHARS) {
    if (!UNSPACED.test(run)) words.add(cutWord(foldText(run.slice(0, MAX_RUN_CHARS))));
    else for (const part of run.match(UNSPACED_RUN) ?? []) addPart(words, part);
    return;
  }
  if (ASCII.test(run) || !UNSPACED.test(run)) addSpaced(words, run);
  else for (const part of run.match(UNSPACED_RUN) ?? []) addPart(words, part);
}

function addPart(words: Set<string>, part: string): void {
  if (UNSPACED.test(part)) for (const pair of listPairs(part)) words.add(pair);
  else addSpaced(words, part.slice(0, MAX_RUN_CHARS));
}

function addSpaced(words: Set<string>, run: string): void {
  const whole = foldText(run);
  if (whole !== "") words.add(cutWord(whole));
  if (!MIXED_CASE.test(run)) return;
  for (const part of run.split(PARTS)) {
    const word = foldText(part);
    if (word !== "") words.add(cutWord(word));
  }
}

/** Pairs of neighbors, and the last character alone: a single character is the start of one of these. */
export function listPairs(run: string): string[] {
  const chars = [...foldText(run)];
  return chars.map((char, at) => char + (chars[at + 1] ?? ""));
}

export function isUnspaced(run: string): boolean {
  return UNSPACED.test(run);
}

/** Splits a run where a script without spaces begins or ends. */
export function splitScripts(run: string): string[] {
  return run.match(UNSPACED_RUN) ?? [];
}

export function cutWord(word: string): string {
  return word.length <= MAX_WORD_CHARS ? word : [...word].slice(0, MAX_WORD_CHARS).join("");
}

/** A hash, a number, or something with one: hardly ever twice, so it is not worth a place among the words with parts. */
const CODE = /^\d|(?:\d.*){4}/;

export function isCode(word: string): boolean {
  return CODE.test(word);
}
