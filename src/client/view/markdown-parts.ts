// Cuts Markdown into parts that are read one by one: at blank lines before a line that is not indented, around fenced
// code, and where a part would get too long to be read anew for every few bytes that come. Where it cuts depends only
// on what stands before (and the first character behind), so a text that grows is cut in the same places.

export interface Part {
  text: string;
  /** Where it ends in the whole text. */
  end: number;
  /** It is one fenced block of code. */
  fence?: { lang: string; text: string };
}

/** What `marked` reads in one go; some of its rules take the square of the length. */
const MAX_PART = 4_000;
/** A line without a blank is cut so much later. */
const MAX_UNBROKEN = 2_000;
/** Code inside of a list is cut here, wherever that is. */
const MAX_INNER_CODE = 8_000;

/** A longer line opens no code. */
const MAX_OPENING = 200;
const OPENING = /^( *)(`{3,}|~{3,})([^\n]*)$/;

interface Fence {
  /** Where the code begins. */
  start: number;
  indent: number;
  mark: string;
  lang: string;
}

/** The parts of the text from `from` on, which must be where a part began. */
export function partsFrom(text: string, from: number): Part[] {
  const parts: Part[] = [];
  let start = from;
  let at = from;
  let isAfterBlank = false;
  const cut = (end: number): void => {
    if (end > start) parts.push({ text: text.slice(start, end), end });
    start = end;
    isAfterBlank = false;
  };
  /** Gives where to go on: behind the fence, which is a part of its own unless it stands in a list. */
  const throughFence = (fence: Fence, opening: number): number => {
    const { at: codeEnd, end } = closing(text, fence);
    if (fence.indent === 0) {
      cut(opening);
      parts.push(fencePart(text, fence, codeEnd, end));
      start = end;
      return end;
    }
    isAfterBlank = false;
    const long = text.indexOf("\n", Math.max(fence.start, start + MAX_INNER_CODE)) + 1;
    if (long === 0 || end <= long) return end;
    cut(long);
    return long;
  };
  while (at < text.length) {
    const newline = text.indexOf("\n", at);
    const lineEnd = newline === -1 ? text.length : newline;
    const next = newline === -1 ? text.length : newline + 1;
    const line = text.slice(at, lineEnd);
    const isBlank = line.trim() === "";
    if (isAfterBlank && !isBlank && !/^[ \t]/.test(line)) cut(at);
    const fence = newline === -1 ? undefined : opens(line, next);
    if (fence !== undefined) {
      at = throughFence(fence, at);
      continue;
    }
    const isUndecided = newline === -1 && mayOpen(line);
    if (next - start > MAX_PART && !isUndecided) {
      const end = longEnd(text, Math.max(at, start + MAX_PART), next, newline !== -1);
      if (end !== undefined) {
        cut(end);
        at = end;
        continue;
      }
    }
    isAfterBlank = isBlank && at > start;
    at = next;
  }
  cut(text.length);
  return parts;
}

/** Of a line that is not whole: it may yet become one that opens a fence. */
function mayOpen(line: string): boolean {
  return line.length <= MAX_OPENING && /^ *(?:[`~]|$)/.test(line);
}

function opens(line: string, start: number): Fence | undefined {
  if (line.length > MAX_OPENING) return undefined;
  const [, indent, mark, info] = OPENING.exec(line.replace(/\r$/, "")) ?? [];
  if (indent === undefined || mark === undefined || info === undefined) return undefined;
  if (mark.startsWith("`") && info.includes("`")) return undefined;
  return { start, indent: indent.length, mark, lang: info.trim() };
}

/** Where the code ends, and the line that closes it; the end of the text while there is none. */
function closing(text: string, { start, indent, mark }: Fence): { at: number; end: number } {
  const close = new RegExp(
    `^ {0,${indent + 3}}${mark.charAt(0)}{${mark.length},}[ \\t\\r]*(?:\\n|(?![^]))`,
    "gm",
  );
  close.lastIndex = start;
  const found = close.exec(text);
  if (found === null) return { at: text.length, end: text.length };
  return { at: found.index, end: found.index + found[0].length };
}

function fencePart(text: string, { start, lang }: Fence, codeEnd: number, end: number): Part {
  const code = text.slice(start, codeEnd).replace(/\r\n/g, "\n").replace(/\n$/, "");
  return { text: "", end, fence: { lang: lang.split(/\s/)[0] ?? "", text: code } };
}

/** Where a part that got too long at `limit` ends: behind this line, or within it at a blank. */
function longEnd(text: string, limit: number, lineEnd: number, isWhole: boolean): number | undefined {
  const hard = limit + MAX_UNBROKEN;
  const blank = text.indexOf(" ", limit);
  const end = Math.min(blank === -1 ? Infinity : blank + 1, hard, isWhole ? lineEnd : Infinity);
  // Of a line that is not whole, the next character decides whether it may be cut there.
  if (end > lineEnd || (end === hard && text.length === hard)) return undefined;
  return end === hard && isLow(text, end) ? end - 1 : end;
}

function isLow(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff;
}
