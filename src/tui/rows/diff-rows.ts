// A diff as rows: line number, sign, highlighted text. Continuation rows have no number.
import type { DiffLine } from "../../client/view/diff.ts";
import { colorLines } from "./code-rows.ts";
import { expandTabs, toSafeText } from "./safe.ts";
import { createPiece, type Piece, STYLE } from "./style.ts";
import { wrapHard } from "./wrap.ts";

const SIGNS = { same: " ", add: "+", remove: "-" } as const;
const LOOKS = { same: STYLE.none, add: STYLE.added, remove: STYLE.removed } as const;

/** The width of the line numbers; 0 if there is no room for them. */
export function countDigits(lines: readonly DiffLine[], width: number): number {
  const highest = lines.reduce((max, line) => Math.max(max, line.old ?? 0, line.new ?? 0), 0);
  return highest === 0 || width < 40 ? 0 : String(highest).length;
}

export function drawDiffLine(line: DiffLine, lang: string, digits: number, width: number): Piece[][] {
  if (line.kind === "hunk" || line.kind === "meta") {
    const style = line.kind === "hunk" ? STYLE.hunk : STYLE.dim;
    return wrapHard([createPiece(expandTabs(toSafeText(line.text)), style)], width);
  }
  const look = LOOKS[line.kind];
  const number = line.kind === "remove" ? line.old : line.new;
  const gutter = digits === 0 ? "" : `${String(number ?? "").padStart(digits)} `;
  const head = [createPiece(gutter, STYLE.dim), createPiece(`${SIGNS[line.kind]} `, look)];
  const rest = [createPiece(" ".repeat(gutter.length), STYLE.dim), createPiece("  ")];
  const text =
    line.kind === "same"
      ? (colorLines(line.text, lang)[0] ?? [])
      : [createPiece(expandTabs(toSafeText(line.text)), look)];
  return wrapHard(text, width - gutter.length - 2).map((row, at) => [...(at === 0 ? head : rest), ...row]);
}
