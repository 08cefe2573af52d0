// The keys of the session screen as a table: what a key does where. The help overlay, the hints at the bottom and
// docs/faces.md are made from it, and it is what turns a chord into an action.

/**
 * `any`: always. `chat`: the composer is for messages. `empty`: the same while nothing is written. `choices`: a
 * decision is chosen. `question`: a question with options is answered. `text`: any text is written.
 */
export type Place = "any" | "chat" | "empty" | "choices" | "question" | "text" | "search";

export interface KeyRow {
  action: string;
  keys: readonly string[];
  where: Place;
  summary: string;
}

export const KEYS = [
  {
    action: "send",
    keys: ["enter"],
    where: "chat",
    summary: "send the message; while a turn runs it is queued",
  },
  { action: "send_now", keys: ["ctrl-s"], where: "chat", summary: "send it now: interrupts the turn for it" },
  {
    action: "newline",
    keys: ["alt-enter", "ctrl-j", "shift-enter"],
    where: "text",
    summary: "a line break (also: \\ at the end, then Enter)",
  },
  { action: "older", keys: ["up"], where: "chat", summary: "the line above; then messages sent before" },
  { action: "newer", keys: ["down"], where: "chat", summary: "the line below; then back to the draft" },
  { action: "complete", keys: ["tab"], where: "chat", summary: "complete a /command" },
  {
    action: "uncork",
    keys: ["ctrl-x"],
    where: "chat",
    summary: "take the newest queued message back into the composer",
  },
  { action: "interrupt", keys: ["ctrl-c"], where: "any", summary: "interrupt the turn; twice: leave" },
  {
    action: "escape",
    keys: ["escape"],
    where: "any",
    summary: "close what is open, else as the bottom line says",
  },
  {
    action: "next_request",
    keys: ["ctrl-n", "f2"],
    where: "any",
    summary: "turn to the request that waits, then to the next one",
  },
  {
    action: "previous_request",
    keys: ["ctrl-p", "f3", "shift-f2"],
    where: "any",
    summary: "turn to the request before",
  },
  { action: "page_up", keys: ["pageup"], where: "any", summary: "a page up (in a request: of what it says)" },
  { action: "page_down", keys: ["pagedown"], where: "any", summary: "a page down" },
  {
    action: "wheel_up",
    keys: ["wheelup"],
    where: "any",
    summary: "some rows up (in a request: of what it says)",
  },
  { action: "wheel_down", keys: ["wheeldown"], where: "any", summary: "some rows down" },
  {
    action: "mouse",
    keys: ["alt-m"],
    where: "any",
    summary: "the mouse selects text instead (Shift-drag always does), or the wheel scrolls again",
  },
  { action: "half_up", keys: ["ctrl-u"], where: "empty", summary: "half a page up" },
  { action: "half_down", keys: ["ctrl-d"], where: "empty", summary: "half a page down" },
  {
    action: "top",
    keys: ["home"],
    where: "empty",
    summary: "the beginning of the feed; again: earlier events",
  },
  { action: "top", keys: ["ctrl-home"], where: "any", summary: "the beginning of the feed" },
  { action: "bottom", keys: ["end"], where: "empty", summary: "the end of the feed" },
  { action: "bottom", keys: ["ctrl-end"], where: "any", summary: "the end of the feed" },
  {
    action: "focus_up",
    keys: ["alt-up", "shift-up", "alt-k"],
    where: "any",
    summary: "mark the entry above that can be unfolded",
  },
  {
    action: "focus_down",
    keys: ["alt-down", "shift-down", "alt-j"],
    where: "any",
    summary: "mark the one below",
  },
  {
    action: "fold",
    keys: ["tab", "enter"],
    where: "empty",
    summary: "mark an entry; fold or unfold the marked one",
  },
  { action: "fold_all", keys: ["ctrl-o"], where: "any", summary: "unfold all, fold all" },
  { action: "search", keys: ["ctrl-f"], where: "any", summary: "search in the feed" },
  { action: "help", keys: ["f1"], where: "any", summary: "these keys" },
  { action: "help", keys: ["?"], where: "empty", summary: "these keys" },
  { action: "suspend", keys: ["ctrl-z"], where: "any", summary: "stop this program; fg brings it back" },
  { action: "repaint", keys: ["ctrl-l"], where: "any", summary: "draw everything anew" },
  { action: "accept", keys: ["y"], where: "choices", summary: "accept" },
  { action: "acceptForSession", keys: ["s"], where: "choices", summary: "accept for the session" },
  { action: "acceptAlways", keys: ["a"], where: "choices", summary: "accept always" },
  { action: "decline", keys: ["n"], where: "choices", summary: "decline, with a reason if you like" },
  { action: "cancel", keys: ["c"], where: "choices", summary: "decline and stop the turn" },
  { action: "choice_up", keys: ["up", "left"], where: "choices", summary: "the choice above" },
  { action: "choice_down", keys: ["down", "right"], where: "choices", summary: "the next choice" },
  {
    action: "take",
    keys: ["enter"],
    where: "choices",
    summary: "take the marked choice (at first: decline)",
  },
  {
    action: "details",
    keys: ["d", "ctrl-o"],
    where: "choices",
    summary: "show or hide the details: ids, JSON",
  },
  { action: "option_up", keys: ["up"], where: "question", summary: "the option above" },
  { action: "option_down", keys: ["down"], where: "question", summary: "the option below" },
  {
    action: "toggle",
    keys: ["space"],
    where: "question",
    summary: "choose the option where several may be chosen",
  },
  {
    action: "answer",
    keys: ["enter"],
    where: "question",
    summary: "take the answer; behind the last: send all",
  },
  { action: "question_back", keys: ["shift-tab"], where: "question", summary: "the question before" },
  { action: "refuse", keys: ["ctrl-x"], where: "question", summary: "decline to answer" },
  { action: "details", keys: ["ctrl-o"], where: "question", summary: "show or hide the details: ids, JSON" },
  { action: "found_next", keys: ["n", "down"], where: "search", summary: "the next place found" },
  { action: "found_previous", keys: ["shift-n", "up"], where: "search", summary: "the place found before" },
] as const satisfies readonly KeyRow[];

export type Action = (typeof KEYS)[number]["action"];

/** What a chord does, looked for in these places in turn. */
export function actionOf(chord: string, ...places: readonly Place[]): Action | undefined {
  for (const place of places) {
    const row = KEYS.find(
      ({ keys, where }) => where === place && (keys as readonly string[]).includes(chord),
    );
    if (row !== undefined) return row.action;
  }
  return undefined;
}

/** "Ctrl-N", "Alt-Enter", "PgUp", "y". */
export function keyName(chord: string): string {
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
