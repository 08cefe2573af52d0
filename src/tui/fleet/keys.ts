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
    action: "decide",
    keys: ["a"],
    summary: "show the request of the selected session, or the oldest one, with all its choices",
    hint: "answer",
  },
  { action: "accept", keys: ["y"], summary: "accept the request that is shown below the list" },
  {
    action: "inbox",
    keys: ["i"],
    summary: "inbox: the requests of all sessions, oldest first",
    hint: "inbox",
  },
  { action: "next_waiting", keys: ["w"], summary: "select the next session that is waiting for you" },
  { action: "outside", keys: ["u"], summary: "sessions started outside: read and continue them" },
  { action: "new", keys: ["n"], summary: "start a new session", hint: "new" },
  {
    action: "filter",
    keys: ["/"],
    summary: "filter: words is:failed #label project:x age>7d",
    hint: "filter",
  },
  {
    action: "search",
    keys: ["tab", "F"],
    summary: "search what was said or done in all sessions",
    hint: "search",
  },
  {
    action: "next_filter",
    keys: ["f"],
    summary: "only waiting, working, failed, archived; then all",
  },
  { action: "group", keys: ["p"], summary: "group by projects, or not" },
  { action: "order", keys: ["o"], summary: "order by attention, or newest first: no row moves" },
  {
    action: "interrupt",
    keys: ["x"],
    summary: "interrupt the turn; the agent keeps running",
    hint: "interrupt",
  },
  { action: "stop", keys: ["s"], summary: "stop the agent; history and queue are kept", hint: "stop" },
  { action: "rename", keys: ["r"], summary: "rename the session", hint: "rename" },
  { action: "labels", keys: ["t"], summary: "edit the session's labels" },
  {
    action: "archive",
    keys: ["e"],
    summary: "archive the session, or take it back",
    hint: "archive",
  },
  {
    action: "remove",
    keys: ["D"],
    summary: "stop and remove the session permanently; asks first",
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
