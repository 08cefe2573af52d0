// Computes the bytes that turn one frame into the next: only rows that differ, each at its absolute position. Pure. Rows
// are written from column 0 with wrapping off, so a character the terminal draws wider than we think spoils one row only.

/** What a screen shows: rows with their ANSI styles, no wider than the terminal. */
export interface Frame {
  rows: readonly string[];
  cursor?: { x: number; y: number } | undefined;
}

export const EMPTY_FRAME: Frame = { rows: [] };

/** Synchronized update: terminals that support it show the whole change at once. */
const BEGIN = "\x1b[?2026h\x1b[?25l";
const END = "\x1b[?2026l";
const SHOW_CURSOR = "\x1b[?25h";

/** Returns "" if nothing differs. */
export function paint(before: Frame, after: Frame): string {
  const count = Math.max(before.rows.length, after.rows.length);
  let out = "";
  for (let at = 0; at < count; at++) {
    const row = after.rows[at] ?? "";
    if (row !== (before.rows[at] ?? "")) out += `${moveTo(0, at)}\x1b[2K${row}\x1b[0m`;
  }
  const isSame = before.cursor?.x === after.cursor?.x && before.cursor?.y === after.cursor?.y;
  if (out === "" && isSame) return "";
  const cursor = after.cursor === undefined ? "" : moveTo(after.cursor.x, after.cursor.y) + SHOW_CURSOR;
  return BEGIN + out + cursor + END;
}

function moveTo(x: number, y: number): string {
  return `\x1b[${y + 1};${x + 1}H`;
}
