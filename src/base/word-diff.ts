// Which words of a changed line are different, computed by the `diff` package.
import { diffArrays } from "diff";

/** A part of a line; `isChanged`: the other line does not have it. */
export interface WordPart {
  text: string;
  isChanged: boolean;
}

export interface WordDiff {
  before: WordPart[];
  after: WordPart[];
}

/** Longer lines are not compared. */
const MAX_LENGTH = 1_000;
const MAX_EDITS = 80;
/** With less in common, two lines are not versions of each other, and marked words would only be noise. */
const MIN_COMMON = 0.3;
const WORDS = /[\p{L}\p{M}\p{N}_]+|\s+|./gsu;

/** Undefined if the lines are equal, long or have little in common. */
export function diffWords(before: string, after: string): WordDiff | undefined {
  if (before === after || before.length > MAX_LENGTH || after.length > MAX_LENGTH) return undefined;
  const changes = diffArrays(before.match(WORDS) ?? [], after.match(WORDS) ?? [], {
    maxEditLength: MAX_EDITS,
  });
  if (changes === undefined) return undefined;
  const found: WordDiff = { before: [], after: [] };
  let common = 0;
  for (const { value, added, removed } of changes) {
    const text = value.join("");
    if (!added && !removed) common += text.trim().length;
    if (!added) addPart(found.before, text, removed);
    if (!removed) addPart(found.after, text, added);
  }
  const longer = Math.max(before.trim().length, after.trim().length);
  return common === 0 || common < longer * MIN_COMMON
    ? undefined
    : { before: joinGaps(found.before), after: joinGaps(found.after) };
}

function addPart(parts: WordPart[], text: string, isChanged: boolean): void {
  const last = parts.at(-1);
  if (last?.isChanged === isChanged) last.text += text;
  else parts.push({ text, isChanged });
}

/** Changed words that only a space separates become one part. */
function joinGaps(parts: readonly WordPart[]): WordPart[] {
  const joined: WordPart[] = [];
  for (const [at, { text, isChanged }] of parts.entries()) {
    const isGap = at > 0 && at < parts.length - 1 && text.trim() === "";
    addPart(joined, text, isChanged || isGap);
  }
  return joined;
}
