// A text that is being written, and what keys do to it. Pure. A long paste stands in the text as one private character
// (of plane 16), so that it is moved over and deleted as one; it is put in place of it when the text is taken.

export interface Editor {
  text: string;
  /** An index into `text`, always between two characters as people see them. */
  cursor: number;
  /** What was killed last, for Ctrl-Y. */
  killed: string;
  /** Long pastes by the character that stands for them. */
  pastes: ReadonlyMap<string, string>;
}

export const EMPTY_EDITOR: Editor = { text: "", cursor: 0, killed: "", pastes: new Map() };

/** From here on a paste is shown as a mark only. */
const LONG_PASTE_LINES = 6;
const LONG_PASTE_CHARACTERS = 1000;
/** A text that comes back (sent before, or not sent) stands as a mark beyond this: every key lays out all that is shown. */
const LONG_TEXT_CHARACTERS = 10_000;
const FIRST_MARK = 0x100000;
const GRAPHEMES = new Intl.Segmenter(undefined, { granularity: "grapheme" });
const MARKS = /[\u{100000}-\u{10fffd}]/gu;

export function isEmpty({ text }: Editor): boolean {
  return text === "";
}

/** The text as it is meant, with pastes in their places. */
export function wholeText({ text, pastes }: Editor): string {
  return text.replace(MARKS, (mark) => pastes.get(mark) ?? mark);
}

/** What stands on the screen for a mark. */
export function markLabel({ pastes }: Editor, mark: string): string | undefined {
  const paste = pastes.get(mark);
  if (paste === undefined) return undefined;
  const lines = paste.split("\n").length;
  return lines > 1 ? `[pasted ${lines} lines]` : `[pasted ${paste.length} characters]`;
}

export function withText(editor: Editor, text: string): Editor {
  return putText(emptied(editor), text);
}

/** Nothing is written any more; what was killed before can still be put back. */
export function emptied({ killed, pastes }: Editor): Editor {
  const kept = [...pastes].filter(([mark]) => killed.includes(mark));
  return { ...EMPTY_EDITOR, killed, pastes: new Map(kept) };
}

/** Puts in a text that comes back. */
export function putText(editor: Editor, text: string): Editor {
  return text.length > LONG_TEXT_CHARACTERS ? insertMark(editor, text) : insert(editor, text);
}

export function insert(editor: Editor, text: string): Editor {
  return splice(editor, editor.cursor, editor.cursor, text.replace(MARKS, "\ufffd"));
}

export function paste(editor: Editor, pasted: string): Editor {
  const isLong = pasted.length > LONG_PASTE_CHARACTERS || pasted.split("\n").length >= LONG_PASTE_LINES;
  return isLong || pasted.search(MARKS) >= 0 ? insertMark(editor, pasted) : insert(editor, pasted);
}

function insertMark(editor: Editor, pasted: string): Editor {
  const used = [...editor.pastes.keys()].map((mark) => mark.codePointAt(0) ?? 0);
  const mark = String.fromCodePoint(Math.max(FIRST_MARK - 1, ...used) + 1);
  const pastes = new Map(editor.pastes).set(mark, pasted);
  return splice({ ...editor, pastes }, editor.cursor, editor.cursor, mark);
}

export function left(editor: Editor): Editor {
  return moveTo(editor, before(editor.text, editor.cursor));
}

export function right(editor: Editor): Editor {
  return moveTo(editor, after(editor.text, editor.cursor));
}

export function lineStart(editor: Editor): Editor {
  return moveTo(editor, startOfLine(editor));
}

export function lineEnd(editor: Editor): Editor {
  return moveTo(editor, endOfLine(editor));
}

export function wordLeft(editor: Editor): Editor {
  return moveTo(editor, wordBefore(editor));
}

export function wordRight(editor: Editor): Editor {
  return moveTo(editor, wordAfter(editor));
}

export function backspace(editor: Editor): Editor {
  return splice(editor, before(editor.text, editor.cursor), editor.cursor, "");
}

export function deleteRight(editor: Editor): Editor {
  return splice(editor, editor.cursor, after(editor.text, editor.cursor), "");
}

/** To the end of the line; at its end the line break. */
export function killRight(editor: Editor): Editor {
  const end = endOfLine(editor);
  return kill(editor, editor.cursor, end === editor.cursor ? after(editor.text, end) : end);
}

/** To the beginning of the line; at its beginning the line break before it. */
export function killLeft(editor: Editor): Editor {
  const start = startOfLine(editor);
  return kill(editor, start === editor.cursor ? before(editor.text, start) : start, editor.cursor);
}

/** Back to the blank before the word, as Ctrl-W does in a shell. */
export function killWordLeft(editor: Editor): Editor {
  const behind = editor.text.slice(0, editor.cursor);
  const [found = ""] = /\S*\s*$/u.exec(behind) ?? [];
  return kill(editor, editor.cursor - found.length, editor.cursor);
}

export function killSmallWordLeft(editor: Editor): Editor {
  return kill(editor, wordBefore(editor), editor.cursor);
}

export function killWordRight(editor: Editor): Editor {
  return kill(editor, editor.cursor, wordAfter(editor));
}

export function yank(editor: Editor): Editor {
  return splice(editor, editor.cursor, editor.cursor, editor.killed);
}

/** Clears it; Ctrl-Y brings it back. */
export function clear(editor: Editor): Editor {
  return kill(editor, 0, editor.text.length);
}

export function moveTo(editor: Editor, cursor: number): Editor {
  return cursor === editor.cursor ? editor : { ...editor, cursor };
}

export interface Character {
  segment: string;
  index: number;
}

/**
 * The characters of a text as people see them, with where each begins. The segmenter gets only short stretches that need
 * it: for a text of some length its time grows with the square of it.
 */
export function* characters(text: string): Generator<Character> {
  for (let at = 0; at < text.length; ) {
    const end = stretchEnd(text, at);
    if (end === at + 1) {
      yield { segment: text.slice(at, end), index: at };
      at = end;
      continue;
    }
    const found = [...GRAPHEMES.segment(text.slice(at, end))];
    // The last one may go on behind a stretch that was cut.
    const isCut = end - at === MAX_STRETCH && end < text.length && found.length > 1;
    const whole = isCut ? found.slice(0, -1) : found;
    for (const { segment, index } of whole) yield { segment, index: at + index };
    at = isCut ? at + (found.at(-1)?.index ?? 0) : end;
  }
}

const MAX_STRETCH = 256;

/** Up to the next place where a character surely ends. */
function stretchEnd(text: string, from: number): number {
  for (let at = from + 1; at < text.length && at - from < MAX_STRETCH; at++) {
    const isBreak =
      text[at - 1] === "\n" || (isPlain(text, at - 1) && (isPlain(text, at) || text[at] === "\n"));
    if (isBreak) return at;
  }
  return Math.min(text.length, from + MAX_STRETCH);
}

function splice(editor: Editor, from: number, to: number, text: string): Editor {
  if (from === to && text === "") return editor;
  const next = editor.text.slice(0, from) + text + editor.text.slice(to);
  // What is put in may join what stands behind it to one character: the cursor goes behind that.
  return { ...editor, text: next, cursor: boundary(next, from + text.length) };
}

function kill(editor: Editor, from: number, to: number): Editor {
  if (from === to) return editor;
  return { ...splice(editor, from, to, ""), killed: editor.text.slice(from, to) };
}

function startOfLine({ text, cursor }: Editor): number {
  return cursor === 0 ? 0 : text.lastIndexOf("\n", cursor - 1) + 1;
}

function endOfLine({ text, cursor }: Editor): number {
  const found = text.indexOf("\n", cursor);
  return found < 0 ? text.length : found;
}

function wordBefore({ text, cursor }: Editor): number {
  const [found = ""] = /[\p{L}\p{N}\p{M}_]*[^\p{L}\p{N}\p{M}_]*$/u.exec(text.slice(0, cursor)) ?? [];
  return boundary(text, cursor - found.length);
}

function wordAfter({ text, cursor }: Editor): number {
  const [found = ""] = /^[^\p{L}\p{N}_]*[\p{L}\p{N}\p{M}_]*/u.exec(text.slice(cursor)) ?? [];
  return boundary(text, cursor + found.length);
}

/** Only a line is looked at: a character as people see it does not go beyond. */
function before(text: string, cursor: number): number {
  if (cursor === 0) return 0;
  if (text[cursor - 1] === "\n") return cursor - 1;
  const start = text.lastIndexOf("\n", cursor - 1) + 1;
  let last = 0;
  for (const { index } of characters(text.slice(start, cursor))) last = index;
  return start + last;
}

function after(text: string, cursor: number): number {
  if (cursor >= text.length) return text.length;
  const [first] = characters(text.slice(cursor, cursor + 64));
  return cursor + (first?.segment.length ?? 1);
}

/** Such a character joins none beside it, so that a long line need not be taken apart for each key. */
function isPlain(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 0x20 && code < 0x300;
}

/** The nearest place between two characters that is not before `at`. */
function boundary(text: string, at: number): number {
  if (at === text.length || (isPlain(text, at - 1) && isPlain(text, at))) return at;
  const start = text.lastIndexOf("\n", Math.max(0, at - 1)) + 1;
  if (at <= start) return at;
  const end = text.indexOf("\n", at);
  for (const { segment, index } of characters(text.slice(start, end < 0 ? text.length : end))) {
    if (start + index >= at) return start + index;
    if (start + index + segment.length >= at) return start + index + segment.length;
  }
  return at;
}
