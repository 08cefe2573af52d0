// Inspects JSON text without parsing it: the number of values, and the top-level scalars. For lines that would take too long
// to parse. Strings are skipped whole, so long text costs little.

import { tryParseJson } from "./json.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_ARRAY = 0x5b;
const OPEN_OBJECT = 0x7b;
const CLOSE_ARRAY = 0x5d;
const CLOSE_OBJECT = 0x7d;
/** Longer scalars are not shown. */
const MAX_SCALAR = 200;
const SCALAR = /^\s*:\s*("(?:[^"\\]|\\.){0,200}"|-?[\d.eE+-]+|true|false|null)\s*[,}]/;

/** Whether the text has more values than `max`. May count empty lists and objects twice, never too little. */
export function hasMoreValues(text: string, max: number): boolean {
  if (text.length < 2 * max) return false; // a value and its separator are two characters
  let values = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (code === COMMA || code === OPEN_ARRAY || code === OPEN_OBJECT) {
      values += 1;
      if (values > max) return true;
    }
  }
  return false;
}

/** The keys of the outermost object, with their values if these are short scalars, else undefined. */
export function readOutline(text: string): Map<string, unknown> {
  const found = new Map<string, unknown>();
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === OPEN_OBJECT || code === OPEN_ARRAY) depth += 1;
    else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) depth -= 1;
    else if (code === QUOTE) {
      const end = endOfString(text, at);
      const isKey = depth === 1 && end - at <= MAX_SCALAR && /^\s*:/.test(text.slice(end + 1, end + 20));
      if (isKey) {
        const [, scalar] = SCALAR.exec(text.slice(end + 1, end + MAX_SCALAR + 40)) ?? [];
        found.set(String(tryParseJson(text.slice(at, end + 1))), tryParseJson(scalar ?? ""));
      }
      at = end;
    }
  }
  return found;
}

/** The end of the string that starts at `start`: its closing quote, or the end of the text if it is cut off. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let slashes = 0;
    while (text.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return at;
  }
  return text.length;
}
