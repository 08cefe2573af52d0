// The one sanitiser between text that others wrote and a terminal (SAFETY: ANSI/OSC injection). It works
// character by character and keeps no state, so a sequence cut in two by a stream is caught as well.

/** C0 but tab and newline, DEL, C1. */
const CONTROL = "\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f";
/**
 * What reorders text or takes no room: format characters, what a font may leave out, line separators. The
 * variation selectors of emoji may stay in prose: they choose between two pictures.
 */
const INVISIBLE = "[[\\p{Cf}\\p{Default_Ignorable_Code_Point}\\p{Zl}\\p{Zp}]--[\\ufe0e\\ufe0f]]";

const UNSAFE = new RegExp(`\\r\\n|[${CONTROL}${INVISIBLE}]`, "gv");
const UNSAFE_ANYWHERE = new RegExp(`\\r\\n|[${CONTROL}]`, "gv");
const UNSAFE_IN_LINE = new RegExp(`\\r\\n|[\\n\\t${CONTROL}${INVISIBLE}]`, "gv");
const UNSAFE_IN_JSON = new RegExp(`[\\u007f-\\u009f${INVISIBLE}]`, "gv");
/**
 * What could make one text look like another: all of the above, lone surrogates, characters to which no standard
 * gives a shape (private, unassigned), every blank but the space, the empty Braille cell.
 */
const UNCLEAR = "[[\\p{C}\\p{Z}\\p{Default_Ignorable_Code_Point}\\u2800]--[ \\n\\t]]";
const UNCLEAR_CHARACTER = new RegExp(UNCLEAR, "gv");

/** Text for a terminal: keeps newlines and tabs, shows every other control as `\x1b` and the invisible as `<U+202E>`. */
export function sanitize(text: string): string {
  return text.replace(UNSAFE, show);
}

/** Text for a file or a pipe, from where it may come to a terminal: controls are shown, everything else stays. */
export function sanitizeControls(text: string): string {
  return text.replace(UNSAFE_ANYWHERE, show);
}

/** The same for one line or a table cell: newlines and tabs become blanks. */
export function sanitizeLine(text: string): string {
  return text.replace(UNSAFE_IN_LINE, (found) => (/[\n\t]/.test(found) ? " " : show(found)));
}

/** For what somebody decides upon: nothing looks like something else, so odd blanks and `\r` are shown too. */
export function reveal(text: string): string {
  return text.replace(UNCLEAR_CHARACTER, show);
}

/** The same for one line: a newline or tab is shown as one. */
export function revealLine(text: string): string {
  return reveal(text).replace(/[\n\t]/g, (found) => (found === "\n" ? "\\n" : "\\t"));
}

/** JSON text for a terminal: what JSON.stringify lets through is written as \uXXXX, so it stays the same JSON. */
export function sanitizeJson(json: string): string {
  return json.replace(UNSAFE_IN_JSON, (found) => found.split("").map(escapeUnit).join(""));
}

function show(found: string): string {
  if (found === "\r\n") return "\n";
  const code = found.codePointAt(0) ?? 0;
  if (code < 0xa0) return `\\x${code.toString(16).padStart(2, "0")}`;
  return `<U+${code.toString(16).toUpperCase().padStart(4, "0")}>`;
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
