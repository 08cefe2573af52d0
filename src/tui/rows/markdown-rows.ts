// Markdown blocks as lines, without the gutter. A link's target follows its text.
import type { Block, Inline, ListBlock } from "../../client/view/markdown.ts";
import { drawCode } from "./code-rows.ts";
import { toSafeLine, toSafeText } from "./safe.ts";
import { combineStyles, createPiece, type Line, type Piece, STYLE } from "./style.ts";
import { drawTable } from "./table-rows.ts";
import type { RowTheme } from "./types.ts";
import { wrapWords } from "./wrap.ts";

export interface BlockOptions {
  width: number;
  theme: RowTheme;
}

const LOOKS: Readonly<Record<Inline["kind"], string>> = {
  text: STYLE.none,
  code: STYLE.code,
  strong: STYLE.bold,
  em: STYLE.italic,
  strike: STYLE.strike,
  link: STYLE.underline,
  image: STYLE.dim,
  break: STYLE.none,
};

/** Minimum width for nesting. */
const MIN_WIDTH = 12;

export function drawBlock(block: Block, options: BlockOptions): Piece[][] {
  const { width, theme } = options;
  switch (block.kind) {
    case "paragraph":
      return wrapInlines(inlineLines(block.content, STYLE.none, theme), width);
    case "heading": {
      const style = block.level === 1 ? combineStyles(STYLE.bold, STYLE.underline) : STYLE.bold;
      const [first = [], ...rest] = inlineLines(block.content, style, theme);
      // Without color, the `#` marks the heading.
      const sign = theme.hasColor ? [] : [createPiece(`${"#".repeat(block.level)} `)];
      return wrapInlines([[...sign, ...first], ...rest], width);
    }
    case "code":
      return drawCodeBlock(block.text, block.lang, width);
    case "list":
      return listLines(block, options);
    case "quote":
      return indentLines(
        nestBlocks(block.blocks, inner(width, 2), theme, true),
        createPiece("│ ", STYLE.dim),
        width,
      );
    case "table":
      return drawTable(block, width, (cell) => inlineLines(cell, STYLE.none, theme).flatMap(joinLines));
    case "rule":
      return [[createPiece("─".repeat(Math.min(width, 40)), STYLE.dim)]];
  }
}

export function drawCodeBlock(text: string, lang: string, width: number): Piece[][] {
  return indentLines(drawCode(text, lang, inner(width, 2)), createPiece("  "), width);
}

function joinLines(line: Line, at: number): Piece[] {
  return at === 0 ? [...line] : [createPiece(" "), ...line];
}

function inner(width: number, indent: number): number {
  return width - indent < MIN_WIDTH ? width : width - indent;
}

/** Indents lines if there is room. */
function indentLines(lines: readonly Line[], indent: Piece, width: number): Piece[][] {
  if (inner(width, indent.text.length) === width) return lines.map((line) => [...line]);
  return lines.map((line) => [indent, ...line]);
}

function nestBlocks(blocks: readonly Block[], width: number, theme: RowTheme, isApart: boolean): Piece[][] {
  return blocks.flatMap((block, at) => [
    ...(isApart && at > 0 ? [[]] : []),
    ...drawBlock(block, { width, theme }),
  ]);
}

function listLines({ start, items }: ListBlock, { width, theme }: BlockOptions): Piece[][] {
  return items.flatMap(({ task, blocks }, at) => {
    const bullet = start === undefined ? "• " : `${start + at}. `;
    const box = task === undefined ? "" : task ? "[x] " : "[ ] ";
    const marker = createPiece(start === undefined && box !== "" ? box : bullet + box, STYLE.accent);
    const indent = marker.text.length;
    const lines = nestBlocks(blocks, inner(width, indent), theme, false);
    if (inner(width, indent) === width) return [...wrapWords([marker], width), ...lines];
    const [first = [], ...rest] = lines;
    return [[marker, ...first], ...rest.map((line) => [createPiece(" ".repeat(indent)), ...line])];
  });
}

function wrapInlines(lines: readonly Line[], width: number): Piece[][] {
  return lines.flatMap((line) => wrapWords(line, width));
}

/** One line per line break. */
function inlineLines(content: readonly Inline[], style: string, theme: RowTheme): Piece[][] {
  const lines: Piece[][] = [[]];
  const put = (text: string, look: string): void => {
    for (const [at, part] of toSafeText(text).split("\n").entries()) {
      if (at > 0) lines.push([]);
      if (part !== "") lines.at(-1)?.push(createPiece(part.replaceAll("\t", "    "), look));
    }
  };
  const walk = (inlines: readonly Inline[], outer: string): void => {
    for (const inline of inlines) {
      const look = combineStyles(outer, LOOKS[inline.kind]);
      if ("content" in inline) walk(inline.content, look);
      if (inline.kind === "text") put(inline.text, look);
      if (inline.kind === "code") put(theme.hasColor ? inline.text : `\`${inline.text}\``, look);
      if (inline.kind === "image") put(`[${inline.text}] (${toSafeLine(inline.href)})`, look);
      if (inline.kind === "break") lines.push([]);
      if (inline.kind === "link" && plainInlines(inline.content) !== inline.href) {
        put(` (${toSafeLine(inline.href)})`, combineStyles(outer, STYLE.dim));
      }
    }
  };
  walk(content, style);
  return lines;
}

function plainInlines(content: readonly Inline[]): string {
  return content
    .map((one) => ("content" in one ? plainInlines(one.content) : "text" in one ? one.text : "\n"))
    .join("");
}
