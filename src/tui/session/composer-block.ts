// The text that is written, as rows with a prompt in front; the same for messages, reasons, answers and the search.
import type { Editor } from "../composer/editor.ts";
import { layoutEditor, visibleRows } from "../composer/layout.ts";
import { type Line, piece, STYLE } from "../rows/style.ts";
import { widthOf } from "../rows/wrap.ts";
import type { Look } from "../screen-types.ts";
import { draw } from "../theme.ts";
import type { SessionUi } from "./ui-types.ts";

export interface BlockOptions {
  columns: number;
  height: number;
  look: Look;
  /** The mode stands in a rule above; else it is in the prompt. */
  hasRule: boolean;
  /** A text other than the message. */
  field?: { editor: Editor; label: string; isSecret: boolean };
}

export interface Block {
  rows: string[];
  cursor: { x: number; y: number };
  /** What the text has of the columns. */
  width: number;
}

export function composerBlock(ui: SessionUi, options: BlockOptions): Block {
  const { columns, height, look, hasRule } = options;
  const search = ui.overlay?.kind === "search" ? ui.overlay : undefined;
  const field = options.field ?? { editor: search?.editor ?? ui.editor, label: "", isSecret: false };
  const prompt = hasRule ? "> " : `${search === undefined ? ui.mode : "search"}> `;
  const indent = widthOf(prompt);
  const width = Math.max(2, columns - indent);
  const { rows, cursor } = visibleRows(layoutEditor(field.editor, width, field.isSecret), height);
  const lines = rows.map(({ text }, at): Line => {
    const first = at === 0 ? piece(prompt, STYLE.accent) : piece(" ".repeat(indent));
    return [first, piece(text), ...ghost(ui, field, search?.message)];
  });
  const label = field.label === "" ? [] : [draw([piece(field.label, STYLE.dim)], columns, look)];
  return {
    rows: [...label, ...lines.map((line) => draw(line, columns, look))],
    cursor: { x: Math.min(columns - 1, indent + cursor.x), y: label.length + cursor.y },
    width,
  };
}

/** What stands in a text that is empty, or behind the words of a search. */
function ghost(ui: SessionUi, { editor, label }: { editor: Editor; label: string }, message?: string): Line {
  if (message !== undefined) return [piece(`  ${message}`, STYLE.warn)];
  if (editor.text !== "" || label !== "" || ui.overlay !== undefined) return [];
  return ui.view.entries.length === 0 ? [piece("write a message, Enter sends it", STYLE.dim)] : [];
}
