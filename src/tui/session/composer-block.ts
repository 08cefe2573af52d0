// Draws a text field with its prompt: message, reason, answer or search.

import { measureWidth } from "../../base/width.ts";
import type { Editor } from "../composer/editor.ts";
import { arrangeEditor, sliceVisibleRows } from "../composer/layout.ts";
import { createPiece, type Line, STYLE } from "../rows/style.ts";
import type { Look } from "../screen-types.ts";
import { drawLine } from "../theme.ts";
import type { SessionUi } from "./ui-types.ts";

export interface ComposerOptions {
  columns: number;
  height: number;
  look: Look;
  /** The mode is shown in a rule above; otherwise in the prompt. */
  hasRule: boolean;
  /** A field other than the message. */
  field?: { editor: Editor; label: string; isSecret: boolean };
}

export interface Block {
  rows: string[];
  cursor: { x: number; y: number };
  /** The width of the text. */
  width: number;
}

export function drawComposer(ui: SessionUi, options: ComposerOptions): Block {
  const { columns, height, look, hasRule } = options;
  const search = ui.overlay?.kind === "search" ? ui.overlay : undefined;
  const field = options.field ?? { editor: search?.editor ?? ui.editor, label: "", isSecret: false };
  const prompt = hasRule ? "> " : `${search === undefined ? ui.mode : "search"}> `;
  const indent = measureWidth(prompt);
  const width = Math.max(2, columns - indent);
  const { rows, cursor } = sliceVisibleRows(arrangeEditor(field.editor, width, field.isSecret), height);
  const lines = rows.map(({ text }, at): Line => {
    const first = at === 0 ? createPiece(prompt, STYLE.accent) : createPiece(" ".repeat(indent));
    return [first, createPiece(text), ...ghost(ui, field, search?.message)];
  });
  const label = field.label === "" ? [] : [drawLine([createPiece(field.label, STYLE.dim)], columns, look)];
  return {
    rows: [...label, ...lines.map((line) => drawLine(line, columns, look))],
    cursor: { x: Math.min(columns - 1, indent + cursor.x), y: label.length + cursor.y },
    width,
  };
}

/** The placeholder of an empty field, or the search result. */
function ghost(ui: SessionUi, { editor, label }: { editor: Editor; label: string }, message?: string): Line {
  if (message !== undefined) return [createPiece(`  ${message}`, STYLE.warn)];
  if (editor.text !== "" || label !== "" || ui.overlay !== undefined) return [];
  return ui.view.entries.length === 0 ? [createPiece("type a message; Enter sends it", STYLE.dim)] : [];
}
