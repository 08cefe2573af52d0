// An editor as rows of a given width, and where its cursor stands; also what Up and Down do, which depends on the rows.
import { sanitizeLine } from "../../base/sanitize.ts";
import { widthOf } from "../rows/wrap.ts";
import { characters, type Editor, markLabel, moveTo } from "./editor.ts";

export interface EditorRow {
  text: string;
  /** Where it begins and ends in the editor's text. */
  start: number;
  end: number;
}

export interface EditorLayout {
  rows: EditorRow[];
  cursor: { x: number; y: number };
}

/** `isSecret`: every character is shown as a star. */
export function layoutEditor(editor: Editor, width: number, isSecret = false): EditorLayout {
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
  for (const { segment, index } of characters(editor.text)) {
    if (segment === "\n" || segment === "\r\n") {
      if (index === editor.cursor) cursor = { x: used, y: rows.length };
      end(index, index + segment.length);
      continue;
    }
    const shown = isSecret ? "*" : shownAs(editor, segment);
    const wide = widthOf(shown);
    // The last column stays free for the cursor.
    if (used > 0 && used + wide > columns - 1) end(index, index);
    if (index === editor.cursor) cursor = { x: used, y: rows.length };
    row.text += wide > columns - 1 ? shown.slice(0, columns - 1) : shown;
    used += Math.min(wide, columns - 1);
  }
  if (editor.cursor >= editor.text.length) cursor = { x: used, y: rows.length };
  end(editor.text.length, editor.text.length);
  return { rows, cursor };
}

/** The part of the rows around the cursor that fits. */
export function visibleRows({ rows, cursor }: EditorLayout, height: number): EditorLayout {
  const most = Math.max(1, height);
  const from = Math.max(0, Math.min(cursor.y - Math.floor(most / 2), rows.length - most));
  return { rows: rows.slice(from, from + most), cursor: { x: cursor.x, y: cursor.y - from } };
}

/** A row up or down; undefined when there is none. */
export function moveRow(editor: Editor, width: number, by: 1 | -1): Editor | undefined {
  const { rows, cursor } = layoutEditor(editor, width);
  const row = rows[cursor.y + by];
  if (row === undefined) return undefined;
  let used = 0;
  for (const { segment, index } of characters(editor.text.slice(row.start, row.end))) {
    if (used >= cursor.x) return moveTo(editor, row.start + index);
    used += widthOf(shownAs(editor, segment));
  }
  // Behind the last character of a row that goes on stands the first of the next one.
  const isBroken = rows[cursor.y + by + 1]?.start === row.end && row.end > row.start;
  return moveTo(editor, isBroken && used > cursor.x ? row.end - 1 : row.end);
}

function shownAs(editor: Editor, segment: string): string {
  if (segment === "\t") return "  ";
  const [first = ""] = segment;
  const label = markLabel(editor, first);
  return label === undefined ? sanitizeLine(segment) : label + sanitizeLine(segment.slice(first.length));
}
