// Draws a picker: a rule with title and typed text, and the options around the selected one.
import { toSafeLine } from "../rows/safe.ts";
import { createPiece, type Line, STYLE } from "../rows/style.ts";
import type { Look } from "../screen-types.ts";
import { drawLine, drawRule, wrapToRows } from "../theme.ts";
import type { PickerOption } from "../types.ts";
import { listShownOptions, type PickerState } from "./picker.ts";

/** Maximum rows of a message. */
const MAX_MESSAGE_ROWS = 2;

export function drawPicker(picker: PickerState, columns: number, height: number, look: Look): string[] {
  const shown = listShownOptions(picker);
  const typed = picker.editor.text === "" ? [] : [createPiece(toSafeLine(picker.editor.text), STYLE.accent)];
  const message =
    picker.message === undefined
      ? []
      : wrapToRows([createPiece(`! ${toSafeLine(picker.message)}`, STYLE.warn)], columns, MAX_MESSAGE_ROWS);
  const most = Math.max(1, height - 1 - message.length);
  const from = Math.max(0, Math.min(picker.marked - Math.floor(most / 2), shown.length - most));
  const lines: Line[] = [
    drawRule([createPiece(toSafeLine(picker.title), STYLE.bold)], typed, columns, STYLE.accent),
    ...shown.slice(from, from + most).map((option, at) => optionLine(option, from + at === picker.marked)),
    ...(shown.length === 0 ? [[createPiece(emptyText(picker), STYLE.dim)]] : []),
    ...message,
  ];
  return lines.slice(0, Math.max(1, height)).map((line) => drawLine(line, columns, look));
}

function optionLine({ label, detail, isCurrent, problem }: PickerOption, isMarked: boolean): Line {
  const style = problem !== undefined ? STYLE.dim : isMarked ? STYLE.bold : STYLE.none;
  return [
    createPiece(isMarked ? "> " : "  ", STYLE.accent),
    createPiece(isCurrent ? "✓ " : "  ", STYLE.good),
    createPiece(toSafeLine(label), style),
    createPiece(detail === undefined ? "" : `  ${toSafeLine(detail)}`, STYLE.dim),
    createPiece(problem === undefined ? "" : `  (${toSafeLine(problem)})`, STYLE.warn),
  ];
}

function emptyText({ options, takesText, message }: PickerState): string {
  if (message !== undefined) return "";
  if (options === undefined) return "  loading…";
  return takesText ? "  type a value" : "  no options";
}
