// An editable text and its operations. Pure. A long paste is one private-use character (plane 16) in the text, so that it
// moves and deletes as one; `expandText` puts the paste back.

export interface Editor {
  text: string;
  /** An index into `text`, always between two graphemes. */
  cursor: number;
  /** The last deleted text, for Ctrl-Y. */
  killed: string;
  /** Long pastes by their placeholder character. */
  pastes: ReadonlyMap<string, string>;
}

export const EMPTY_EDITOR: Editor = { text: "", cursor: 0, killed: "", pastes: new Map() };

/** Longer pastes are shown as a placeholder. */
const LONG_PASTE_LINES = 6;
const LONG_PASTE_CHARACTERS = 1000;
/** A longer recalled text is shown as a placeholder too, because every key lays out all visible text. */
const LONG_TEXT_CHARACTERS = 10_000;
const IMAGE_LABEL = /^\[image \d+: [^\n]*\]$/;
const FIRST_MARK = 0x100000;
const GRAPHEMES = new Intl.Segmenter(undefined, { granularity: "grapheme" });
const MARKS = /[\u{100000}-\u{10fffd}]/gu;

export function isEmpty({ text }: Editor): boolean {
  return text === "";
}

/** The full text, with pastes in place of their placeholders. */
export function expandText({ text, pastes }: Editor): string {
  return text.replace(MARKS, (mark) => pastes.get(mark) ?? mark);
}

/** The label shown for a placeholder. */
export function formatMark({ pastes }: Editor, mark: string): string | undefined {
  const paste = pastes.get(mark);
  if (paste === undefined) return undefined;
  if (IMAGE_LABEL.test(paste)) return paste;
  const lines = paste.split("\n").length;
  return lines > 1 ? `[pasted ${lines} lines]` : `[pasted ${paste.length} characters]`;
}

export function setText(editor: Editor, text: string): Editor {
  return putText(resetEditor(editor), text);
}

/** Clears the text but keeps the last deleted one for Ctrl-Y. */
export function resetEditor({ killed, pastes }: Editor): Editor {
  const kept = [...pastes].filter(([mark]) => killed.includes(mark));
  return { ...EMPTY_EDITOR, killed, pastes: new Map(kept) };
}

/** Inserts a recalled text. */
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

/** Inserts the label of an image, which moves and deletes as one. */
export function insertLabel(editor: Editor, label: string): Editor {
  return insertMark(editor, label);
}

function insertMark(editor: Editor, pasted: string): Editor {
  const used = [...editor.pastes.keys()].map((mark) => mark.codePointAt(0) ?? 0);
  const mark = String.fromCodePoint(Math.max(FIRST_MARK - 1, ...used) + 1);
  const pastes = new Map(editor.pastes).set(mark, pasted);
  return splice({ ...editor, pastes }, editor.cursor, editor.cursor, mark);
}

export function moveLeft(editor: Editor): Editor {
  return moveTo(editor, findPrevious(editor.text, editor.cursor));
}

export function moveRight(editor: Editor): Editor {
  return moveTo(editor, findNext(editor.text, editor.cursor));
}

export function moveToLineStart(editor: Editor): Editor {
  return moveTo(editor, findLineStart(editor));
}

export function moveToLineEnd(editor: Editor): Editor {
  return moveTo(editor, findLineEnd(editor));
}

export function moveWordLeft(editor: Editor): Editor {
  return moveTo(editor, findWordStart(editor));
}

export function moveWordRight(editor: Editor): Editor {
  return moveTo(editor, findWordEnd(editor));
}

export function backspace(editor: Editor): Editor {
  return splice(editor, findPrevious(editor.text, editor.cursor), editor.cursor, "");
}

export function deleteRight(editor: Editor): Editor {
  return splice(editor, editor.cursor, findNext(editor.text, editor.cursor), "");
}

/** Deletes to the end of the line; at the end, the line break. */
export function killRight(editor: Editor): Editor {
  const end = findLineEnd(editor);
  return kill(editor, editor.cursor, end === editor.cursor ? findNext(editor.text, end) : end);
}

/** Deletes to the start of the line; at the start, the line break before it. */
export function killLeft(editor: Editor): Editor {
  const start = findLineStart(editor);
  return kill(editor, start === editor.cursor ? findPrevious(editor.text, start) : start, editor.cursor);
}

/** Deletes back to whitespace, like Ctrl-W in a shell. */
export function killWordLeft(editor: Editor): Editor {
  const behind = editor.text.slice(0, editor.cursor);
  const [found = ""] = /\S*\s*$/u.exec(behind) ?? [];
  return kill(editor, editor.cursor - found.length, editor.cursor);
}

export function killSmallWordLeft(editor: Editor): Editor {
  return kill(editor, findWordStart(editor), editor.cursor);
}

export function killWordRight(editor: Editor): Editor {
  return kill(editor, editor.cursor, findWordEnd(editor));
}

export function yank(editor: Editor): Editor {
  return splice(editor, editor.cursor, editor.cursor, editor.killed);
}

/** Ctrl-Y restores the text. */
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
 * The graphemes of a text with their offsets. Only short stretches that need it are segmented: segmentation is quadratic
 * in the length of the text.
 */
export function* splitCharacters(text: string): Generator<Character> {
  for (let at = 0; at < text.length; ) {
    const end = findStretchEnd(text, at);
    if (end === at + 1) {
      yield { segment: text.slice(at, end), index: at };
      at = end;
      continue;
    }
    const found = [...GRAPHEMES.segment(text.slice(at, end))];
    // The last grapheme of a cut stretch may be incomplete.
    const isCut = end - at === MAX_STRETCH && end < text.length && found.length > 1;
    const whole = isCut ? found.slice(0, -1) : found;
    for (const { segment, index } of whole) yield { segment, index: at + index };
    at = isCut ? at + (found.at(-1)?.index ?? 0) : end;
  }
}

const MAX_STRETCH = 256;

/** The next offset that is certainly a grapheme boundary. */
function findStretchEnd(text: string, from: number): number {
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
  // The inserted text may combine with the text after it; the cursor goes after that grapheme.
  return { ...editor, text: next, cursor: findBoundary(next, from + text.length) };
}

function kill(editor: Editor, from: number, to: number): Editor {
  if (from === to) return editor;
  return { ...splice(editor, from, to, ""), killed: editor.text.slice(from, to) };
}

function findLineStart({ text, cursor }: Editor): number {
  return cursor === 0 ? 0 : text.lastIndexOf("\n", cursor - 1) + 1;
}

function findLineEnd({ text, cursor }: Editor): number {
  const found = text.indexOf("\n", cursor);
  return found < 0 ? text.length : found;
}

function findWordStart({ text, cursor }: Editor): number {
  const [found = ""] = /[\p{L}\p{N}\p{M}_]*[^\p{L}\p{N}\p{M}_]*$/u.exec(text.slice(0, cursor)) ?? [];
  return findBoundary(text, cursor - found.length);
}

function findWordEnd({ text, cursor }: Editor): number {
  const [found = ""] = /^[^\p{L}\p{N}_]*[\p{L}\p{N}\p{M}_]*/u.exec(text.slice(cursor)) ?? [];
  return findBoundary(text, cursor + found.length);
}

/** Looks at one line only: no grapheme spans lines. */
function findPrevious(text: string, cursor: number): number {
  if (cursor === 0) return 0;
  if (text[cursor - 1] === "\n") return cursor - 1;
  const start = text.lastIndexOf("\n", cursor - 1) + 1;
  let last = 0;
  for (const { index } of splitCharacters(text.slice(start, cursor))) last = index;
  return start + last;
}

function findNext(text: string, cursor: number): number {
  if (cursor >= text.length) return text.length;
  const [first] = splitCharacters(text.slice(cursor, cursor + 64));
  return cursor + (first?.segment.length ?? 1);
}

/** A character that combines with no neighbor, so that a long line need not be segmented on each key. */
function isPlain(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 0x20 && code < 0x300;
}

/** The first grapheme boundary at or after `at`. */
function findBoundary(text: string, at: number): number {
  if (at === text.length || (isPlain(text, at - 1) && isPlain(text, at))) return at;
  const start = text.lastIndexOf("\n", Math.max(0, at - 1)) + 1;
  if (at <= start) return at;
  const end = text.indexOf("\n", at);
  for (const { segment, index } of splitCharacters(text.slice(start, end < 0 ? text.length : end))) {
    if (start + index >= at) return start + index;
    if (start + index + segment.length >= at) return start + index + segment.length;
  }
  return at;
}
