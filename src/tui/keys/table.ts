// Key bindings of the session screen. The help overlay and docs/ui.md are generated from this table.

/**
 * Where a key applies. `any`: always. `chat`: writing a message. `empty`: chat with an empty composer. `choices`: deciding
 * a request. `question`: answering a question with options. `text`: any text field.
 */
export type KeyPlace = "any" | "chat" | "empty" | "choices" | "question" | "text" | "search";

export interface KeyRow {
  action: string;
  keys: readonly string[];
  where: KeyPlace;
  summary: string;
}

export const KEYS = [
  {
    action: "send",
    keys: ["enter"],
    where: "chat",
    summary: "send the message; queued while a turn is running",
  },
  { action: "send_now", keys: ["ctrl-s"], where: "chat", summary: "send now, interrupting the turn" },
  {
    action: "newline",
    keys: ["alt-enter", "ctrl-j", "shift-enter"],
    where: "text",
    summary: "new line (or \\ at the end of a line, then Enter)",
  },
  { action: "older", keys: ["up"], where: "chat", summary: "line above; then earlier messages" },
  { action: "newer", keys: ["down"], where: "chat", summary: "line below; then back to the draft" },
  { action: "complete", keys: ["tab"], where: "chat", summary: "complete a /command" },
  {
    action: "uncork",
    keys: ["ctrl-x"],
    where: "chat",
    summary: "move the newest queued message back to the composer",
  },
  { action: "interrupt", keys: ["ctrl-c"], where: "any", summary: "interrupt the turn; twice: quit" },
  {
    action: "escape",
    keys: ["escape"],
    where: "any",
    summary: "close the open panel, otherwise see the bottom line",
  },
  {
    action: "next_request",
    keys: ["ctrl-n", "f2"],
    where: "any",
    summary: "open the pending request, then the next one",
  },
  {
    action: "previous_request",
    keys: ["ctrl-p", "f3", "shift-f2"],
    where: "any",
    summary: "open the previous request",
  },
  { action: "page_up", keys: ["pageup"], where: "any", summary: "page up (in a request: scroll it)" },
  { action: "page_down", keys: ["pagedown"], where: "any", summary: "page down" },
  {
    action: "wheel_up",
    keys: ["wheelup"],
    where: "any",
    summary: "scroll up (in a request: scroll it)",
  },
  { action: "wheel_down", keys: ["wheeldown"], where: "any", summary: "scroll down" },
  {
    action: "mouse",
    keys: ["alt-m"],
    where: "any",
    summary: "switch the mouse between selecting text (Shift-drag always does) and scrolling",
  },
  { action: "half_up", keys: ["ctrl-u"], where: "empty", summary: "half a page up" },
  { action: "half_down", keys: ["ctrl-d"], where: "empty", summary: "half a page down" },
  {
    action: "top",
    keys: ["home"],
    where: "empty",
    summary: "start of the feed; again: load earlier events",
  },
  { action: "top", keys: ["ctrl-home"], where: "any", summary: "start of the feed" },
  { action: "bottom", keys: ["end"], where: "empty", summary: "end of the feed" },
  { action: "bottom", keys: ["ctrl-end"], where: "any", summary: "end of the feed" },
  {
    action: "focus_up",
    keys: ["alt-up", "shift-up", "alt-k"],
    where: "any",
    summary: "select the previous foldable entry",
  },
  {
    action: "focus_down",
    keys: ["alt-down", "shift-down", "alt-j"],
    where: "any",
    summary: "select the next foldable entry",
  },
  {
    action: "fold",
    keys: ["tab", "enter"],
    where: "empty",
    summary: "select an entry; fold or unfold it",
  },
  { action: "fold_all", keys: ["ctrl-o"], where: "any", summary: "fold or unfold everything" },
  {
    action: "changes",
    keys: ["f4", "ctrl-g"],
    where: "any",
    summary: "show the files that the session changed",
  },
  { action: "search", keys: ["ctrl-f"], where: "any", summary: "search the feed" },
  { action: "help", keys: ["f1"], where: "any", summary: "show all keys" },
  { action: "help", keys: ["?"], where: "empty", summary: "show all keys" },
  { action: "suspend", keys: ["ctrl-z"], where: "any", summary: "suspend; fg resumes" },
  { action: "repaint", keys: ["ctrl-l"], where: "any", summary: "redraw the screen" },
  { action: "accept", keys: ["y"], where: "choices", summary: "accept" },
  { action: "acceptForSession", keys: ["s"], where: "choices", summary: "accept for the session" },
  { action: "acceptAlways", keys: ["a"], where: "choices", summary: "accept always" },
  { action: "decline", keys: ["n"], where: "choices", summary: "decline, with an optional reason" },
  { action: "cancel", keys: ["c"], where: "choices", summary: "decline and stop the turn" },
  { action: "choice_up", keys: ["up", "left"], where: "choices", summary: "previous choice" },
  { action: "choice_down", keys: ["down", "right"], where: "choices", summary: "next choice" },
  {
    action: "take",
    keys: ["enter"],
    where: "choices",
    summary: "take the selected choice (initially: decline)",
  },
  {
    action: "details",
    keys: ["d", "ctrl-o"],
    where: "choices",
    summary: "show or hide details: ids, JSON",
  },
  { action: "option_up", keys: ["up"], where: "question", summary: "previous option" },
  { action: "option_down", keys: ["down"], where: "question", summary: "next option" },
  {
    action: "toggle",
    keys: ["space"],
    where: "question",
    summary: "toggle the option, if several can be chosen",
  },
  {
    action: "answer",
    keys: ["enter"],
    where: "question",
    summary: "choose the answer; after the last question, send all",
  },
  { action: "question_back", keys: ["shift-tab"], where: "question", summary: "previous question" },
  { action: "refuse", keys: ["ctrl-x"], where: "question", summary: "decline to answer" },
  { action: "details", keys: ["ctrl-o"], where: "question", summary: "show or hide details: ids, JSON" },
  { action: "found_next", keys: ["n", "down"], where: "search", summary: "next match" },
  { action: "found_previous", keys: ["shift-n", "up"], where: "search", summary: "previous match" },
] as const satisfies readonly KeyRow[];

export type Action = (typeof KEYS)[number]["action"];

/** Looks up a chord in the given places, in order. */
export function findAction(chord: string, ...places: readonly KeyPlace[]): Action | undefined {
  for (const place of places) {
    const row = KEYS.find(
      ({ keys, where }) => where === place && (keys as readonly string[]).includes(chord),
    );
    if (row !== undefined) return row.action;
  }
  return undefined;
}

/** "Ctrl-N", "Alt-Enter", "PgUp", "y". */
export function getKeyName(chord: string): string {
  if (chord.length === 1) return chord;
  return chord
    .split("-")
    .map((part) => NAMES[part] ?? `${part.slice(0, 1).toUpperCase()}${part.slice(1)}`)
    .join("-");
}

const NAMES: Readonly<Record<string, string>> = {
  pageup: "PgUp",
  pagedown: "PgDn",
  escape: "Esc",
  delete: "Del",
  wheelup: "Wheel-Up",
  wheeldown: "Wheel-Down",
};
