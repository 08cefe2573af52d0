// Key bindings of the changes screen; its help, its hints and docs/ui.md are generated from this table.
import type { Input } from "../screen-types.ts";

export interface ChangesKey {
  action: string;
  /** Chords or characters. */
  keys: readonly string[];
  summary: string;
}

export const CHANGES_KEYS = [
  { action: "open", keys: ["enter", "right", "l"], summary: "show the lines of the file" },
  { action: "back", keys: ["escape", "left", "q"], summary: "back to the list, then to the session" },
  { action: "next_turn", keys: ["t"], summary: "changes of the next turn, then since the base, then of all" },
  { action: "previous_turn", keys: ["T"], summary: "changes of the previous turn" },
  { action: "next_file", keys: ["n", "]"], summary: "lines of the next file" },
  { action: "previous_file", keys: ["p", "["], summary: "lines of the previous file" },
  {
    action: "undo",
    keys: ["u"],
    summary: "undo the turn shown, or the last one that changed files; asks first",
  },
  { action: "refresh", keys: ["r"], summary: "read the changes again" },
  { action: "up", keys: ["up", "k", "wheelup"], summary: "up" },
  { action: "down", keys: ["down", "j", "wheeldown"], summary: "down" },
  { action: "page_up", keys: ["pageup", "ctrl-b", "ctrl-u"], summary: "page up" },
  { action: "page_down", keys: ["pagedown", "ctrl-f", "ctrl-d", "space"], summary: "page down" },
  { action: "first", keys: ["home", "g"], summary: "start" },
  { action: "last", keys: ["end", "G"], summary: "end" },
  { action: "help", keys: ["?", "f1"], summary: "show all keys" },
  { action: "leave", keys: ["ctrl-c"], summary: "back to the session" },
  { action: "suspend", keys: ["ctrl-z"], summary: "suspend; fg resumes" },
  { action: "repaint", keys: ["ctrl-l"], summary: "redraw the screen" },
] as const satisfies readonly ChangesKey[];

export type ChangesAction = (typeof CHANGES_KEYS)[number]["action"];

/** A paste is never a key. */
export function findChangesAction(input: Input): ChangesAction | undefined {
  if (input.kind === "paste") return undefined;
  const typed = input.kind === "key" ? input.chord : input.text === " " ? "space" : input.text;
  return CHANGES_KEYS.find(({ keys }) => (keys as readonly string[]).includes(typed))?.action;
}
