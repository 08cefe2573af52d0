// Global keys as a table, also used by the help page.
import type { Decision } from "../../src/protocol/requests.ts";

export type Action =
  | "next"
  | "previous"
  | "waiting"
  | "filter"
  | "find"
  | "search"
  | "compose"
  | "interrupt"
  | "changes"
  | "inbox"
  | "new"
  | "home"
  | "stats"
  | "usage"
  | "daemon"
  | "help";

export interface KeyRow {
  /** Values of KeyboardEvent.key; "g h" is a sequence. */
  keys: readonly string[];
  action: Action;
  what: string;
}

export const KEYS: readonly KeyRow[] = [
  { keys: ["j", "ArrowDown"], action: "next", what: "Next session; in the inbox: next request" },
  { keys: ["k", "ArrowUp"], action: "previous", what: "Previous session; in the inbox: previous request" },
  { keys: ["a"], action: "waiting", what: "Next session waiting for you" },
  { keys: ["/"], action: "filter", what: "Filter sessions" },
  { keys: ["f"], action: "find", what: "Find in session" },
  { keys: ["F"], action: "search", what: "Search what was said or done in all sessions" },
  { keys: ["i"], action: "compose", what: "Write a message" },
  { keys: ["c"], action: "changes", what: "Changes of the session, and back" },
  { keys: ["X"], action: "interrupt", what: "Interrupt the turn" },
  { keys: ["n"], action: "new", what: "New session, while no request is shown" },
  { keys: ["g h"], action: "home", what: "All sessions" },
  { keys: ["g i"], action: "inbox", what: "Inbox: all requests that wait for you" },
  { keys: ["g s"], action: "stats", what: "Usage and activity" },
  { keys: ["g u"], action: "usage", what: "Usage in any range of days" },
  { keys: ["g d"], action: "daemon", what: "The daemon: log, restart, stop" },
  { keys: ["?"], action: "help", what: "Help" },
];

/** Keys of a request card while it has the focus; `ANYWHERE_KEYS` also while nothing else takes text. */
export const CARD_KEYS: Readonly<Record<Decision, { key: string; label: string; what?: string }>> = {
  accept: { key: "y", label: "Accept" },
  acceptForSession: { key: "s", label: "Accept for this session" },
  acceptAlways: { key: "a", label: "Accept always" },
  decline: { key: "n", label: "Decline", what: "Decline, optionally with a reason" },
  cancel: { key: "c", label: "Decline and stop the turn" },
};

/** They answer the request that is shown. The others, which grant more, need the focus. */
export const ANYWHERE_KEYS: readonly string[] = ["y", "n"];

/** Shows or hides a card's details. */
export const DETAILS_KEY = "d";

export interface Pressed {
  key: string;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
  isComposing: boolean;
}

/** `before`: the first key of a sequence. Returns the action, or the key to remember. */
export function readKey(pressed: Pressed, before: string | undefined): { action?: Action; before?: string } {
  if (pressed.ctrlKey || pressed.metaKey || pressed.altKey || pressed.isComposing) return {};
  const sequence = before === undefined ? pressed.key : `${before} ${pressed.key}`;
  const row = KEYS.find(({ keys }) => keys.includes(sequence));
  if (row !== undefined) return { action: row.action };
  if (before !== undefined) return readKey(pressed, undefined);
  const begins = KEYS.some(({ keys }) => keys.some((key) => key.startsWith(`${pressed.key} `)));
  return begins ? { before: pressed.key } : {};
}

/** Keys that the focused element uses itself: letters in fields, arrows in lists and scrollers. */
export function isTyping(target: EventTarget | null, key: string): boolean {
  if (!(target instanceof Element)) return false;
  if (target.closest("input, textarea, select, [contenteditable], dialog") !== null) return true;
  return (
    key.startsWith("Arrow") &&
    target.closest("[role=log], [role=tree], [role=listbox], [role=radiogroup], .card") !== null
  );
}
