// A table as lines: columns shrink to fit; if that is not enough, one line per cell after its column name.
import type { Inline, TableBlock } from "../../client/view/markdown.ts";
import { combineStyles, createPiece, type Piece, STYLE } from "./style.ts";
import { measureLine, wrapWords } from "./wrap.ts";

type Cell = Piece[];
const BETWEEN = { text: " │ ", style: STYLE.dim };
/** Minimum width of a shrunk column. */
const MIN_COLUMN = 6;

export function drawTable(
  { header, align, rows }: TableBlock,
  width: number,
  toCell: (content: readonly Inline[]) => Cell,
): Piece[][] {
  const head = header.map((cell) =>
    toCell(cell).map(({ text, style }) => createPiece(text, combineStyles(STYLE.bold, style))),
  );
  const body = rows.map((row) => row.map(toCell));
  const needs = head.map((cell, at) =>
    Math.max(1, measureLine(cell), ...body.map((row) => measureLine(row[at] ?? []))),
  );
  const room = width - BETWEEN.text.length * (needs.length - 1);
  const widths = shrinkColumns(needs, room);
  if (widths === undefined) return asList(head, body, width);
  const rule = widths.map((wide) => "─".repeat(wide)).join("─┼─");
  return [
    ...rowLines(head, widths, align),
    [createPiece(rule, STYLE.dim)],
    ...body.flatMap((row) => rowLines(row, widths, align)),
  ];
}

/** Shrinks the widest columns until all fit; undefined if they cannot. */
function shrinkColumns(needs: readonly number[], room: number): number[] | undefined {
  const total = needs.reduce((sum, wide) => sum + wide, 0);
  if (total <= room) return [...needs];
  const least = needs.map((wide) => Math.min(wide, MIN_COLUMN));
  if (least.reduce((sum, wide) => sum + wide, 0) > room) return undefined;
  const widths = [...needs];
  for (let over = total - room; over > 0; over--) {
    const widest = widths.indexOf(Math.max(...widths));
    widths[widest] = (widths[widest] ?? 1) - 1;
  }
  return widths;
}

function rowLines(cells: readonly Cell[], widths: readonly number[], align: TableBlock["align"]): Piece[][] {
  const columns = widths.map((wide, at) => wrapWords(cells[at] ?? [], wide));
  const height = Math.max(1, ...columns.map((lines) => lines.length));
  return Array.from({ length: height }, (_, line) =>
    widths.flatMap((wide, at) => {
      const cell = columns[at]?.[line] ?? [];
      const isLast = at === widths.length - 1;
      return [...(at > 0 ? [BETWEEN] : []), ...alignCell(cell, wide, align[at], isLast)];
    }),
  );
}

function alignCell(cell: Cell, wide: number, side: TableBlock["align"][number], isLast: boolean): Cell {
  const free = Math.max(0, wide - measureLine(cell));
  const left = side === "right" ? free : side === "center" ? free >> 1 : 0;
  const right = isLast ? 0 : free - left;
  return [
    ...(left > 0 ? [createPiece(" ".repeat(left))] : []),
    ...cell,
    ...(right > 0 ? [createPiece(" ".repeat(right))] : []),
  ];
}

function asList(head: readonly Cell[], body: readonly (readonly Cell[])[], width: number): Piece[][] {
  if (body.length === 0) return head.flatMap((cell) => wrapWords(cell, width));
  return body.flatMap((row, at) => [
    ...(at > 0 ? [[]] : []),
    ...row.flatMap((cell, column) => wrapWords([...(head[column] ?? []), createPiece(": "), ...cell], width)),
  ]);
}
