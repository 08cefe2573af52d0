// The keys of the list as a table: the help, the hints at the bottom and the list itself are made from it.
import type { Input } from "../screen-types.ts";

export interface FleetKey {
  action: string;
  /** A chord, or the character that is typed. */
  keys: readonly string[];
  summary: string;
  /** How the bottom line calls it; absent: it is only in the help. */
  hint?: string;
}

export const FLEET_KEYS = [
  { action: "open", keys: ["enter", "right", "l"], summary: "open the session", hint: "open" },
  {
    action: "next_waiting",
    keys: ["a"],
    summary: "go to the next one that waits for you",
    hint: "next waiting",
  },
  { action: "new", keys: ["n"], summary: "start a new session", hint: "new" },
  {
    action: "filter",
    keys: ["/"],
    summary: "show only what has these words (name, agent, state, directory, id)",
    hint: "filter",
  },
  { action: "interrupt", keys: ["x"], summary: "end the running turn; the agent stays", hint: "interrupt" },
  { action: "stop", keys: ["s"], summary: "end the agent; history and queue stay", hint: "stop" },
  { action: "rename", keys: ["r"], summary: "give it another name", hint: "rename" },
  { action: "remove", keys: ["D"], summary: "end and forget it for good; asks first", hint: "remove" },
  { action: "hide_stopped", keys: ["h"], summary: "hide or show those whose agent is stopped" },
  { action: "up", keys: ["up", "k", "ctrl-p", "wheelup"], summary: "up" },
  { action: "down", keys: ["down", "j", "ctrl-n", "wheeldown"], summary: "down" },
  { action: "page_up", keys: ["pageup", "ctrl-b", "ctrl-u"], summary: "a page up" },
  { action: "page_down", keys: ["pagedown", "ctrl-f", "ctrl-d"], summary: "a page down" },
  { action: "first", keys: ["home", "g"], summary: "the first one" },
  { action: "last", keys: ["end", "G"], summary: "the last one" },
  { action: "help", keys: ["?", "f1"], summary: "these keys", hint: "help" },
  { action: "escape", keys: ["escape"], summary: "show all again, close what is open" },
  { action: "leave", keys: ["q", "ctrl-c"], summary: "leave; the agents go on", hint: "leave" },
  { action: "suspend", keys: ["ctrl-z"], summary: "stop this program; fg brings it back" },
  { action: "repaint", keys: ["ctrl-l"], summary: "draw everything anew" },
] as const satisfies readonly FleetKey[];

export type FleetAction = (typeof FLEET_KEYS)[number]["action"];

export function fleetAction(input: Input): FleetAction | undefined {
  const typed = typedOf(input);
  return FLEET_KEYS.find(({ keys }) => (keys as readonly string[]).includes(typed))?.action;
}

/** A paste is no key, whatever is in it. */
export function typedOf(input: Input): string {
  if (input.kind === "paste") return "";
  return input.kind === "key" ? input.chord : input.text;
}
