// Splits Markdown into parts that are parsed separately: at blank lines before an unindented line, around fenced code,
// and where a part gets too long to reparse while it streams in. A split depends only on the text before it (and one
// character after), so growing text is split in the same places.

export interface MarkdownPart {
  text: string;
  /** End offset in the whole text. */
  end: number;
  /** Set if the part is a fenced code block. */
  fence?: { lang: string; text: string };
}

/** Limit per `marked` call; some of its rules are quadratic. */
const MAX_PART = 4_000;
/** Extra length before a line without spaces is split. */
const MAX_UNBROKEN = 2_000;
/** Code inside a list is split here. */
const MAX_INNER_CODE = 8_000;

/** A longer line does not open a fence. */
const MAX_OPENING = 200;
const OPENING = /^( *)(`{3,}|~{3,})([^\n]*)$/;

interface Fence {
  /** Start of the code. */
  start: number;
  indent: number;
  mark: string;
  lang: string;
}

/** `from` must be the start of a part. */
export function splitParts(text: string, from: number): MarkdownPart[] {
  const parts: MarkdownPart[] = [];
  let start = from;
  let at = from;
  let isAfterBlank = false;
  const cutText = (end: number): void => {
    if (end > start) parts.push({ text: text.slice(start, end), end });
    start = end;
    isAfterBlank = false;
  };
  /** Returns where to continue: after the fence, which is its own part unless it is in a list. */
  const skipFence = (fence: Fence, opening: number): number => {
    const { at: codeEnd, end } = findFenceEnd(text, fence);
    if (fence.indent === 0) {
      cutText(opening);
      parts.push(toFencePart(text, fence, codeEnd, end));
      start = end;
      return end;
    }
    isAfterBlank = false;
    const long = text.indexOf("\n", Math.max(fence.start, start + MAX_INNER_CODE)) + 1;
    if (long === 0 || end <= long) return end;
    cutText(long);
    return long;
  };
  while (at < text.length) {
    const newline = text.indexOf("\n", at);
    const lineEnd = newline === -1 ? text.length : newline;
    const next = newline === -1 ? text.length : newline + 1;
    const line = text.slice(at, lineEnd);
    const isBlank = line.trim() === "";
    if (isAfterBlank && !isBlank && !/^[ \t]/.test(line)) cutText(at);
    const fence = newline === -1 ? undefined : readFence(line, next);
    if (fence !== undefined) {
      at = skipFence(fence, at);
      continue;
    }
    const isUndecided = newline === -1 && mayOpen(line);
    if (next - start > MAX_PART && !isUndecided) {
      const end = findLongEnd(text, Math.max(at, start + MAX_PART), next, newline !== -1);
      if (end !== undefined) {
        cutText(end);
        at = end;
        continue;
      }
    }
    isAfterBlank = isBlank && at > start;
    at = next;
  }
  cutText(text.length);
  return parts;
}

/** Whether an incomplete line may become the opening of a fence. */
function mayOpen(line: string): boolean {
  return line.length <= MAX_OPENING && /^ *(?:[`~]|$)/.test(line);
}

function readFence(line: string, start: number): Fence | undefined {
  if (line.length > MAX_OPENING) return undefined;
  const [, indent, mark, info] = OPENING.exec(line.replace(/\r$/, "")) ?? [];
  if (indent === undefined || mark === undefined || info === undefined) return undefined;
  if (mark.startsWith("`") && info.includes("`")) return undefined;
  return { start, indent: indent.length, mark, lang: info.trim() };
}

/** The end of the code and of the closing line; the end of the text if it is not closed. */
function findFenceEnd(text: string, { start, indent, mark }: Fence): { at: number; end: number } {
  const close = new RegExp(
    `^ {0,${indent + 3}}${mark.charAt(0)}{${mark.length},}[ \\t\\r]*(?:\\n|(?![^]))`,
    "gm",
  );
  close.lastIndex = start;
  const found = close.exec(text);
  if (found === null) return { at: text.length, end: text.length };
  return { at: found.index, end: found.index + found[0].length };
}

function toFencePart(text: string, { start, lang }: Fence, codeEnd: number, end: number): MarkdownPart {
  const code = text.slice(start, codeEnd).replace(/\r\n/g, "\n").replace(/\n$/, "");
  return { text: "", end, fence: { lang: lang.split(/\s/)[0] ?? "", text: code } };
}

/** Where a part that is too long at `limit` ends: after this line, or at a space within it. */
function findLongEnd(text: string, limit: number, lineEnd: number, isWhole: boolean): number | undefined {
  const hard = limit + MAX_UNBROKEN;
  const blank = text.indexOf(" ", limit);
  const end = Math.min(blank === -1 ? Infinity : blank + 1, hard, isWhole ? lineEnd : Infinity);
  // In an incomplete line the next character decides whether to split here.
  if (end > lineEnd || (end === hard && text.length === hard)) return undefined;
  return end === hard && isLowSurrogate(text, end) ? end - 1 : end;
}

function isLowSurrogate(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff;
}
