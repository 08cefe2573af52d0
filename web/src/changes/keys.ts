// Keys of the Changes tab, also used by its buttons and the help page.

export type ChangesAction =
  | "next_file"
  | "previous_file"
  | "open_all"
  | "split"
  | "next_turn"
  | "previous_turn"
  | "comments"
  | "refresh";

/** Anywhere in the tab, except in a field. */
export const CHANGES_KEYS: readonly { keys: readonly [string]; action: ChangesAction; what: string }[] = [
  { keys: ["]"], action: "next_file", what: "Next file" },
  { keys: ["["], action: "previous_file", what: "Previous file" },
  { keys: ["o"], action: "open_all", what: "Open or close all files" },
  { keys: ["s"], action: "split", what: "Side by side, or in one column" },
  { keys: ["t"], action: "next_turn", what: "Changes of the next turn, then of all" },
  { keys: ["T"], action: "previous_turn", what: "Changes of the previous turn" },
  { keys: ["v"], action: "comments", what: "Review the comments" },
  { keys: ["r"], action: "refresh", what: "Read the changes again" },
];

export type LineAction = "down" | "up" | "extend_down" | "extend_up" | "comment" | "leave";

/** With the focus on the lines of a file. "Shift " is held meanwhile. */
export const LINE_KEYS: readonly { keys: readonly string[]; action: LineAction; what: string }[] = [
  { keys: ["ArrowDown"], action: "down", what: "Next line" },
  { keys: ["ArrowUp"], action: "up", what: "Previous line" },
  { keys: ["Shift ArrowDown"], action: "extend_down", what: "Select one more line" },
  { keys: ["Shift ArrowUp"], action: "extend_up", what: "Select one line less" },
  { keys: ["Enter", "m"], action: "comment", what: "Comment on the selected lines" },
  { keys: ["Escape"], action: "leave", what: "Back to the file's name" },
];

export function findChangesAction(key: string): ChangesAction | undefined {
  return CHANGES_KEYS.find(({ keys }) => keys.includes(key))?.action;
}

export function findLineAction({
  key,
  shiftKey,
}: {
  key: string;
  shiftKey: boolean;
}): LineAction | undefined {
  const pressed = shiftKey && key.startsWith("Arrow") ? `Shift ${key}` : key;
  return LINE_KEYS.find(({ keys }) => keys.includes(pressed))?.action;
}
