// Breaks lines of pieces into rows of a given width: between words for prose, anywhere for code.
import { measureGrapheme, measureWidth, splitGraphemes, splitRuns } from "../../base/width.ts";
import { createPiece, type Line, type Piece, toPlain } from "./style.ts";

/** Scripts written without spaces between words; they may break anywhere. */
const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}]/u;

export function measureLine(line: Line): number {
  return measureWidth(toPlain(line));
}

/** Fills each row and keeps every character, including spaces. */
export function wrapHard(line: Line, width: number): Piece[][] {
  const filler = new Filler(width);
  for (const { text, style } of line) filler.fill(text, style);
  return filler.done();
}

/** Breaks between words and drops the spaces at the break. */
export function wrapWords(line: Line, width: number): Piece[][] {
  const filler = new Filler(width);
  for (const word of splitWords(line)) filler.word(word);
  return filler.done();
}

/** Cuts to `width` columns, the last of which is then `…`. */
export function cutLine(line: Line, width: number): Piece[] {
  if (measureLine(line) <= width) return [...line];
  if (width < 1) return [];
  const [first = []] = wrapHard(line, width - 1);
  return [...first, createPiece("…", line.at(-1)?.style ?? "")];
}

interface Word {
  /** The spaces before it. */
  gap: Piece;
  pieces: Piece[];
}

function splitWords(line: Line): Word[] {
  const words: Word[] = [];
  let gap: Piece | undefined = createPiece("");
  for (const { text, style } of line) {
    for (const token of text.match(/ +|[^ ]+/g) ?? []) {
      if (token.startsWith(" ")) {
        gap = gap === undefined ? createPiece(token, style) : createPiece(gap.text + token, style);
        continue;
      }
      const last = words.at(-1);
      if (gap === undefined && last !== undefined) last.pieces.push(createPiece(token, style));
      else words.push({ gap: gap ?? createPiece(""), pieces: [createPiece(token, style)] });
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
    const wide = measureLine(pieces);
    const isFirst = this.#used === 0;
    // Spaces at the very start are an indent; those at a break are dropped.
    const before = isFirst ? this.#indent(gap) : gap.text.length;
    const fits = this.#used + before + wide <= this.#width;
    const mayBreak = wide > this.#width || UNSPACED.test(toPlain(pieces));
    if (fits || (mayBreak && this.#used + before + 2 <= this.#width)) {
      if (before > 0) this.#put(gap.text.slice(0, before), gap.style, before);
    } else if (!isFirst) this.#end();
    for (const { text, style } of pieces) this.fill(text, style);
  }

  fill(text: string, style: string): void {
    for (const { text: run, each } of splitRuns(text)) {
      if (each === undefined || each > this.#width) this.#fillOdd(run, style);
      else this.#fillEven(run, style, each);
    }
  }

  #fillOdd(text: string, style: string): void {
    for (const segment of this.#splitCharacters(text)) {
      const wide = measureGrapheme(segment);
      if (wide > 0 && this.#used > 0 && this.#used + wide > this.#width) this.#end();
      // Happens only on a screen of one column.
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

  /** Graphemes; one wider than a row (stacked jamo) is split into its code points. */
  *#splitCharacters(text: string): Generator<string> {
    for (const segment of splitGraphemes(text)) {
      if (measureGrapheme(segment) <= this.#width) yield segment;
      else yield* segment;
    }
  }

  /** `each`: the width of every character. */
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
    if (last?.style === style) this.#row[this.#row.length - 1] = createPiece(last.text + text, style);
    else this.#row.push(createPiece(text, style));
    this.#used += wide;
  }

  #end(): void {
    this.#rows.push(this.#row);
    this.#row = [];
    this.#used = 0;
  }
}
