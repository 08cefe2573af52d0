// Key bindings of the list; the help and the hints are generated from this table.
import type { Input } from "../screen-types.ts";

export interface FleetKey {
  action: string;
  /** Chords or characters. */
  keys: readonly string[];
  summary: string;
  /** The label in the bottom line; absent: help only. */
  hint?: string;
}

export const FLEET_KEYS = [
  { action: "open", keys: ["enter", "right", "l"], summary: "open the session", hint: "open" },
  {
    action: "next_waiting",
    keys: ["a"],
    summary: "select the next session that is waiting for you",
    hint: "next waiting",
  },
  { action: "new", keys: ["n"], summary: "start a new session", hint: "new" },
  {
    action: "filter",
    keys: ["/"],
    summary: "filter by name, agent, state, directory or id",
    hint: "filter",
  },
  {
    action: "interrupt",
    keys: ["x"],
    summary: "interrupt the turn; the agent keeps running",
    hint: "interrupt",
  },
  { action: "stop", keys: ["s"], summary: "stop the agent; history and queue are kept", hint: "stop" },
  { action: "rename", keys: ["r"], summary: "rename the session", hint: "rename" },
  {
    action: "remove",
    keys: ["D"],
    summary: "stop and remove the session permanently; asks first",
    hint: "remove",
  },
  { action: "hide_stopped", keys: ["h"], summary: "hide or show stopped sessions" },
  { action: "up", keys: ["up", "k", "ctrl-p", "wheelup"], summary: "up" },
  { action: "down", keys: ["down", "j", "ctrl-n", "wheeldown"], summary: "down" },
  { action: "page_up", keys: ["pageup", "ctrl-b", "ctrl-u"], summary: "page up" },
  { action: "page_down", keys: ["pagedown", "ctrl-f", "ctrl-d"], summary: "page down" },
  { action: "first", keys: ["home", "g"], summary: "first session" },
  { action: "last", keys: ["end", "G"], summary: "last session" },
  { action: "help", keys: ["?", "f1"], summary: "show all keys", hint: "help" },
  { action: "escape", keys: ["escape"], summary: "clear the filter, close what is open" },
  { action: "leave", keys: ["q", "ctrl-c"], summary: "quit; agents keep running", hint: "quit" },
  { action: "suspend", keys: ["ctrl-z"], summary: "suspend; fg resumes" },
  { action: "repaint", keys: ["ctrl-l"], summary: "redraw the screen" },
] as const satisfies readonly FleetKey[];

export type FleetAction = (typeof FLEET_KEYS)[number]["action"];

export function findFleetAction(input: Input): FleetAction | undefined {
  const typed = getTyped(input);
  return FLEET_KEYS.find(({ keys }) => (keys as readonly string[]).includes(typed))?.action;
}

/** Returns "" for a paste: it is never a key. */
export function getTyped(input: Input): string {
  if (input.kind === "paste") return "";
  return input.kind === "key" ? input.chord : input.text;
}
