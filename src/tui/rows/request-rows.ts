// A request as rows: what a person decides on, byte by byte; its details; and its row in the feed. What others wrote is
// behind a bar on every row, and each character that is not what it looks like is shown.
import {
  type RequestPart,
  type RequestQuote,
  requestCard,
  requestDetails,
} from "../../client/view/request-card.ts";
import type { Answer, RequestRow } from "../../client/view/types.ts";
import type { ResolutionSource } from "../../protocol/requests.ts";
import type { EntryOptions } from "./entry-rows.ts";
import { barRows, ownRow } from "./gutter.ts";
import { looksRevealed, revealedLine, safeLine } from "./safe.ts";
import { type Piece, piece, STYLE, toRow } from "./style.ts";
import type { Row, RowTheme } from "./types.ts";
import { lineWidth, wrapHard, wrapWords } from "./wrap.ts";

const MIN_WIDTH = 20;
/** Before each row of what was asked, in the feed: there our own words need a mark. */
const ASKED = { text: "┃ ", style: STYLE.warn };

/** What is decided on: never wider than `width`, if that is at least 20. The rows bear the id of the request. */
export function requestRows(row: RequestRow, width: number, theme: RowTheme): Row[] {
  return asRows(row, cardLines(row, requestCard(row).parts, width, theme), theme);
}

/** What is folded at first: ids, JSON and whatever else the agent sent. */
export function detailRows(row: RequestRow, width: number, theme: RowTheme): Row[] {
  return asRows(row, cardLines(row, requestDetails(row), width, theme), theme);
}

function asRows({ request_id }: RequestRow, lines: readonly Piece[][], theme: RowTheme): Row[] {
  return lines.map((line) => toRow(line, request_id, theme));
}

/** In the feed: one row; unfolded, everything that was shown. */
export function requestEntryLines(
  request: RequestRow,
  { width, theme, isUnfolded }: EntryOptions,
): Piece[][] {
  const [mark, outcome] = outcomeOf(request);
  const words = [
    piece(`asks (${request.request_type}) `, STYLE.dim),
    piece(safeLine(request.payload.title), request.status === "pending" ? STYLE.bold : STYLE.none),
  ];
  const head = ownRow(mark, words, width, [piece(outcome, mark.style)]);
  const top = [head, ...reasonRows(request.answer, width)];
  if (!isUnfolded || width < MIN_WIDTH + 2) return top;
  return [...top, ...wholeLines(request, width - 2, theme).map((row) => [ASKED, ...row])];
}

/** What was decided here needs no words. */
const BY: Readonly<Record<ResolutionSource, string>> = {
  tui: "",
  web: " in the dashboard",
  sm: " with sm",
  blemeesctl: " with blemeesctl",
  socket: " by a program",
  http: " by a program",
  api: " by a program",
  policy: " by policy",
};

function outcomeOf({ status, answer, resolution_source }: RequestRow): [Piece, string] {
  if (status === "pending") return [piece("?", STYLE.warn), "waits for you"];
  if (status !== "resolved" || answer === undefined) return [piece("○", STYLE.dim), status];
  const by = resolution_source === undefined ? "" : BY[resolution_source];
  if (!("decision" in answer)) return [piece("✓", STYLE.good), `answered${by}`];
  if (answer.decision === "decline") return [piece("✗", STYLE.bad), `declined${by}`];
  if (answer.decision === "cancel") return [piece("✗", STYLE.bad), `declined, turn stopped${by}`];
  const how = { accept: "", acceptForSession: " for the session", acceptAlways: " always" }[answer.decision];
  return [piece("✓", STYLE.good), `accepted${how}${by}`];
}

function reasonRows(answer: Answer | undefined, width: number): Piece[][] {
  if (answer === undefined || !("decision" in answer) || answer.message === undefined) return [];
  return barRows([piece(safeLine(answer.message), STYLE.dim)], width);
}

function cardLines(
  row: RequestRow,
  parts: readonly RequestPart[],
  width: number,
  theme: RowTheme,
): Piece[][] {
  const room = Math.max(MIN_WIDTH, width);
  const { asks, choices } = requestCard(row);
  const quotes = [...parts, ...choices.flatMap(({ notes }) => notes)];
  const isLiteral = quotes.some((part) => part.kind === "quote" && looksRevealed(part.text));
  return [
    ...own([piece("? ", STYLE.warn), ...shortName(row.backend, theme), piece(` ${asks}:`)], room),
    ...parts.flatMap((part) => partLines(part, room, theme)),
    ...(isLiteral
      ? own([piece("  (some \\x… or <U+…> are spelled out in the text itself)", STYLE.warn)], room)
      : []),
    ...(row.is_cut ? own([piece("  (truncated: this is not the whole request)", STYLE.bad)], room) : []),
  ];
}

/** Everything, as it was shown and could be unfolded. */
function wholeLines(row: RequestRow, width: number, theme: RowTheme): Piece[][] {
  const { parts, questions, choices } = requestCard(row);
  const all = [...parts, ...questions, ...requestDetails(row)];
  return [
    ...cardLines(row, all, width, theme),
    [piece("  Choices:")],
    ...choices.flatMap(({ label, meaning, notes }) => [
      ...own([piece(`    ${label.padEnd(26)}  `, STYLE.bold), piece(meaning, STYLE.dim)], width),
      ...notes.flatMap((note) => partLines(note, width, theme, "      ")),
    ]),
  ];
}

/** A single line of others is beside our words about it if it fits, else below them. */
export function partLines(part: RequestPart, width: number, theme: RowTheme, indent = "  "): Piece[][] {
  if (part.kind === "words") {
    const id = part.id === undefined ? [] : [piece(" "), ...line(part.id, STYLE.dim, theme)];
    return own([piece(indent + part.text, STYLE.dim), ...id], width);
  }
  const rows = quoteRows(part, width, theme, indent.slice(2));
  if (part.title === undefined) return rows;
  const [first = []] = rows;
  const beside = [piece(indent + part.title, STYLE.dim), piece(" │ ", STYLE.dim), ...first.slice(1)];
  if (rows.length === 1 && lineWidth(beside) <= width) return [beside];
  return [...own([piece(`${indent}${part.title}:`, STYLE.dim)], width), ...rows];
}

function quoteRows({ text, form }: RequestQuote, width: number, theme: RowTheme, indent: string): Piece[][] {
  if (form === "line") return barRows(line(text, STYLE.bold, theme), width, indent);
  return text
    .replace(/\n$/, "")
    .split("\n")
    .flatMap((one) => barRows(revealedLine(one, lookOf(one, form), theme.isAscii ?? false), width, indent));
}

function lookOf(text: string, form: "text" | "diff" | "command"): string {
  if (form === "command") return STYLE.bold;
  if (form === "text") return STYLE.none;
  if (text.startsWith("+")) return STYLE.added;
  if (text.startsWith("-")) return STYLE.removed;
  return text.startsWith("@@") ? STYLE.hunk : STYLE.none;
}

/** On one line: a newline in it is shown too. */
function line(text: string, style: string, theme: RowTheme): Piece[] {
  return text
    .split("\n")
    .flatMap((part, at) => [
      ...(at === 0 ? [] : [piece("\\n", STYLE.shown)]),
      ...revealedLine(part, style, theme.isAscii ?? false),
    ]);
}

/** At most 40 columns: a long name in a row of ours could break off where another row of ours would begin. */
function shortName(name: string, theme: RowTheme): Piece[] {
  const [first = [], ...rest] = wrapHard(line(name, STYLE.bold, theme), 40);
  return rest.length === 0 ? first : [...first, piece("…")];
}

/** Rows of ours; where they break they go on behind an indent that nothing else has. */
function own(words: readonly Piece[], width: number): Piece[][] {
  if (lineWidth(words) <= width) return [[...words]];
  return wrapWords(words, width - 6).map((row, at) => (at === 0 ? row : [piece("      "), ...row]));
}
