// What to write so that a terminal shows other rows: only those that differ, each at its place. Pure. Every row is
// written from its beginning and the terminal does not wrap, so that a character which it takes for wider than we do
// spoils one row at most.

export interface Painted {
  rows: readonly string[];
  cursor?: { x: number; y: number } | undefined;
}

/** Terminals that know it show the whole change at once. */
const BEGIN = "\x1b[?2026h\x1b[?25l";
const END = "\x1b[?2026l";
const SHOW_CURSOR = "\x1b[?25h";

/** "" when nothing differs. */
export function paint(before: Painted, after: Painted): string {
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
