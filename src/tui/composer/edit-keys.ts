// Which key does what to a text, the same wherever one is written: composer, reason, own words, search, pickers.
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
  left,
  lineEnd,
  lineStart,
  paste,
  right,
  wordLeft,
  wordRight,
  yank,
} from "./editor.ts";

type Edit = (editor: Editor) => Editor;

const EDITS: Readonly<Record<string, Edit>> = {
  left,
  right,
  home: lineStart,
  end: lineEnd,
  backspace,
  delete: deleteRight,
  "ctrl-a": lineStart,
  "ctrl-b": left,
  "ctrl-d": deleteRight,
  "ctrl-e": lineEnd,
  "ctrl-h": backspace,
  "ctrl-k": killRight,
  "ctrl-u": killLeft,
  "ctrl-w": killWordLeft,
  "ctrl-y": yank,
  "alt-b": wordLeft,
  "alt-f": wordRight,
  "alt-d": killWordRight,
  "alt-backspace": killSmallWordLeft,
  "alt-left": wordLeft,
  "alt-right": wordRight,
  "ctrl-left": wordLeft,
  "ctrl-right": wordRight,
};

/** undefined: the key is none for a text. `isLine`: it has one line, so line breaks in a paste become blanks. */
export function editWith(editor: Editor, input: Input, isLine = false): Editor | undefined {
  if (input.kind === "text") return insert(editor, input.text);
  if (input.kind === "paste") {
    return isLine ? insert(editor, input.text.replace(/\s*\n\s*/g, " ")) : paste(editor, input.text);
  }
  if (input.chord === "shift-backspace") return backspace(editor);
  return EDITS[input.chord]?.(editor);
}
