// Breaking lines of pieces into rows that are no wider than the width: at words for prose, anywhere for code. Widths
// are those of string-width, or more where terminals differ; a character that people see as one (a grapheme) is never cut in two.
import stringWidth from "string-width";
import { type Line, type Piece, piece, plainOf } from "./style.ts";

const ASCII = /^[ -~]*$/;
/** Letters of one column and of two that never join with what stands beside them, but for marks (string-width is slow). */
const NARROW = " -~¡-¬®-˿Ͱ-ͷͻ-ͿΆ-ҁҊ-ԯ‐-‘–—‘-„†-•…⇥─-╿■-◼✓✗";
const WIDE = "ぁ-ゖァ-ヺ一-鿿！-｠、。「」";
const RUNS = new RegExp(
  `([${NARROW}]+)(?![^${NARROW}${WIDE}])|([${WIDE}]+)(?![^${NARROW}${WIDE}])|[${NARROW}${WIDE}]?[^${NARROW}${WIDE}]+`,
  "gu",
);
/** Vowels and finals: part of the syllable before them. */
const JOINED_JAMO = /[\u1160-\u11ff]/;
/** Written without blanks between words: may break anywhere. */
const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}]/u;

/** Making one takes longer than most of what it is used for. */
const SEGMENTER = new Intl.Segmenter();
const MAX_SEGMENTED = 500;
/** The columns of graphemes that were met: string-width takes 0.1 ms for an emoji, and a flood of them is a flood of few. */
const KNOWN_COLUMNS = new Map<string, number>();
const MAX_KNOWN = 4_096;
const MAX_KNOWN_LENGTH = 32;

/** In parts: the segmenter takes the square of the length. What people see as one is cut only in a flood of such. */
function* graphemes(text: string): Generator<string> {
  if (text.length === 1) yield text;
  else
    for (let at = 0; at < text.length; ) {
      const end = at + MAX_SEGMENTED - (/[\udc00-\udfff]/.test(text.charAt(at + MAX_SEGMENTED)) ? 1 : 0);
      for (const { segment } of SEGMENTER.segment(text.slice(at, end))) yield segment;
      at = end;
    }
}

/** Its columns on a screen, at most. */
export function widthOf(text: string): number {
  if (ASCII.test(text)) return text.length;
  let width = 0;
  for (const { text: run, each } of runsOf(text)) {
    if (each !== undefined) width += run.length * each;
    else for (const segment of graphemes(run)) width += columnsOf(segment);
  }
  return width;
}

/**
 * The columns of a grapheme: what string-width says, or what a terminal takes that draws its parts one by one (skin
 * tones, conjuncts of Indic scripts, Thai vowels), whichever is more: a row that is too wide spoils the screen.
 */
function columnsOf(segment: string): number {
  const known = KNOWN_COLUMNS.get(segment);
  if (known !== undefined) return known;
  const columns = measured(segment);
  if (KNOWN_COLUMNS.size >= MAX_KNOWN) KNOWN_COLUMNS.clear();
  if (segment.length <= MAX_KNOWN_LENGTH) KNOWN_COLUMNS.set(segment, columns);
  return columns;
}

function measured(segment: string): number {
  const [first = "", ...rest] = segment;
  if (rest.length === 0) return stringWidth(segment);
  let parts = columnsOf(first);
  for (const char of rest) parts += JOINED_JAMO.test(char) ? 0 : columnsOf(char);
  // So long a pile is drawn by its parts.
  return segment.length > MAX_KNOWN_LENGTH ? parts : Math.max(stringWidth(segment), parts);
}

export function lineWidth(line: Line): number {
  return widthOf(plainOf(line));
}

/** Fills each row; what stood there stands there, blanks too. */
export function wrapHard(line: Line, width: number): Piece[][] {
  const filler = new Filler(width);
  for (const { text, style } of line) filler.fill(text, style);
  return filler.done();
}

/** Breaks between words; the blanks where it breaks are gone. */
export function wrapWords(line: Line, width: number): Piece[][] {
  const filler = new Filler(width);
  for (const word of wordsOf(line)) filler.word(word);
  return filler.done();
}

/** At most so many columns, with `…` where something was left out. */
export function cutLine(line: Line, width: number): Piece[] {
  if (lineWidth(line) <= width) return [...line];
  if (width < 1) return [];
  const [first = []] = wrapHard(line, width - 1);
  return [...first, piece("…", line.at(-1)?.style ?? "")];
}

/** `each`: the columns of each of its characters, where all have as many. */
function* runsOf(text: string): Generator<{ text: string; each: number | undefined }> {
  for (const [run, narrow, wide] of text.matchAll(RUNS)) {
    yield { text: run, each: narrow !== undefined ? 1 : wide !== undefined ? 2 : undefined };
  }
}

interface Word {
  /** The blanks before it. */
  gap: Piece;
  pieces: Piece[];
}

function wordsOf(line: Line): Word[] {
  const words: Word[] = [];
  let gap: Piece | undefined = piece("");
  for (const { text, style } of line) {
    for (const token of text.match(/ +|[^ ]+/g) ?? []) {
      if (token.startsWith(" ")) {
        gap = gap === undefined ? piece(token, style) : piece(gap.text + token, style);
        continue;
      }
      const last = words.at(-1);
      if (gap === undefined && last !== undefined) last.pieces.push(piece(token, style));
      else words.push({ gap: gap ?? piece(""), pieces: [piece(token, style)] });
      gap = undefined;
    }
  }
  return words;
}

class Filler {
  readonly #width: number;
  readonly #rows: Piece[][] = [];
  #row: Piece[] = [];
  #used = 0;

  constructor(width: number) {
    this.#width = Math.max(1, width);
  }

  word({ gap, pieces }: Word): void {
    const wide = lineWidth(pieces);
    const isFirst = this.#used === 0;
    // Blanks at the very beginning are an indent of the text; those where a row ended are gone.
    const before = isFirst ? this.#indent(gap) : gap.text.length;
    const fits = this.#used + before + wide <= this.#width;
    const mayBreak = wide > this.#width || UNSPACED.test(plainOf(pieces));
    if (fits || (mayBreak && this.#used + before + 2 <= this.#width)) {
      if (before > 0) this.#put(gap.text.slice(0, before), gap.style, before);
    } else if (!isFirst) this.#end();
    for (const { text, style } of pieces) this.fill(text, style);
  }

  fill(text: string, style: string): void {
    if (ASCII.test(text)) {
      this.#fillEven(text, style, 1);
      return;
    }
    for (const { text: run, each } of runsOf(text)) {
      if (each === undefined || each > this.#width) this.#fillOdd(run, style);
      else this.#fillEven(run, style, each);
    }
  }

  #fillOdd(text: string, style: string): void {
    for (const segment of this.#charactersOf(text)) {
      const wide = columnsOf(segment);
      if (wide > 0 && this.#used > 0 && this.#used + wide > this.#width) this.#end();
      // No room at all for it: only on a screen of one column.
      if (wide > this.#width) this.#put("?", style, 1);
      else this.#put(segment, style, wide);
    }
  }

  done(): Piece[][] {
    return [...this.#rows, this.#row];
  }

  #indent({ text }: Piece): number {
    return this.#rows.length > 0 ? 0 : Math.min(text.length, this.#width >> 1);
  }

  /** Graphemes; one that is wider than a row (piled up jamo) by its parts. */
  *#charactersOf(text: string): Generator<string> {
    for (const segment of graphemes(text)) {
      if (columnsOf(segment) <= this.#width) yield segment;
      else yield* segment;
    }
  }

  /** Each character takes as many columns as the next. */
  #fillEven(text: string, style: string, each: number): void {
    for (let at = 0; at < text.length; ) {
      if (this.#used + each > this.#width) this.#end();
      const part = text.slice(at, at + Math.floor((this.#width - this.#used) / each));
      this.#put(part, style, part.length * each);
      at += part.length;
    }
  }

  #put(text: string, style: string, wide: number): void {
    const last = this.#row.at(-1);
    if (last?.style === style) this.#row[this.#row.length - 1] = piece(last.text + text, style);
    else this.#row.push(piece(text, style));
    this.#used += wide;
  }

  #end(): void {
    this.#rows.push(this.#row);
    this.#row = [];
    this.#used = 0;
  }
}
