// Width of text in terminal columns. A grapheme (what a user sees as one character) is never split. Where terminals
// disagree the larger width counts, because a row that is too wide breaks the screen.
import { eastAsianWidth } from "get-east-asian-width";

const ASCII = /^[ -~]*$/;
/** Characters of one and of two columns that combine with nothing but marks. They need no segmentation, which is slow. */
const NARROW = " -~¡-¬®-˿Ͱ-ͷͻ-ͿΆ-ҁҊ-ԯ‐-‘–—‘-„†-•…⇥─-╿■-◼✓✗";
const WIDE = "ぁ-ゖァ-ヺ一-鿿！-｠、。「」";
const RUNS = new RegExp(
  `([${NARROW}]+)(?![^${NARROW}${WIDE}])|([${WIDE}]+)(?![^${NARROW}${WIDE}])|[${NARROW}${WIDE}]?[^${NARROW}${WIDE}]+`,
  "gu",
);
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\p{Cs}\p{Mn}\p{Me}]/u;
/** A modern Hangul syllable written as jamo is drawn as one block. */
const SYLLABLE = /[\u1100-\u115e\ua960-\ua97c][\u1160-\u11a7\ud7b0-\ud7c6][\u11a8-\u11ff\ud7cb-\ud7fb]?/g;
/** Narrow characters drawn as emoji: by a variation selector, or as a keycap. */
const EMOJI_STYLE = /\p{Extended_Pictographic}\ufe0f|.\u20e3/u;

/** Creating one takes 10 ms, and most text needs none. */
let segmenter: Intl.Segmenter | undefined;
/** Segmentation is quadratic, which is why long text is split. Only an absurdly long run of graphemes is cut wrong. */
const MAX_SEGMENTED = 500;
/** Bounds how far `cutToWidth` reads in text made of marks alone. */
const MAX_UNITS_PER_COLUMN = 16;

export function measureWidth(text: string): number {
  if (ASCII.test(text)) return text.length;
  let width = 0;
  for (const { text: run, each } of splitRuns(text)) {
    if (each !== undefined) width += run.length * each;
    else for (const grapheme of splitGraphemes(run)) width += measureGrapheme(grapheme);
  }
  return width;
}

/** The sum of its parts: many terminals draw skin tones, Indic conjuncts and Thai vowels one by one. */
export function measureGrapheme(grapheme: string): number {
  let width = 0;
  for (const char of grapheme.length > 1 ? grapheme.replace(SYLLABLE, "가") : grapheme) {
    if (!INVISIBLE.test(char)) width += eastAsianWidth(char.codePointAt(0) ?? 0);
  }
  return width < 2 && EMOJI_STYLE.test(grapheme) ? 2 : width;
}

/** The most columns any terminal gives a character, including terminals that draw ambiguous characters wide. */
export function limitWidth(char: string): number {
  if (char === "\t") return 8;
  return char < "\u007f" ? 1 : 2;
}

export function padToWidth(text: string, columns: number): string {
  return text + " ".repeat(Math.max(0, columns - measureWidth(text)));
}

/** Cuts to `columns`, the last of which is then `…`. */
export function cutToWidth(text: string, columns: number): string {
  if (measureWidth(text) <= columns) return text;
  let cut = "";
  let used = 0;
  for (const grapheme of splitGraphemes(text.slice(0, MAX_UNITS_PER_COLUMN * columns))) {
    used += measureGrapheme(grapheme);
    if (used > columns - 1) break;
    cut += grapheme;
  }
  return `${cut}…`;
}

export function* splitGraphemes(text: string): Generator<string> {
  if (text.length === 1) yield text;
  else
    for (let at = 0; at < text.length; ) {
      const end = at + MAX_SEGMENTED - (/[\udc00-\udfff]/.test(text.charAt(at + MAX_SEGMENTED)) ? 1 : 0);
      segmenter ??= new Intl.Segmenter();
      for (const { segment } of segmenter.segment(text.slice(at, end))) yield segment;
      at = end;
    }
}

/** `each`: the width of every UTF-16 unit of a run, if they are all the same; otherwise split it into graphemes. */
export function* splitRuns(text: string): Generator<{ text: string; each: number | undefined }> {
  if (ASCII.test(text)) {
    yield { text, each: 1 };
    return;
  }
  for (const [run, narrow, wide] of text.matchAll(RUNS)) {
    yield { text: run, each: narrow !== undefined ? 1 : wide !== undefined ? 2 : undefined };
  }
}
