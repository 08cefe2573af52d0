// A list overlay: typing filters, Enter selects, Esc closes. Text that matches no option was the start of a message that
// happens to begin with the picker's key. Pure.

import { editWith } from "../composer/edit-keys.ts";
import { type Editor, EMPTY_EDITOR } from "../composer/editor.ts";
import type { Input } from "../screen-types.ts";
import type { Picker, PickerOption } from "../types.ts";

export interface PickerState {
  key: string;
  title: string;
  takesText: boolean;
  /** Absent until loaded. */
  options?: readonly PickerOption[];
  marked: number;
  editor: Editor;
  message?: string;
}

export type PickerStep =
  | { kind: "open"; picker: PickerState }
  | { kind: "closed" }
  /** The user is typing a message; `text` is all of it so far. */
  | { kind: "message"; text: string }
  | { kind: "chosen"; value: string; label: string };

export function openPicker({
  key,
  title,
  takesText,
}: Pick<Picker, "key" | "title" | "takesText">): PickerState {
  return { key, title, takesText: takesText === true, marked: 0, editor: EMPTY_EDITOR };
}

/** Fills in the loaded options and selects the current one. */
export function fillPicker(picker: PickerState, options: readonly PickerOption[]): PickerState {
  const marked = Math.max(
    0,
    options.findIndex(({ isCurrent }) => isCurrent),
  );
  return { ...picker, options, marked };
}

/** The options that contain the typed text. */
export function listShownOptions({ options = [], editor, takesText }: PickerState): readonly PickerOption[] {
  const words = editor.text.trim().toLowerCase();
  if (words === "") return options;
  const found = options.filter(({ label, value }) => `${label} ${value}`.toLowerCase().includes(words));
  const isListed = options.some(({ value }) => value === editor.text.trim());
  const own = { value: editor.text.trim(), label: editor.text.trim(), detail: "as typed" };
  return takesText && !isListed ? [...found, own] : found;
}

export function onPickerInput(picker: PickerState, input: Input): PickerStep {
  const shown = listShownOptions(picker);
  const count = Math.max(1, shown.length);
  const chord = input.kind === "key" ? input.chord : "";
  if (chord === "escape" || chord === "ctrl-c") return { kind: "closed" };
  if (chord === "up" || chord === "ctrl-p")
    return open({ ...picker, marked: (picker.marked + count - 1) % count });
  if (chord === "down" || chord === "ctrl-n" || chord === "tab") {
    return open({ ...picker, marked: (picker.marked + 1) % count });
  }
  if (chord === "enter") {
    const option = shown[picker.marked];
    if (option === undefined) return open(picker);
    if (option.problem !== undefined) return open({ ...picker, message: option.problem });
    return { kind: "chosen", value: option.value, label: option.label };
  }
  const editor = editWith(picker.editor, input, true);
  if (editor === undefined || editor === picker.editor) return open(picker);
  if (isMessage({ ...picker, editor }, input)) return { kind: "message", text: picker.key + editor.text };
  const { message: _, ...rest } = picker;
  return open({ ...rest, editor, marked: editor.text === picker.editor.text ? picker.marked : 0 });
}

/** Typed before the list appeared, containing a space, or matching no option. */
function isMessage(picker: PickerState, input: Input): boolean {
  // A command opened it, not a letter.
  if (input.kind !== "text" || picker.key.startsWith("/")) return false;
  return picker.options === undefined || input.text === " " || listShownOptions(picker).length === 0;
}

function open(picker: PickerState): PickerStep {
  return { kind: "open", picker };
}
