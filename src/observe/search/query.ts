// Turns what a user typed into terms. There is no query language: words must all occur, quoted words as a phrase, and
// everything else is plain text. Pure.
import { CodedError } from "../../base/coded-error.ts";
import { cutWord, foldText, isUnspaced, listPairs, listRuns, splitScripts } from "./words.ts";

/** How a word of the query may match a word of the text. */
export type WordFit = "exact" | "start" | "part";

export interface QueryWord {
  word: string;
  fit: WordFit;
}

/** `needle` must occur in the folded text, with any whitespace for a space; `words` are what the index has of it. */
export interface QueryTerm {
  needle: string;
  words: QueryWord[];
}

const MAX_CHARS = 1_000;
const MAX_TERMS = 20;
const CHUNK = /"([^"]*)"?|[^\s"]+/g;
/** Punctuation around a word, but not inside. */
const EDGES = /^[^\p{L}\p{N}]+|[^\p{L}\p{N}\p{M}]+$/gu;

/** Throws `invalid_message` if there is nothing to search for, or too much. */
export function parseQuery(text: string): QueryTerm[] {
  if (text.length > MAX_CHARS)
    throw new CodedError(
      "invalid_message",
      `the search text has ${text.length} characters; the limit is ${MAX_CHARS}`,
    );
  const terms: QueryTerm[] = [];
  for (const [chunk, phrase] of text.normalize("NFC").matchAll(CHUNK)) {
    const meant = (phrase ?? chunk).replace(EDGES, "").replace(/\s+/g, " ");
    if (meant !== "") terms.push(toTerm(meant));
  }
  if (terms.length === 0)
    throw new CodedError(
      "invalid_message",
      "the search text has no letters or digits; type a word to search for",
    );
  if (terms.length > MAX_TERMS)
    throw new CodedError(
      "invalid_message",
      `the search text has ${terms.length} words; the limit is ${MAX_TERMS}`,
    );
  return terms;
}

/** Inside `needle` words are whole; at its ends, they may be parts of longer ones. */
function toTerm(text: string): QueryTerm {
  const parts = listRuns(text).flatMap(splitScripts);
  const words = parts.flatMap((part, at): QueryWord[] => {
    if (isUnspaced(part)) return toPairs(part);
    const word = foldText(part);
    if (word.length > cutWord(word).length) return [{ word: cutWord(word), fit: "exact" }];
    const isEnd = at === parts.length - 1;
    return [{ word, fit: at === 0 ? "part" : isEnd ? "start" : "exact" }];
  });
  return { needle: foldText(text), words };
}

function toPairs(run: string): QueryWord[] {
  const pairs = listPairs(run);
  const [first] = pairs;
  // The last character alone is a word only where the text's run ends.
  if (pairs.length > 1) return pairs.slice(0, -1).map((word) => ({ word, fit: "exact" }));
  return first === undefined ? [] : [{ word: first, fit: "start" }];
}

/** Finds the term in folded text. */
export function toPattern({ needle }: QueryTerm): RegExp {
  const escaped = needle.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
  return new RegExp(escaped.replaceAll(" ", "\\s+"), "gu");
}
