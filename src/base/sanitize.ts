// The only sanitizer between untrusted text and a terminal (against ANSI/OSC injection). Works character by character without
// state, so a sequence split by a stream is caught too.

/** C0 except tab and newline, DEL, C1. */
const CONTROL = "\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f";
/**
 * Characters that reorder text or have no width: format characters, ignorable ones, line separators. Emoji variation
 * selectors are kept in prose: they choose between two pictures.
 */
const INVISIBLE = "[[\\p{Cf}\\p{Default_Ignorable_Code_Point}\\p{Zl}\\p{Zp}]--[\\ufe0e\\ufe0f]]";

const UNSAFE = new RegExp(`\\r\\n|[${CONTROL}${INVISIBLE}]`, "gv");
const UNSAFE_ANYWHERE = new RegExp(`\\r\\n|[${CONTROL}]`, "gv");
const UNSAFE_IN_LINE = new RegExp(`\\r\\n|[\\n\\t${CONTROL}${INVISIBLE}]`, "gv");
const UNSAFE_IN_JSON = new RegExp(`[\\u007f-\\u009f${INVISIBLE}]`, "gv");
/**
 * Characters that can make one text look like another: all of the above, lone surrogates, characters without a standard shape
 * (private, unassigned), every space other than U+0020, the empty Braille cell.
 */
const UNCLEAR = "[[\\p{C}\\p{Z}\\p{Default_Ignorable_Code_Point}\\u2800]--[ \\n\\t]]";
const UNCLEAR_CHARACTER = new RegExp(UNCLEAR, "gv");

/** Text for a terminal: keeps newlines and tabs, shows other controls as `\x1b` and invisible characters as `<U+202E>`. */
export function sanitize(text: string): string {
  return text.replace(UNSAFE, show);
}

/** Text for a file or pipe that may end up in a terminal: shows controls, keeps everything else. */
export function sanitizeControls(text: string): string {
  return text.replace(UNSAFE_ANYWHERE, show);
}

/** The same for one line or a table cell: newlines and tabs become spaces. */
export function sanitizeLine(text: string): string {
  return text.replace(UNSAFE_IN_LINE, (found) => (/[\n\t]/.test(found) ? " " : show(found)));
}

/** For text that a decision depends on: nothing looks like something else; unusual spaces and `\r` are shown too. */
export function reveal(text: string): string {
  return text.replace(UNCLEAR_CHARACTER, show);
}

/** The same for one line: newlines and tabs are shown as escapes. */
export function revealLine(text: string): string {
  return reveal(text).replace(/[\n\t]/g, (found) => (found === "\n" ? "\\n" : "\\t"));
}

/** JSON for a terminal: characters that JSON.stringify keeps are escaped as \uXXXX, so the value is unchanged. */
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
