// Key bindings of the search screen; the rest is text. The hints and docs/ui.md are generated from this table.
import type { Input } from "../screen-types.ts";

export interface SearchKey {
  action: string;
  keys: readonly string[];
  summary: string;
}

export const SEARCH_KEYS = [
  { action: "open", keys: ["enter"], summary: "open the session at this place" },
  { action: "up", keys: ["up", "ctrl-p", "wheelup"], summary: "up" },
  { action: "down", keys: ["down", "ctrl-n", "wheeldown"], summary: "down; at the end, more" },
  { action: "page_up", keys: ["pageup"], summary: "page up" },
  { action: "page_down", keys: ["pagedown"], summary: "page down" },
  { action: "back", keys: ["escape", "ctrl-c"], summary: "back to the list" },
  { action: "suspend", keys: ["ctrl-z"], summary: "suspend; fg resumes" },
  { action: "repaint", keys: ["ctrl-l"], summary: "redraw the screen" },
] as const satisfies readonly SearchKey[];

export type SearchAction = (typeof SEARCH_KEYS)[number]["action"];

export function findSearchAction(input: Input): SearchAction | undefined {
  if (input.kind !== "key") return undefined;
  return SEARCH_KEYS.find(({ keys }) => (keys as readonly string[]).includes(input.chord))?.action;
}
