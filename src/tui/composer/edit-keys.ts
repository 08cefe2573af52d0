// Editing keys, the same in every text field: composer, reason, answer, search, pickers.
import type { Input } from "../screen-types.ts";
import {
  backspace,
  deleteRight,
  type Editor,
  insert,
  killLeft,
  killRight,
  killSmallWordLeft,
  killWordLeft,
  killWordRight,
  moveLeft,
  moveRight,
  moveToLineEnd,
  moveToLineStart,
  moveWordLeft,
  moveWordRight,
  paste,
  yank,
} from "./editor.ts";

type Edit = (editor: Editor) => Editor;

const EDITS: Readonly<Record<string, Edit>> = {
  left: moveLeft,
  right: moveRight,
  home: moveToLineStart,
  end: moveToLineEnd,
  backspace,
  delete: deleteRight,
  "ctrl-a": moveToLineStart,
  "ctrl-b": moveLeft,
  "ctrl-d": deleteRight,
  "ctrl-e": moveToLineEnd,
  "ctrl-h": backspace,
  "ctrl-k": killRight,
  "ctrl-u": killLeft,
  "ctrl-w": killWordLeft,
  "ctrl-y": yank,
  "alt-b": moveWordLeft,
  "alt-f": moveWordRight,
  "alt-d": killWordRight,
  "alt-backspace": killSmallWordLeft,
  "alt-left": moveWordLeft,
  "alt-right": moveWordRight,
  "ctrl-left": moveWordLeft,
  "ctrl-right": moveWordRight,
};

/** Returns undefined if the key does not edit. `isLine`: a single-line field; line breaks in a paste become spaces. */
export function editWith(editor: Editor, input: Input, isLine = false): Editor | undefined {
  if (input.kind === "text") return insert(editor, input.text);
  if (input.kind === "paste") {
    return isLine ? insert(editor, input.text.replace(/\s*\n\s*/g, " ")) : paste(editor, input.text);
  }
  if (input.chord === "shift-backspace") return backspace(editor);
  return EDITS[input.chord]?.(editor);
}
