// The lines around the composer: what waits in the queue, which request waits, what a command can become, and which
// keys matter now.
import { textOf } from "../../protocol/message-text.ts";
import { isEmpty } from "../composer/editor.ts";
import { revealedLine, safeLine } from "../rows/safe.ts";
import { type Line, piece, STYLE } from "../rows/style.ts";
import { inRows, parts } from "../theme.ts";
import { completions } from "./chat.ts";
import { askedOf, focused, hasQuestions, isTurnRunning, waiting } from "./state.ts";
import type { SessionUi, UiContext } from "./ui-types.ts";

const MOST_QUEUED = 2;
const MOST_COMPLETIONS = 6;

export function queueLines({ view: { queue } }: SessionUi, columns: number): Line[] {
  const shown = queue.slice(-MOST_QUEUED);
  const hidden = queue.length - shown.length;
  return shown.map(({ message, kind, from }, at) => {
    const who = kind === "wake" ? `wake${from === undefined ? "" : ` from ${safeLine(from)}`}` : "queued";
    const isLast = at === shown.length - 1;
    const more = at === 0 && hidden > 0 ? ` (+${hidden} before)` : "";
    const key = isLast && kind === "user" ? "  Ctrl-X takes it back" : "";
    const text = safeLine(textOf(message, " "));
    const room = Math.max(4, columns - who.length - more.length - key.length - 4);
    const cut = text.length > room ? `${text.slice(0, room - 1)}…` : text;
    return [piece(`${who}${more}: `, STYLE.warn), piece(cut), piece(key, STYLE.dim)];
  });
}

/** In chat: that something waits, what it is, and which key turns to it. */
export function waitingLines(ui: SessionUi): Line[] {
  const rows = waiting(ui);
  const [first] = rows;
  if (first === undefined || ui.mode !== "chat") return [];
  const count = rows.length === 1 ? "a request waits" : `${rows.length} requests wait`;
  return [
    [
      piece(`! ${count}: `, `1;${STYLE.warn}`),
      piece("Ctrl-N", STYLE.accent),
      piece(hasQuestions(first) ? " answers  " : " decides  "),
      ...revealedLine(safeLine(first.payload.title), STYLE.bold, false),
    ],
  ];
}

export function completionLines(
  ui: SessionUi,
  context: Pick<UiContext, "commands" | "endsWithScreen">,
): Line[] {
  if (ui.overlay !== undefined) return [];
  const found = completions(ui, context);
  const lines = found.slice(0, MOST_COMPLETIONS).map(({ name, summary }): Line => {
    return [piece(`  ${safeLine(name)}`, STYLE.accent), piece(`  ${safeLine(summary)}`, STYLE.dim)];
  });
  const hidden = found.length - MOST_COMPLETIONS;
  return hidden > 0 ? [...lines, [piece(`  … ${hidden} more`, STYLE.dim)]] : lines;
}

type HintContext = Pick<UiContext, "canGoBack" | "pickers" | "requestFocus" | "endsWithScreen">;

/** The last lines: what was just told, in at most so many rows, or the keys in one. */
export function hintLines(
  ui: SessionUi,
  context: HintContext,
  { columns, most }: { columns: number; most: number },
): Line[] {
  const told = toldLine(ui, context);
  if (told !== undefined) return inRows(told, columns, most);
  const keys = hints(ui, context).map(([names, words]) => piece(`${names} ${words}`, STYLE.dim));
  return [parts(keys, columns)];
}

function toldLine({ notice, armed, view, feed }: SessionUi, context: HintContext): Line | undefined {
  if (armed?.what === "leave") {
    const rest = context.endsWithScreen ? "" : "; the session goes on without this screen";
    return [piece(`Ctrl-C again leaves${rest}`, STYLE.warn)];
  }
  if (armed?.what === "interrupt") return [piece("Esc again interrupts the turn", STYLE.warn)];
  if (notice !== undefined) {
    const style = { info: STYLE.accent, warn: STYLE.warn, error: STYLE.bad }[notice.level];
    const mark = { info: "", warn: "! ", error: "✗ " }[notice.level];
    return [piece(mark, style), piece(safeLine(notice.text), style)];
  }
  const { link } = view;
  if (link.state === "lost") {
    const why = link.message === undefined ? "" : `: ${safeLine(link.message)}`;
    return [piece(`! connection lost, looking for the daemon; your place and text stay${why}`, STYLE.warn)];
  }
  return feed.isLoading ? [piece("reading earlier events …", STYLE.dim)] : undefined;
}

type Hint = readonly [keys: string, words: string];

function hints(ui: SessionUi, context: HintContext): Hint[] {
  const { overlay } = ui;
  if (overlay?.kind === "help")
    return [
      ["Up/Down", "scroll"],
      ["any other key", "closes"],
    ];
  if (overlay?.kind === "picker")
    return [
      ["Enter", "takes"],
      ["Esc", "closes"],
      ["type", "to narrow"],
    ];
  if (overlay?.kind === "search") {
    return overlay.isTyping
      ? [
          ["Enter", "keeps it"],
          ["Up/Down", "further"],
          ["Esc", "closes"],
        ]
      : [
          ["n", "next"],
          ["N", "previous"],
          ["Esc", "closes"],
        ];
  }
  const row = ui.mode === "chat" ? undefined : focused(ui);
  if (row !== undefined) return requestHints(ui, row, context);
  return chatHints(ui, context);
}

function chatHints(ui: SessionUi, { canGoBack, pickers }: HintContext): Hint[] {
  const isRunning = isTurnRunning(ui);
  const isWaiting = waiting(ui).length > 0;
  const empty = isEmpty(ui.editor);
  return [
    ...(isWaiting ? ([["Ctrl-N", "answers"]] as const) : []),
    ...(isWaiting ? [] : ([["Enter", isRunning ? "queues" : "sends"]] as const)),
    ...(isRunning ? ([["Ctrl-C", "interrupts"]] as const) : []),
    ...(canGoBack ? ([["Esc", "list"]] as const) : []),
    ...(ui.feed.focus === undefined ? [] : ([["Enter", "unfolds"]] as const)),
    ...(empty ? pickers.map(({ key, title }) => [key, safeLine(title)] as const) : []),
    ["F1", "keys"],
    ...(isRunning && !canGoBack ? ([["Esc Esc", "interrupts"]] as const) : []),
    ["PgUp", "scrolls"],
    ["Alt-Enter", "new line"],
    ...(isRunning ? [] : ([["Ctrl-C twice", "leaves"]] as const)),
  ];
}

function requestHints(
  ui: SessionUi,
  row: Parameters<typeof askedOf>[1],
  { requestFocus }: HintContext,
): Hint[] {
  const asked = askedOf(ui, row);
  const away = (words: string): Hint[] => (requestFocus === "modal" ? [] : [["Esc", words]]);
  const others: Hint[] = waiting(ui).length > 1 ? [["Ctrl-N", "next request"]] : [];
  if (asked.reason !== undefined)
    return [
      ["Enter", asked.reason.choice.decision === "cancel" ? "stops" : "declines"],
      ["Esc", "back"],
    ];
  if (!hasQuestions(row))
    return [
      ["Enter", "takes >"],
      ["d", asked.isDetailed ? "hides details" : "details"],
      ...away("back to chat"),
      ...others,
      ["PgUp/PgDn", "scroll"],
    ];
  const question = row.payload.questions?.[asked.question];
  const several: Hint[] = question?.multi_select ? [["Space", "chooses"]] : [];
  return [
    ...several,
    ["Enter", "takes"],
    ["Shift-Tab", "before"],
    ["Ctrl-X", "declines"],
    ["Ctrl-O", "details"],
    ...away("chat"),
    ...others,
  ];
}
