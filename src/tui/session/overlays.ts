// Keys of the overlays: help, search, picker.
import { editWith } from "../composer/edit-keys.ts";
import { insert } from "../composer/editor.ts";
import { countHelpRows } from "../help.ts";
import { findAction } from "../keys/table.ts";
import { onPickerInput } from "../picker/picker.ts";
import type { Input } from "../screen-types.ts";
import { onAnyKey } from "./any-key.ts";
import { toChord } from "./chord.ts";
import { findTopRow, reveal } from "./scroll.ts";
import { omit, step } from "./state.ts";
import type { Overlay, SessionUi, Step, UiContext } from "./ui-types.ts";

/** These work in overlays too. */
const ALWAYS = new Set(["suspend", "repaint"]);

export function onOverlayInput(ui: SessionUi, overlay: Overlay, input: Input, context: UiContext): Step {
  const chord = toChord(input);
  if (input.kind === "key" && ALWAYS.has(findAction(chord, "any") ?? "")) return onAnyKey(ui, chord, context);
  switch (overlay.kind) {
    case "help":
      return onHelp(ui, overlay, chord, context);
    case "picker":
      return onPicker(ui, overlay, input);
    case "search":
      return onSearch(ui, overlay, input, context);
  }
}

const HELP_KEYS: Readonly<Record<string, number>> = {
  up: -1,
  down: 1,
  pageup: -10,
  pagedown: 10,
  space: 10,
  wheelup: -3,
  wheeldown: 3,
  home: Number.NEGATIVE_INFINITY,
  end: Number.POSITIVE_INFINITY,
};

function onHelp(
  ui: SessionUi,
  { scroll }: Extract<Overlay, { kind: "help" }>,
  chord: string,
  { feedHeight }: UiContext,
): Step {
  const by = HELP_KEYS[chord];
  if (by === undefined) return step(omit(ui, "overlay"));
  const most = Math.max(0, countHelpRows(ui.size.columns) - feedHeight);
  return step({ ...ui, overlay: { kind: "help", scroll: Math.max(0, Math.min(most, scroll + by)) } });
}

function onPicker(ui: SessionUi, { picker }: Extract<Overlay, { kind: "picker" }>, input: Input): Step {
  const next = onPickerInput(picker, input);
  if (next.kind === "open") return step({ ...ui, overlay: { kind: "picker", picker: next.picker } });
  const closed = omit(ui, "overlay");
  if (next.kind === "closed") return step(closed);
  if (next.kind === "message") return step({ ...closed, editor: insert(ui.editor, next.text) });
  return step(closed, { kind: "choose", key: picker.key, value: next.value, label: next.label });
}

type Search = Extract<Overlay, { kind: "search" }>;

function onSearch(ui: SessionUi, search: Search, input: Input, context: UiContext): Step {
  const chord = toChord(input);
  const isKey = input.kind === "key";
  if (isKey && (chord === "escape" || chord === "ctrl-c")) return step(omit(ui, "overlay"));
  if (isKey && chord === "ctrl-f") return step({ ...ui, overlay: { ...search, isTyping: true } });
  const action = findAction(chord, "search");
  // While typing, letters are text; the arrows still move between matches.
  if (action !== undefined && (isKey || !search.isTyping)) {
    return step(look(ui, search, action === "found_next" ? 1 : -1, context));
  }
  if (isKey && chord === "enter") {
    if (search.editor.text === "") return step(omit(ui, "overlay"));
    return step(
      search.isTyping ? { ...ui, overlay: { ...search, isTyping: false } } : look(ui, search, -1, context),
    );
  }
  if (search.isTyping) {
    const editor = editWith(search.editor, input, true);
    if (editor !== undefined) return step(look(ui, { ...search, editor }, 0, context));
  }
  return isKey ? onAnyKey(ui, chord, context) : step(ui);
}

/** Finds a match; 0 searches from here upward, because the newest rows are at the bottom. */
function look(ui: SessionUi, search: Search, by: 1 | 0 | -1, context: UiContext): SessionUi {
  const { feed, feedHeight } = context;
  const { text } = search.editor;
  const { row: before, message: _, ...rest } = search;
  if (text === "") return { ...ui, overlay: rest };
  const bottom = Math.min(feed.rowCount, findTopRow(ui.feed, feed, feedHeight) + feedHeight);
  const from = before ?? bottom;
  const row = by === 0 ? feed.find(text, (before ?? bottom - 1) + 1, -1) : feed.find(text, from, by);
  if (row === undefined) return { ...ui, overlay: { ...rest, message: "not found" } };
  const turned = before !== undefined && ((by > 0 && row <= before) || (by < 0 && row >= before));
  const next: Search = { ...rest, row, ...(turned ? { message: "wrapped around" } : {}) };
  return reveal({ ...ui, overlay: next }, row, context);
}
