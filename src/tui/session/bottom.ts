// The lines around the composer: queue, pending requests, completions and key hints.
import { readText } from "../../protocol/message-text.ts";
import { isEmpty } from "../composer/editor.ts";
import { drawRevealed, toSafeLine } from "../rows/safe.ts";
import { combineStyles, createPiece, type Line, STYLE } from "../rows/style.ts";
import { joinParts, wrapToRows } from "../theme.ts";
import { listCompletions } from "./completion.ts";
import { getAsked, getFocused, getWaiting, hasQuestions, isTurnRunning } from "./state.ts";
import type { SessionUi, UiContext } from "./ui-types.ts";

const MOST_QUEUED = 2;
const MOST_COMPLETIONS = 6;

export function queueLines({ view: { queue } }: SessionUi, columns: number): Line[] {
  const shown = queue.slice(-MOST_QUEUED);
  const hidden = queue.length - shown.length;
  return shown.map(({ message, kind, from, for_turn }, at) => {
    const own = for_turn === undefined ? "queued" : "for this turn";
    const who = kind === "wake" ? `wake${from === undefined ? "" : ` from ${toSafeLine(from)}`}` : own;
    const isLast = at === shown.length - 1;
    const more = at === 0 && hidden > 0 ? ` (+${hidden} more)` : "";
    const key = isLast && kind === "user" ? "  Ctrl-X edit" : "";
    const text = toSafeLine(readText(message, " "));
    const room = Math.max(4, columns - who.length - more.length - key.length - 4);
    const cut = text.length > room ? `${text.slice(0, room - 1)}…` : text;
    return [createPiece(`${who}${more}: `, STYLE.warn), createPiece(cut), createPiece(key, STYLE.dim)];
  });
}

const STEP_SIGNS = { completed: "[x]", in_progress: "[>]", pending: "[ ]" } as const;

/** The agent's steps that are not done, in up to `most` rows; none if all are. */
export function drawPlan({ view: { plan = [] } }: SessionUi, most: number): Line[] {
  const open = plan.filter(({ status }) => status !== "completed");
  if (open.length === 0 || most < 1) return [];
  const shown = open.slice(0, open.length > most ? Math.max(1, most - 1) : most);
  const head = `plan ${plan.length - open.length}/${plan.length} `;
  const lines = shown.map(({ text, status }, at): Line => {
    const style = status === "in_progress" ? STYLE.accent : STYLE.dim;
    const words = `${STEP_SIGNS[status]} ${toSafeLine(text)}`;
    return [createPiece(at === 0 ? head : " ".repeat(head.length), STYLE.dim), createPiece(words, style)];
  });
  const hidden = open.length - shown.length;
  if (hidden === 0 || most === 1) return lines;
  return [...lines, [createPiece(`${" ".repeat(head.length)}… ${hidden} more`, STYLE.dim)]];
}

/** In chat: the pending requests and the key that opens them. */
export function drawWaiting(ui: SessionUi): Line[] {
  const rows = getWaiting(ui);
  const [first] = rows;
  if (first === undefined || ui.mode !== "chat") return [];
  const count = rows.length === 1 ? "1 pending request" : `${rows.length} pending requests`;
  return [
    [
      createPiece(`! ${count}: `, `1;${STYLE.warn}`),
      createPiece("Ctrl-N", STYLE.accent),
      createPiece(hasQuestions(first) ? " to answer  " : " to decide  "),
      ...drawRevealed(toSafeLine(first.payload.title), STYLE.bold, false),
    ],
  ];
}

export function drawCompletions(ui: SessionUi): Line[] {
  const options = listCompletions(ui);
  const { completion } = ui;
  if (options.length === 0) {
    const message = completion?.isClosed === true ? undefined : completion?.message;
    return message === undefined ? [] : [[createPiece(`  ${toSafeLine(message)}`, STYLE.dim)]];
  }
  const marked = completion?.marked;
  const from = Math.max(0, Math.min((marked ?? 0) - MOST_COMPLETIONS + 1, options.length - MOST_COMPLETIONS));
  const lines = options.slice(from, from + MOST_COMPLETIONS).map(({ label, detail = "" }, at): Line => {
    const isMarked = from + at === marked;
    return [
      createPiece(isMarked ? "> " : "  ", STYLE.accent),
      createPiece(toSafeLine(label), isMarked ? combineStyles(STYLE.bold, STYLE.accent) : STYLE.accent),
      createPiece(`  ${toSafeLine(detail)}`, STYLE.dim),
    ];
  });
  const hidden = options.length - from - lines.length;
  return hidden > 0 ? [...lines, [createPiece(`  … ${hidden} more`, STYLE.dim)]] : lines;
}

type HintContext = Pick<
  UiContext,
  "canGoBack" | "pickers" | "requestFocus" | "endsWithScreen" | "hasChanges"
>;

/** The bottom lines: the current notice in up to `most` rows, or one row of keys. */
export function drawHintLines(
  ui: SessionUi,
  context: HintContext,
  { columns, most }: { columns: number; most: number },
): Line[] {
  const notice = drawNotice(ui, context);
  if (notice !== undefined) return wrapToRows(notice, columns, most);
  const keys = hints(ui, context).map(([names, words]) => createPiece(`${names} ${words}`, STYLE.dim));
  return [joinParts(keys, columns)];
}

/** What the user should read before the keys. */
export function drawNotice(
  { notice, armed, view, feed }: SessionUi,
  context: Pick<HintContext, "endsWithScreen">,
): Line | undefined {
  if (armed?.what === "leave") {
    const rest = context.endsWithScreen ? "" : "; the session keeps running";
    return [createPiece(`Press Ctrl-C again to quit${rest}`, STYLE.warn)];
  }
  if (armed?.what === "interrupt") return [createPiece("Press Esc again to interrupt the turn", STYLE.warn)];
  if (notice !== undefined) {
    const style = { info: STYLE.accent, warn: STYLE.warn, error: STYLE.bad }[notice.level];
    const mark = { info: "", warn: "! ", error: "✗ " }[notice.level];
    return [createPiece(mark, style), createPiece(toSafeLine(notice.text), style)];
  }
  const { link } = view;
  if (link.state === "lost") {
    const why = link.message === undefined ? "" : `: ${toSafeLine(link.message)}`;
    return [
      createPiece(`! connection lost, reconnecting; your position and draft are kept${why}`, STYLE.warn),
    ];
  }
  return feed.isLoading ? [createPiece("loading earlier events…", STYLE.dim)] : undefined;
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
      ["Enter", "take"],
      ["Esc", "close"],
      ["type", "to filter"],
    ];
  if (overlay?.kind === "search") {
    return overlay.isTyping
      ? [
          ["Enter", "done"],
          ["Up/Down", "previous/next"],
          ["Esc", "close"],
        ]
      : [
          ["n", "next"],
          ["N", "previous"],
          ["Esc", "close"],
        ];
  }
  if (listCompletions(ui).length > 0) return completionHints(ui);
  const row = ui.mode === "chat" ? undefined : getFocused(ui);
  if (row !== undefined) return requestHints(ui, row, context);
  return chatHints(ui, context);
}

function completionHints({ completion }: SessionUi): Hint[] {
  return [
    [completion?.marked === undefined ? "Tab" : "Tab, Enter", "take"],
    ["Up/Down", "select"],
    ["Esc", "close"],
    ...(completion?.marked === undefined ? ([["Enter", "send"]] as const) : []),
  ];
}

function chatHints(ui: SessionUi, { canGoBack, pickers, hasChanges }: HintContext): Hint[] {
  const isRunning = isTurnRunning(ui);
  const isWaiting = getWaiting(ui).length > 0;
  const empty = isEmpty(ui.editor);
  const letters = pickers.filter(({ key }) => key.length === 1);
  return [
    ...(isWaiting ? ([["Ctrl-N", "answer"]] as const) : []),
    ...(isWaiting ? [] : ([["Enter", isRunning ? "queue" : "send"]] as const)),
    ...(isRunning && !isWaiting && !empty ? ([["Ctrl-T", "steer"]] as const) : []),
    ...(isRunning ? ([["Ctrl-C", "interrupt"]] as const) : []),
    ...(canGoBack ? ([["Esc", "list"]] as const) : []),
    ...(ui.feed.focus === undefined ? [] : ([["Enter", "unfold"]] as const)),
    ...(empty ? letters.map(({ key, title }) => [key, toSafeLine(title)] as const) : []),
    ["F1", "keys"],
    ...(hasChanges ? ([["F4", "changes"]] as const) : []),
    ...(isRunning && !canGoBack ? ([["Esc Esc", "interrupt"]] as const) : []),
    ["PgUp", "scroll"],
    ["Alt-Enter", "new line"],
    ...(isRunning ? [] : ([["Ctrl-C twice", "quit"]] as const)),
  ];
}

function requestHints(
  ui: SessionUi,
  row: Parameters<typeof getAsked>[1],
  { requestFocus }: HintContext,
): Hint[] {
  const asked = getAsked(ui, row);
  const away = (words: string): Hint[] => (requestFocus === "modal" ? [] : [["Esc", words]]);
  const others: Hint[] = getWaiting(ui).length > 1 ? [["Ctrl-N", "next request"]] : [];
  if (asked.reason !== undefined)
    return [
      ["Enter", asked.reason.choice.decision === "cancel" ? "stop" : "decline"],
      ["Esc", "back"],
    ];
  if (!hasQuestions(row))
    return [
      ["Enter", "take >"],
      ["d", asked.isDetailed ? "hide details" : "details"],
      ...away("back to chat"),
      ...others,
      ["PgUp/PgDn", "scroll"],
    ];
  const question = row.payload.questions?.[asked.question];
  const several: Hint[] = question?.multi_select ? [["Space", "toggle"]] : [];
  return [
    ...several,
    ["Enter", "take"],
    ["Shift-Tab", "previous"],
    ["Ctrl-X", "decline"],
    ["Ctrl-O", "details"],
    ...away("chat"),
    ...others,
  ];
}
