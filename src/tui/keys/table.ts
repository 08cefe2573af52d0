// Key bindings of the session screen. The help overlay and docs/ui.md are generated from this table.

/**
 * Where a key applies. `any`: always. `chat`: writing a message. `empty`: chat with an empty composer. `choices`: deciding
 * a request. `question`: answering a question with options. `text`: any text field.
 */
export type KeyPlace = "any" | "chat" | "empty" | "choices" | "question" | "text" | "search";

const ROWS = [
  ["send", ["enter"], "chat", "send the message; queued while a turn is running"],
  ["send_now", ["ctrl-s"], "chat", "send now, interrupting the turn"],
  ["steer", ["ctrl-t"], "chat", "send to the running turn, without interrupting it"],
  [
    "newline",
    ["alt-enter", "ctrl-j", "shift-enter"],
    "text",
    "new line (or \\ at the end of a line, then Enter)",
  ],
  ["older", ["up"], "chat", "line above; then earlier messages"],
  ["newer", ["down"], "chat", "line below; then back to the draft"],
  ["complete", ["tab"], "chat", "complete a /command or an @file"],
  ["attach", ["ctrl-v"], "chat", "attach the image in the clipboard (or paste the path of an image file)"],
  ["uncork", ["ctrl-x"], "chat", "move the newest queued message back to the composer"],
  ["interrupt", ["ctrl-c"], "any", "interrupt the turn; twice: quit"],
  ["escape", ["escape"], "any", "close the open panel, otherwise see the bottom line"],
  ["next_request", ["ctrl-n", "f2"], "any", "open the pending request, then the next one"],
  ["previous_request", ["ctrl-p", "f3", "shift-f2"], "any", "open the previous request"],
  ["page_up", ["pageup"], "any", "page up (in a request: scroll it)"],
  ["page_down", ["pagedown"], "any", "page down"],
  ["wheel_up", ["wheelup"], "any", "scroll up (in a request: scroll it)"],
  ["wheel_down", ["wheeldown"], "any", "scroll down"],
  [
    "mouse",
    ["alt-m"],
    "any",
    "switch the mouse between selecting text (Shift-drag always does) and scrolling",
  ],
  ["half_up", ["ctrl-u"], "empty", "half a page up"],
  ["half_down", ["ctrl-d"], "empty", "half a page down"],
  ["top", ["home"], "empty", "start of the feed; again: load earlier events"],
  ["top", ["ctrl-home"], "any", "start of the feed"],
  ["bottom", ["end"], "empty", "end of the feed"],
  ["bottom", ["ctrl-end"], "any", "end of the feed"],
  ["focus_up", ["alt-up", "shift-up", "alt-k"], "any", "select the previous foldable entry"],
  ["focus_down", ["alt-down", "shift-down", "alt-j"], "any", "select the next foldable entry"],
  ["fold", ["tab", "enter"], "empty", "select an entry; fold or unfold it"],
  ["fold_all", ["ctrl-o"], "any", "fold or unfold everything"],
  ["changes", ["f4", "ctrl-g"], "any", "show the files that the session changed"],
  ["search", ["ctrl-f"], "any", "search the feed"],
  ["help", ["f1"], "any", "show all keys"],
  ["help", ["?"], "empty", "show all keys"],
  ["suspend", ["ctrl-z"], "any", "suspend; fg resumes"],
  ["repaint", ["ctrl-l"], "any", "redraw the screen"],
  ["accept", ["y"], "choices", "accept"],
  ["acceptForSession", ["s"], "choices", "accept for the session"],
  ["acceptAlways", ["a"], "choices", "accept always"],
  ["decline", ["n"], "choices", "decline, with an optional reason"],
  ["cancel", ["c"], "choices", "decline and stop the turn"],
  ["choice_up", ["up", "left"], "choices", "previous choice"],
  ["choice_down", ["down", "right"], "choices", "next choice"],
  ["take", ["enter"], "choices", "take the selected choice (initially: decline)"],
  ["details", ["d", "ctrl-o"], "choices", "show or hide details: ids, JSON"],
  ["option_up", ["up"], "question", "previous option"],
  ["option_down", ["down"], "question", "next option"],
  ["toggle", ["space"], "question", "toggle the option, if several can be chosen"],
  ["answer", ["enter"], "question", "choose the answer; after the last question, send all"],
  ["question_back", ["shift-tab"], "question", "previous question"],
  ["refuse", ["ctrl-x"], "question", "decline to answer"],
  ["details", ["ctrl-o"], "question", "show or hide details: ids, JSON"],
  ["found_next", ["n", "down"], "search", "next match"],
  ["found_previous", ["shift-n", "up"], "search", "previous match"],
] as const satisfies readonly (readonly [
  action: string,
  keys: readonly string[],
  where: KeyPlace,
  summary: string,
])[];

export type Action = (typeof ROWS)[number][0];

export interface KeyRow {
  action: Action;
  keys: readonly string[];
  where: KeyPlace;
  summary: string;
}

export const KEYS: readonly KeyRow[] = ROWS.map(([action, keys, where, summary]) => ({
  action,
  keys,
  where,
  summary,
}));

/** Looks up a chord in the given places, in order. */
export function findAction(chord: string, ...places: readonly KeyPlace[]): Action | undefined {
  for (const place of places) {
    const row = KEYS.find(({ keys, where }) => where === place && keys.includes(chord));
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
