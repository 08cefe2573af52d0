// Keys of the session list while it has the focus, also used by the help page.
export type ListAction =
  | "down"
  | "up"
  | "pageDown"
  | "pageUp"
  | "first"
  | "last"
  | "fold"
  | "unfold"
  | "open";

export const LIST_KEYS: readonly { keys: readonly string[]; action: ListAction; what: string }[] = [
  { keys: ["ArrowDown", "j"], action: "down", what: "Down" },
  { keys: ["ArrowUp", "k"], action: "up", what: "Up" },
  { keys: ["PageDown"], action: "pageDown", what: "Page down" },
  { keys: ["PageUp"], action: "pageUp", what: "Page up" },
  { keys: ["Home"], action: "first", what: "First" },
  { keys: ["End"], action: "last", what: "Last" },
  { keys: ["ArrowLeft"], action: "fold", what: "Collapse, or go to the parent" },
  { keys: ["ArrowRight"], action: "unfold", what: "Expand" },
  { keys: ["Enter", " "], action: "open", what: "Open" },
];

export function listAction(key: string): ListAction | undefined {
  return LIST_KEYS.find(({ keys }) => keys.includes(key))?.action;
}
