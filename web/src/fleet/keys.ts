// The keys of the list of sessions while it has the focus, as a table: help is made from it.
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
  { keys: ["PageDown"], action: "pageDown", what: "A page down" },
  { keys: ["PageUp"], action: "pageUp", what: "A page up" },
  { keys: ["Home"], action: "first", what: "First" },
  { keys: ["End"], action: "last", what: "Last" },
  { keys: ["ArrowLeft"], action: "fold", what: "Fold, or go to the parent" },
  { keys: ["ArrowRight"], action: "unfold", what: "Unfold" },
  { keys: ["Enter", " "], action: "open", what: "Open" },
];

export function listAction(key: string): ListAction | undefined {
  return LIST_KEYS.find(({ keys }) => keys.includes(key))?.action;
}
