// Key bindings of the inbox, besides those that decide the open request; the help and docs/ui.md are generated from this table.
import type { Input } from "../screen-types.ts";

export interface InboxKey {
  action: string;
  /** Chords or characters. */
  keys: readonly string[];
  summary: string;
}

export const INBOX_KEYS = [
  { action: "next", keys: ["j", "tab", "ctrl-n", "f2"], summary: "next request" },
  { action: "previous", keys: ["k", "shift-tab", "ctrl-p", "f3", "shift-f2"], summary: "previous request" },
  { action: "open", keys: ["o"], summary: "open the session that asks" },
  { action: "help", keys: ["?", "f1"], summary: "show all keys" },
  { action: "back", keys: ["escape", "q", "ctrl-c"], summary: "back to the list; the requests stay pending" },
  { action: "suspend", keys: ["ctrl-z"], summary: "suspend; fg resumes" },
  { action: "repaint", keys: ["ctrl-l"], summary: "redraw the screen" },
] as const satisfies readonly InboxKey[];

export type InboxAction = (typeof INBOX_KEYS)[number]["action"];

/** What the keys already mean to the open request. */
export interface KeysInUse {
  /** Text is being written: characters are text. */
  isWriting: boolean;
  /** Tab moves between questions. */
  hasQuestions: boolean;
  /** Esc closes the text field. */
  hasField: boolean;
}

/** A paste is never a key. */
export function findInboxAction(input: Input, inUse: KeysInUse): InboxAction | undefined {
  if (input.kind === "paste" || (input.kind === "text" && inUse.isWriting)) return undefined;
  const typed = input.kind === "key" ? input.chord : input.text;
  const isTab = typed === "tab" || typed === "shift-tab";
  if ((isTab && (inUse.isWriting || inUse.hasQuestions)) || (typed === "escape" && inUse.hasField))
    return undefined;
  return INBOX_KEYS.find(({ keys }) => (keys as readonly string[]).includes(typed))?.action;
}
