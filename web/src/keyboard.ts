// The keys of the page, as a table: help is made from it. Pure but for `isTyping`.
import type { Decision } from "../../src/protocol/requests.ts";

export type Action =
  | "next"
  | "previous"
  | "waiting"
  | "filter"
  | "find"
  | "compose"
  | "interrupt"
  | "new"
  | "home"
  | "stats"
  | "help";

export interface KeyRow {
  /** As KeyboardEvent.key has it; two with a blank are pressed one after the other. */
  keys: readonly string[];
  action: Action;
  what: string;
}

export const KEYS: readonly KeyRow[] = [
  { keys: ["j", "ArrowDown"], action: "next", what: "Next session" },
  { keys: ["k", "ArrowUp"], action: "previous", what: "Previous session" },
  { keys: ["a"], action: "waiting", what: "Next session that waits for you" },
  { keys: ["/"], action: "filter", what: "Filter the sessions" },
  { keys: ["f"], action: "find", what: "Find in the session" },
  { keys: ["i"], action: "compose", what: "Write a message" },
  { keys: ["X"], action: "interrupt", what: "Interrupt the turn" },
  { keys: ["n"], action: "new", what: "New session" },
  { keys: ["g h"], action: "home", what: "All sessions" },
  { keys: ["g s"], action: "stats", what: "Usage and activity" },
  { keys: ["?"], action: "help", what: "Help" },
];

/** What the keys of a request's card do; they count only while the card has the focus. */
export const CARD_KEYS: Readonly<Record<Decision, { key: string; label: string; what?: string }>> = {
  accept: { key: "y", label: "Accept" },
  acceptForSession: { key: "s", label: "Accept for this session" },
  acceptAlways: { key: "a", label: "Accept always" },
  decline: { key: "n", label: "Decline", what: "Decline, with a reason if you like" },
  cancel: { key: "c", label: "Decline and stop the turn" },
};

/** Shows or hides a card's details. */
export const DETAILS_KEY = "d";

export interface Pressed {
  key: string;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
  isComposing: boolean;
}

/** `before`: the first key of a sequence, if one was pressed. Gives the action, or what to remember. */
export function readKey(pressed: Pressed, before: string | undefined): { action?: Action; before?: string } {
  if (pressed.ctrlKey || pressed.metaKey || pressed.altKey || pressed.isComposing) return {};
  const sequence = before === undefined ? pressed.key : `${before} ${pressed.key}`;
  const row = KEYS.find(({ keys }) => keys.includes(sequence));
  if (row !== undefined) return { action: row.action };
  if (before !== undefined) return readKey(pressed, undefined);
  const begins = KEYS.some(({ keys }) => keys.some((key) => key.startsWith(`${pressed.key} `)));
  return begins ? { before: pressed.key } : {};
}

/** Keys belong to what has the focus: fields take letters, and lists and scrollers their arrows. */
export function isTyping(target: EventTarget | null, key: string): boolean {
  if (!(target instanceof Element)) return false;
  if (target.closest("input, textarea, select, [contenteditable], dialog") !== null) return true;
  return (
    key.startsWith("Arrow") &&
    target.closest("[role=log], [role=tree], [role=listbox], [role=radiogroup]") !== null
  );
}
