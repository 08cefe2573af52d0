// Key bindings of the sessions that were started outside; their help, hints and docs/ui.md are generated from this table.
import type { Input } from "../screen-types.ts";

export interface OutsideKey {
  action: string;
  /** Chords or characters. */
  keys: readonly string[];
  summary: string;
}

export const OUTSIDE_KEYS = [
  {
    action: "read",
    keys: ["enter", "right", "l"],
    summary: "read the conversation; a message continues it here",
  },
  { action: "adopt", keys: ["c"], summary: "continue it as a session, and wait for a message" },
  { action: "reload", keys: ["r"], summary: "read the list again" },
  { action: "up", keys: ["up", "k", "wheelup"], summary: "up" },
  { action: "down", keys: ["down", "j", "wheeldown"], summary: "down" },
  { action: "page_up", keys: ["pageup", "ctrl-b", "ctrl-u"], summary: "page up" },
  { action: "page_down", keys: ["pagedown", "ctrl-f", "ctrl-d"], summary: "page down" },
  { action: "first", keys: ["home", "g"], summary: "first" },
  { action: "last", keys: ["end", "G"], summary: "last; loads more" },
  { action: "help", keys: ["?", "f1"], summary: "show all keys" },
  { action: "back", keys: ["escape", "q", "left", "ctrl-c"], summary: "back to the list" },
  { action: "suspend", keys: ["ctrl-z"], summary: "suspend; fg resumes" },
  { action: "repaint", keys: ["ctrl-l"], summary: "redraw the screen" },
] as const satisfies readonly OutsideKey[];

export type OutsideAction = (typeof OUTSIDE_KEYS)[number]["action"];

/** A paste is never a key. */
export function findOutsideAction(input: Input): OutsideAction | undefined {
  if (input.kind === "paste") return undefined;
  const typed = input.kind === "key" ? input.chord : input.text;
  return OUTSIDE_KEYS.find(({ keys }) => (keys as readonly string[]).includes(typed))?.action;
}
