// Lays out an editor in rows of a given width, with the cursor position; also Up and Down, which depend on the rows.
import { sanitizeLine } from "../../base/sanitize.ts";
import { measureWidth } from "../../base/width.ts";
import { type Editor, formatMark, moveTo, splitCharacters } from "./editor.ts";

export interface EditorRow {
  text: string;
  /** Offsets in the editor's text. */
  start: number;
  end: number;
}

export interface EditorLayout {
  rows: EditorRow[];
  cursor: { x: number; y: number };
}

/** `isSecret`: shows `*` for every character. */
export function arrangeEditor(editor: Editor, width: number, isSecret = false): EditorLayout {
  const columns = Math.max(2, width);
  const rows: EditorRow[] = [];
  let cursor = { x: 0, y: 0 };
  let row: EditorRow = { text: "", start: 0, end: 0 };
  let used = 0;
  const end = (at: number, next: number): void => {
    rows.push({ ...row, end: at });
    row = { text: "", start: next, end: next };
    used = 0;
  };
  for (const { segment, index } of splitCharacters(editor.text)) {
    if (segment === "\n" || segment === "\r\n") {
      if (index === editor.cursor) cursor = { x: used, y: rows.length };
      end(index, index + segment.length);
      continue;
    }
    const shown = isSecret ? "*" : toShownText(editor, segment);
    const wide = measureWidth(shown);
    // The last column is reserved for the cursor.
    if (used > 0 && used + wide > columns - 1) end(index, index);
    if (index === editor.cursor) cursor = { x: used, y: rows.length };
    row.text += wide > columns - 1 ? shown.slice(0, columns - 1) : shown;
    used += Math.min(wide, columns - 1);
  }
  if (editor.cursor >= editor.text.length) cursor = { x: used, y: rows.length };
  end(editor.text.length, editor.text.length);
  return { rows, cursor };
}

/** The rows around the cursor that fit. */
export function sliceVisibleRows({ rows, cursor }: EditorLayout, height: number): EditorLayout {
  const most = Math.max(1, height);
  const from = Math.max(0, Math.min(cursor.y - Math.floor(most / 2), rows.length - most));
  return { rows: rows.slice(from, from + most), cursor: { x: cursor.x, y: cursor.y - from } };
}

/** Moves a row up or down; undefined if there is none. */
export function moveRow(editor: Editor, width: number, by: 1 | -1): Editor | undefined {
  const { rows, cursor } = arrangeEditor(editor, width);
  const row = rows[cursor.y + by];
  if (row === undefined) return undefined;
  let used = 0;
  for (const { segment, index } of splitCharacters(editor.text.slice(row.start, row.end))) {
    if (used >= cursor.x) return moveTo(editor, row.start + index);
    used += measureWidth(toShownText(editor, segment));
  }
  // The end of a wrapped row is the start of the next one.
  const isBroken = rows[cursor.y + by + 1]?.start === row.end && row.end > row.start;
  return moveTo(editor, isBroken && used > cursor.x ? row.end - 1 : row.end);
}

function toShownText(editor: Editor, segment: string): string {
  if (segment === "\t") return "  ";
  const [first = ""] = segment;
  const label = formatMark(editor, first);
  return label === undefined ? sanitizeLine(segment) : label + sanitizeLine(segment.slice(first.length));
}
