// Lays out growing text incrementally: rows of completed parts are kept, only the end is redone.
import { trimLastNewlines } from "../../client/view/lines.ts";
import { type Block, type CodeBlock, MarkdownReader } from "../../client/view/markdown.ts";
import { findChunkEnd, isColored, splitChunks } from "./code-rows.ts";
import { drawProse, TEXT_GUTTER } from "./gutter.ts";
import { drawBlock, drawCodeBlock } from "./markdown-rows.ts";
import { toSafeText } from "./safe.ts";
import { createPiece, type Line, type Piece } from "./style.ts";
import type { Row, RowTheme } from "./types.ts";

export interface TextOptions {
  width: number;
  theme: RowTheme;
  isMarkdown: boolean;
  style?: string;
  finish(line: Line): Row;
}

/** Growing code is highlighted as a whole again after this many characters; until then its end is highlighted alone. */
const RECOLOR = 2_000;

export class TextLayout {
  readonly #options: TextOptions;
  readonly #reader = new MarkdownReader();
  #settled: Row[] = [];
  #last: Block | undefined;
  #count = 0;
  #lines: LineCache | undefined;
  #colored: { text: string; rows: readonly Row[] } = { text: "", rows: [] };

  constructor(options: TextOptions) {
    this.#options = options;
  }

  /** `isFinal`: the text is complete; the result equals laying it out at once. */
  rows(text: string, isFinal: boolean): readonly Row[] {
    if (!this.#options.isMarkdown) return this.#plain(text);
    const { blocks, settled } = this.#reader.read(text);
    if (settled < this.#count || blocks[this.#count - 1] !== this.#last) {
      this.#settled = [];
      this.#count = 0;
    }
    for (; this.#count < settled; this.#count++) {
      const block = blocks[this.#count];
      if (block !== undefined) append(this.#settled, this.#block(block, this.#count > 0));
    }
    this.#last = blocks[this.#count - 1];
    const rows = [...this.#settled];
    for (const [at, block] of blocks.slice(settled).entries()) {
      const isApart = settled + at > 0;
      append(
        rows,
        block.kind === "code" ? this.#openCode(block, isApart, isFinal) : this.#block(block, isApart),
      );
    }
    return rows;
  }

  #block(block: Block, isApart: boolean): Row[] {
    const { width, theme } = this.#options;
    const lines = drawBlock(block, { width: width - TEXT_GUTTER.text.length, theme });
    return this.#finish(isApart ? [[], ...lines] : lines);
  }

  #finish(lines: readonly Line[]): Row[] {
    return lines.map((line) => this.#options.finish(indentLine(line)));
  }

  #openCode(block: CodeBlock, isApart: boolean, isFinal: boolean): readonly Row[] {
    const { text, lang } = block;
    if (!isColored(text, lang)) {
      this.#lines ??= new LineCache((part) => this.#code(part, ""));
      return [...(isApart ? this.#finish([[]]) : []), ...this.#lines.rows(text)];
    }
    const { text: before, rows } = this.#colored;
    const isNear = text.startsWith(before) && before.endsWith("\n") && text.length - before.length < RECOLOR;
    if (!isFinal && isNear) return [...rows, ...this.#code(text.slice(before.length), lang)];
    const whole = text.slice(0, text.lastIndexOf("\n") + 1);
    const all = this.#block(block, isApart);
    const end = text.slice(whole.length);
    this.#colored = { text: whole, rows: all.slice(0, all.length - this.#code(end, lang).length) };
    return all;
  }

  #code(text: string, lang: string): Row[] {
    const width = this.#options.width - TEXT_GUTTER.text.length;
    return this.#finish(drawCodeBlock(text, lang, width));
  }

  #plain(text: string): Row[] {
    const { width, style = "" } = this.#options;
    this.#lines ??= new LineCache((part) =>
      part
        .split("\n")
        .flatMap(splitChunks)
        .flatMap((line) =>
          drawProse([createPiece(toSafeText(line).replaceAll("\t", "    "), style)], TEXT_GUTTER, width),
        )
        .map(this.#options.finish),
    );
    return this.#lines.rows(trimLastNewlines(text.replace(/\r\n/g, "\n")));
  }
}

function indentLine(line: Line): Piece[] {
  return line.length === 0 ? [] : [TEXT_GUTTER, ...line];
}

/** `push(...more)` fails for very many rows. */
function append(rows: Row[], more: readonly Row[]): void {
  for (const row of more) rows.push(row);
}

/** Keeps the rows of complete lines, and of complete parts of a long line, while the text grows. */
class LineCache {
  readonly #make: (text: string) => Row[];
  #text = "";
  #rows: Row[] = [];

  constructor(make: (text: string) => Row[]) {
    this.#make = make;
  }

  rows(text: string): Row[] {
    if (!text.startsWith(this.#text)) {
      this.#text = "";
      this.#rows = [];
    }
    const newline = text.lastIndexOf("\n");
    if (newline >= this.#text.length) {
      this.#keep(text, newline);
      this.#text = text.slice(0, newline + 1);
    }
    for (let end = findChunkEnd(text, this.#text.length); end < text.length; ) {
      this.#keep(text, end);
      this.#text = text.slice(0, end);
      end = findChunkEnd(text, end);
    }
    return [...this.#rows, ...this.#make(text.slice(this.#text.length))];
  }

  #keep(text: string, end: number): void {
    append(this.#rows, this.#make(text.slice(this.#text.length, end)));
  }
}
