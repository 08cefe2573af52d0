// The lines of a changed file as rows: both line numbers, sign, text. Lines that are too long continue without numbers.
import { explainNoLines } from "../../client/view/change-list.ts";
import {
  type ChangeLine,
  type ChangeRow,
  countChangeLines,
  toChangeRows,
} from "../../client/view/change-rows.ts";
import type { OpenedFile } from "../../client/view/change-source.ts";
import type { ChangedFile } from "../../protocol/changes.ts";
import { getCodeStyle } from "../rows/code-rows.ts";
import { expandTabs, toSafeLine, toSafeText } from "../rows/safe.ts";
import { combineStyles, createPiece, type Line, type Piece, STYLE } from "../rows/style.ts";
import { wrapHard, wrapWords } from "../rows/wrap.ts";

/** More lines are not drawn; `sm diff` prints them all. */
const MAX_LINES = 5_000;
/** Narrower screens have no line numbers. */
const MIN_FOR_NUMBERS = 40;
const SIGNS = { context: " ", add: "+", delete: "-" } as const;
const LOOKS = { context: STYLE.none, add: STYLE.added, delete: STYLE.removed } as const;
const ENDS = { cr: " ␍", none: " (no newline at the end)" } as const;

export function drawFileLines(file: ChangedFile, opened: OpenedFile | undefined, columns: number): Line[] {
  const say = (text: string, style: string = STYLE.dim): Line[] =>
    wrapWords([createPiece(`  ${text}`, style)], columns);
  const { reply, problem } = opened ?? {};
  const why = explainNoLines(file, reply);
  if (why !== undefined) return say(why);
  if (problem !== undefined) return say(toSafeLine(problem), STYLE.bad);
  if (reply === undefined) return say("loading…");
  const rows = toChangeRows(reply, MAX_LINES);
  const digits = columns < MIN_FOR_NUMBERS ? 0 : countDigits(rows);
  const left = countChangeLines(reply) - MAX_LINES;
  return [
    ...rows.flatMap((row) => drawRow(row, digits, columns)),
    ...(left > 0 ? say(`… ${left} more lines: sm diff shows them`) : []),
    ...(left <= 0 && reply.truncated ? say("The rest of this change is too long to show.") : []),
  ];
}

function countDigits(rows: readonly ChangeRow[]): number {
  const highest = rows.reduce(
    (max, row) => (row.kind === "hunk" ? max : Math.max(max, row.old ?? 0, row.new ?? 0)),
    0,
  );
  return String(highest).length;
}

function drawRow(row: ChangeRow, digits: number, columns: number): Piece[][] {
  if (row.kind === "hunk") return [[createPiece(toSafeLine(row.text), STYLE.hunk)]];
  const look = LOOKS[row.kind];
  const pad = (number: number | undefined): string => String(number ?? "").padStart(digits);
  const gutter = digits === 0 ? "" : `${pad(row.old)} ${pad(row.new)} `;
  const head = [createPiece(gutter, STYLE.dim), createPiece(`${SIGNS[row.kind]} `, look)];
  const rest = [createPiece(" ".repeat(gutter.length + 2))];
  return wrapHard(drawText(row), Math.max(1, columns - gutter.length - 2)).map((part, at) => [
    ...(at === 0 ? head : rest),
    ...part,
  ]);
}

/** Added and deleted lines have one color, on which the words that differ are inverted; others are highlighted. */
function drawText({ kind, spans, end }: ChangeLine): Piece[] {
  let before = "";
  const pieces = spans.map(({ text, scope, isChanged }) => {
    // A tab is as wide as what precedes it leaves.
    const whole = expandTabs(before + toSafeText(text).replace(/\n/g, " "));
    const piece = whole.slice(before.length);
    before = whole;
    const look = kind === "context" ? getCodeStyle(scope) : LOOKS[kind];
    return createPiece(piece, isChanged ? combineStyles(look, STYLE.shown) : look);
  });
  return end === undefined ? pieces : [...pieces, createPiece(ENDS[end], STYLE.dim)];
}
