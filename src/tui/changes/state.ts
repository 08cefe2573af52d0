// State of the changes screen: a list of files, or the lines of one. Pure: (state, key) → state and effects.
import { type ChangesScope, stepTurn, toFileKey } from "../../client/view/change-list.ts";
import type { ChangesState } from "../../client/view/change-source.ts";
import type { UndoQuestion } from "../../client/view/change-undo.ts";
import type { ChangedFile, UndoBody } from "../../protocol/changes.ts";
import type { Input } from "../screen-types.ts";
import { type ChangesAction, findChangesAction } from "./keys.ts";

export interface ChangesUi {
  changes: ChangesState;
  isWorking: boolean;
  /** The key of the selected file; stays selected when the list changes. */
  selected: string | undefined;
  index: number;
  mode: ChangesMode;
  /** What an undo did, or why not; until the next key. */
  notice?: string;
}

export type ChangesMode =
  | { kind: "list" }
  /** `top`: the first visible row. */
  | { kind: "file"; top: number }
  | { kind: "help"; top: number; isInFile: boolean }
  /** Asks before a turn is undone. */
  | { kind: "undo"; question: UndoQuestion; turn: number };

export type ChangesEffect =
  | { kind: "read_file"; file: ChangedFile }
  | { kind: "turn"; turn: ChangesScope | undefined }
  /** Absent: the last turn that changed files. */
  | { kind: "plan_undo"; turn?: number }
  | { kind: "undo"; order: UndoBody }
  | { kind: "more" | "refresh" | "back" | "suspend" | "repaint" };

export interface ChangesStep {
  ui: ChangesUi;
  effects: readonly ChangesEffect[];
}

export interface ChangesContext {
  /** Rows of the list, of the lines or of the help that are visible. */
  height: number;
  /** Rows that the lines of the open file, or the help, take. */
  rowCount: number;
}

export const FIRST_CHANGES_UI: ChangesUi = {
  changes: { files: [], isLoading: true, opened: new Map() },
  isWorking: false,
  selected: undefined,
  index: 0,
  mode: { kind: "list" },
};

export function setChanges(ui: ChangesUi, changes: ChangesState): ChangesUi {
  const found = changes.files.findIndex((file) => toFileKey(file) === ui.selected);
  const next = select({ ...ui, changes }, found === -1 ? ui.index : found);
  // The open file is no longer changed.
  const isGone = ui.mode.kind === "file" && found === -1 && !changes.isLoading;
  return isGone ? { ...next, mode: { kind: "list" } } : next;
}

export function getSelectedFile({ changes, index }: ChangesUi): ChangedFile | undefined {
  return changes.files[index];
}

export function askToUndo(ui: ChangesUi, question: UndoQuestion, turn: number): ChangesUi {
  return { ...ui, mode: { kind: "undo", question, turn } };
}

export function onChangesInput(before: ChangesUi, input: Input, context: ChangesContext): ChangesStep {
  const action = findChangesAction(input);
  const { notice: _read, ...ui } = before;
  const { turn } = ui.changes;
  if (action === "suspend" || action === "repaint") return step(before, { kind: action });
  if (ui.mode.kind === "undo") return onAnswer(ui, ui.mode, input);
  if (ui.mode.kind === "help") return step(onHelp(ui, ui.mode, action, context));
  switch (action) {
    case undefined:
      return step(ui);
    case "help":
      return step({ ...ui, mode: { kind: "help", top: 0, isInFile: ui.mode.kind === "file" } });
    case "leave":
      return step(ui, { kind: "back" });
    case "back":
      return ui.mode.kind === "file" ? step({ ...ui, mode: { kind: "list" } }) : step(ui, { kind: "back" });
    case "refresh":
      return step(ui, { kind: "refresh" });
    case "undo":
      return step(ui, { kind: "plan_undo", ...(typeof turn === "number" ? { turn } : {}) });
    case "next_turn":
    case "previous_turn": {
      const { reply } = ui.changes;
      const next = stepTurn(reply?.turns ?? [], turn, action === "next_turn" ? 1 : -1);
      return step({ ...ui, mode: { kind: "list" } }, { kind: "turn", turn: next });
    }
    case "open":
      return ui.mode.kind === "file" ? step(ui) : openSelected(ui);
    case "next_file":
      return openSelected(select(ui, ui.index + (ui.mode.kind === "file" ? 1 : 0)));
    case "previous_file":
      return openSelected(select(ui, ui.index - (ui.mode.kind === "file" ? 1 : 0)));
    default:
      return move(ui, action, context);
  }
}

type Move = Extract<ChangesAction, "up" | "down" | "page_up" | "page_down" | "first" | "last">;

function move(ui: ChangesUi, action: Move, { height, rowCount }: ChangesContext): ChangesStep {
  const by = toDistance(action, height);
  if (ui.mode.kind === "file") {
    const most = Math.max(0, rowCount - height);
    return step({ ...ui, mode: { kind: "file", top: Math.max(0, Math.min(most, ui.mode.top + by)) } });
  }
  const next = select(ui, ui.index + by);
  const isAtEnd = next.index >= ui.changes.files.length - 1 && by > 0;
  return isAtEnd && ui.changes.reply?.next !== undefined ? step(next, { kind: "more" }) : step(next);
}

function toDistance(action: Move, height: number): number {
  const page = Math.max(1, height - 1);
  return {
    up: -1,
    down: 1,
    page_up: -page,
    page_down: page,
    first: Number.NEGATIVE_INFINITY,
    last: Number.POSITIVE_INFINITY,
  }[action];
}

function openSelected(ui: ChangesUi): ChangesStep {
  const file = getSelectedFile(ui);
  if (file === undefined) return step(ui);
  return step({ ...ui, mode: { kind: "file", top: 0 } }, { kind: "read_file", file });
}

/** Only `y` and `f` confirm; any other key changes nothing. */
function onAnswer(
  ui: ChangesUi,
  { question, turn }: Extract<ChangesMode, { kind: "undo" }>,
  input: Input,
): ChangesStep {
  const next: ChangesUi = { ...ui, mode: { kind: "list" } };
  const typed = input.kind === "text" ? input.text : "";
  if (typed !== "y" && typed !== "f") return step(next);
  const force = question.needsForce ? { force: true } : {};
  return step(next, {
    kind: "undo",
    order: { turn, ...force, ...(typed === "f" ? { files_only: true } : {}) },
  });
}

/** Any key that does not scroll closes the help. */
function onHelp(
  ui: ChangesUi,
  { top, isInFile }: Extract<ChangesMode, { kind: "help" }>,
  action: ChangesAction | undefined,
  { height, rowCount }: ChangesContext,
): ChangesUi {
  const by = { up: -1, down: 1, page_up: -10, page_down: 10 }[String(action)];
  if (by === undefined) return { ...ui, mode: isInFile ? { kind: "file", top: 0 } : { kind: "list" } };
  const most = Math.max(0, rowCount - height);
  return { ...ui, mode: { kind: "help", top: Math.max(0, Math.min(most, top + by)), isInFile } };
}

function select(ui: ChangesUi, to: number): ChangesUi {
  const { files } = ui.changes;
  const index = Math.max(0, Math.min(files.length - 1, to));
  const file = files[index];
  // An empty list, while another is read, keeps the selection.
  return { ...ui, index, selected: file === undefined ? ui.selected : toFileKey(file) };
}

function step(ui: ChangesUi, ...effects: ChangesEffect[]): ChangesStep {
  return { ui, effects };
}
