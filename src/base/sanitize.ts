// The one sanitiser between text that others wrote and a terminal (SAFETY: ANSI/OSC injection). It works
// character by character and keeps no state, so a sequence cut in two by a stream is caught as well.

/** C0 but tab and newline, DEL, C1. */
const CONTROL = "\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f";
/**
 * What reorders text or takes no room: soft hyphen, joiners, Arabic letter mark, Hangul fillers, Mongolian
 * separator, zero-width and bidi marks, line separators, invisible operators, BOM, interlinear marks, tags.
 */
const INVISIBLE =
  "\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180e\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f" +
  "\\u3164\\ufeff\\uffa0\\ufff9-\\ufffb\\u{e0000}-\\u{e007f}";

const UNSAFE = new RegExp(`\\r\\n|[${CONTROL}${INVISIBLE}]`, "gu");
const UNSAFE_IN_LINE = new RegExp(`\\r\\n|[\\n\\t${CONTROL}${INVISIBLE}]`, "gu");
const UNSAFE_IN_JSON = new RegExp(`[\\u007f-\\u009f${INVISIBLE}]`, "gu");

/** Text for a terminal: keeps newlines and tabs, shows every other control as `\x1b` and the invisible as `<U+202E>`. */
export function sanitize(text: string): string {
  return text.replace(UNSAFE, show);
}

/** The same for one line or a table cell: newlines and tabs become blanks. */
export function sanitizeLine(text: string): string {
  return text.replace(UNSAFE_IN_LINE, (found) => (/[\n\t]/.test(found) ? " " : show(found)));
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
