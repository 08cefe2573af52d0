// A request as rows: the exact content to decide on, its details, and its row in the feed. Untrusted text is after a bar on
// every row, with misleading characters escaped.
import type { WordPart } from "../../base/word-diff.ts";
import { describeAnswerer } from "../../client/view/answerer.ts";
import type { Asker } from "../../client/view/asker.ts";
import {
  type RequestCard,
  type RequestPart,
  type RequestQuote,
  toRequestCard,
  toRequestDetails,
} from "../../client/view/request-card.ts";
import { splitDiffWords } from "../../client/view/request-diff.ts";
import type { Answer, RequestRow } from "../../client/view/types.ts";
import type { EntryOptions } from "./entry-rows.ts";
import { drawBarRows, drawOwnRow } from "./gutter.ts";
import { drawRevealed, looksRevealed, toSafeLine } from "./safe.ts";
import { combineStyles, createPiece, type Piece, STYLE, toRow } from "./style.ts";
import type { Row, RowTheme } from "./types.ts";
import { measureLine, wrapHard, wrapWords } from "./wrap.ts";

const MIN_WIDTH = 20;
/** Marks our own rows of a request in the feed. */
const ASKED = { text: "┃ ", style: STYLE.warn };

/** Words that the other version of a line does not have: not inverted, which marks escapes here. */
const MARKED = combineStyles(STYLE.bold, STYLE.underline);

/** The content to decide on, at most `width` wide (minimum 20). Rows carry the request's id. */
export function drawRequest(
  row: RequestRow,
  width: number,
  theme: RowTheme,
  card: RequestCard = toRequestCard(row),
): Row[] {
  return asRows(row, cardLines(row, card, [...card.parts, ...card.why], width, theme), theme);
}

/** Initially folded: ids, JSON and everything else the agent sent. */
export function drawRequestDetails(
  row: RequestRow,
  width: number,
  theme: RowTheme,
  card: RequestCard = toRequestCard(row),
): Row[] {
  return asRows(row, cardLines(row, card, toRequestDetails(row), width, theme), theme);
}

function asRows({ request_id }: RequestRow, lines: readonly Piece[][], theme: RowTheme): Row[] {
  return lines.map((line) => toRow(line, request_id, theme));
}

/** In the feed: one row, or everything when unfolded. */
export function drawRequestEntry(request: RequestRow, { width, theme, isUnfolded }: EntryOptions): Piece[][] {
  const [mark, outcome] = describeOutcome(request);
  const words = [
    createPiece(`asks (${request.request_type}) `, STYLE.dim),
    createPiece(toSafeLine(request.payload.title), request.status === "pending" ? STYLE.bold : STYLE.none),
  ];
  const head = drawOwnRow(mark, words, width, [createPiece(outcome, mark.style)]);
  const top = [head, ...reasonRows(request.answer, width)];
  if (!isUnfolded || width < MIN_WIDTH + 2) return top;
  return [...top, ...wholeLines(request, width - 2, theme).map((row) => [ASKED, ...row])];
}

function describeOutcome(request: RequestRow): [Piece, string] {
  const { status, answer, resolution_source, answered_by } = request;
  if (status === "pending") return [createPiece("?", STYLE.warn), "waiting for you"];
  if (status !== "resolved" || answer === undefined) return [createPiece("○", STYLE.dim), status];
  // A person's decisions in a terminal UI need no note.
  const isHere =
    answered_by === undefined
      ? resolution_source === "tui"
      : answered_by.actor === "person" && answered_by.via === "tui";
  const who = isHere ? undefined : describeAnswerer(request);
  const by = who === undefined ? "" : ` ${who}`;
  if (!("decision" in answer)) return [createPiece("✓", STYLE.good), `answered${by}`];
  if (answer.decision === "decline") return [createPiece("✗", STYLE.bad), `declined${by}`];
  if (answer.decision === "cancel") return [createPiece("✗", STYLE.bad), `declined, turn stopped${by}`];
  const how = { accept: "", acceptForSession: " for the session", acceptAlways: " always" }[answer.decision];
  return [createPiece("✓", STYLE.good), `accepted${how}${by}`];
}

function reasonRows(answer: Answer | undefined, width: number): Piece[][] {
  if (answer === undefined || !("decision" in answer) || answer.message === undefined) return [];
  return drawBarRows([createPiece(toSafeLine(answer.message), STYLE.dim)], width);
}

function cardLines(
  row: RequestRow,
  { who, others, asks, choices }: RequestCard,
  parts: readonly RequestPart[],
  width: number,
  theme: RowTheme,
): Piece[][] {
  const room = Math.max(MIN_WIDTH, width);
  const quotes = [...parts, ...choices.flatMap(({ notes }) => notes)];
  const isLiteral = quotes.some((part) => part.kind === "quote" && looksRevealed(part.text));
  const more = others.length === 0 ? "" : ` and ${others.length} ${others.length === 1 ? "other" : "others"}`;
  return [
    ...own([createPiece("? ", STYLE.warn), ...whoPieces(who, theme), createPiece(`${more} ${asks}:`)], room),
    ...(others.length === 0 ? [] : otherLines(others, room, theme)),
    ...parts.flatMap((part) => drawPart(part, room, theme)),
    ...(isLiteral ? own([createPiece("  (some \\x… and <U+…> are literal text)", STYLE.warn)], room) : []),
    ...(row.is_cut
      ? own([createPiece("  (truncated: this is not the whole request)", STYLE.bad)], room)
      : []),
  ];
}

/** Their names, after a bar. */
function otherLines(others: readonly Asker[], width: number, theme: RowTheme): Piece[][] {
  const names = others.map(({ name, agent }) => name ?? agent);
  return drawPart({ kind: "quote", title: "also", text: names.join(", "), form: "line" }, width, theme);
}

/** "NAME (AGENT) in PROJECT". */
function whoPieces({ name, agent, project }: Asker, theme: RowTheme): Piece[] {
  return [
    ...(name === undefined ? [] : [...shortName(name, theme), createPiece(" (")]),
    ...shortName(agent, theme, name === undefined ? STYLE.bold : STYLE.none),
    ...(name === undefined ? [] : [createPiece(")")]),
    ...(project === undefined ? [] : [createPiece(" in "), ...shortName(project, theme)]),
  ];
}

/** The request with its details. */
function wholeLines(row: RequestRow, width: number, theme: RowTheme): Piece[][] {
  const card = toRequestCard(row);
  const { parts, why, questions, choices } = card;
  const all = [...parts, ...why, ...questions, ...toRequestDetails(row)];
  return [
    ...cardLines(row, card, all, width, theme),
    [createPiece("  Choices:")],
    ...choices.flatMap(({ label, meaning, notes }) => [
      ...own([createPiece(`    ${label.padEnd(26)}  `, STYLE.bold), createPiece(meaning, STYLE.dim)], width),
      ...notes.flatMap((note) => drawPart(note, width, theme, "      ")),
    ]),
  ];
}

/** A single line of untrusted text is beside its title if it fits, otherwise below. */
export function drawPart(part: RequestPart, width: number, theme: RowTheme, indent = "  "): Piece[][] {
  if (part.kind === "words") {
    const id = part.id === undefined ? [] : [createPiece(" "), ...line(part.id, STYLE.dim, theme)];
    return own([createPiece(indent + part.text, STYLE.dim), ...id], width);
  }
  const rows = quoteRows(part, width, theme, indent.slice(2));
  if (part.title === undefined) return rows;
  const [first = []] = rows;
  const beside = [
    createPiece(indent + part.title, STYLE.dim),
    createPiece(" │ ", STYLE.dim),
    ...first.slice(1),
  ];
  if (rows.length === 1 && measureLine(beside) <= width) return [beside];
  return [...own([createPiece(`${indent}${part.title}:`, STYLE.dim)], width), ...rows];
}

function quoteRows({ text, form }: RequestQuote, width: number, theme: RowTheme, indent: string): Piece[][] {
  if (form === "line") return drawBarRows(line(text, STYLE.bold, theme), width, indent);
  const lines: WordPart[][] =
    form === "diff"
      ? splitDiffWords(text)
      : text
          .replace(/\n$/, "")
          .split("\n")
          .map((one) => [{ text: one, isChanged: false }]);
  return lines.flatMap((parts) => {
    const style = chooseStyle(parts[0]?.text ?? "", form);
    const pieces = parts.flatMap((part) =>
      drawRevealed(part.text, part.isChanged ? combineStyles(style, MARKED) : style, theme.isAscii ?? false),
    );
    return drawBarRows(pieces, width, indent);
  });
}

function chooseStyle(text: string, form: "text" | "diff" | "command"): string {
  if (form === "command") return STYLE.bold;
  if (form === "text") return STYLE.none;
  if (text.startsWith("+")) return STYLE.added;
  if (text.startsWith("-")) return STYLE.removed;
  return text.startsWith("@@") ? STYLE.hunk : STYLE.none;
}

/** One line, with newlines escaped. */
function line(text: string, style: string, theme: RowTheme): Piece[] {
  return text
    .split("\n")
    .flatMap((part, at) => [
      ...(at === 0 ? [] : [createPiece("\\n", STYLE.shown)]),
      ...drawRevealed(part, style, theme.isAscii ?? false),
    ]);
}

/** At most 40 columns: a longer name could wrap where one of our own rows would start. */
function shortName(name: string, theme: RowTheme, style: string = STYLE.bold): Piece[] {
  const [first = [], ...rest] = wrapHard(line(name, style, theme), 40);
  return rest.length === 0 ? first : [...first, createPiece("…")];
}

/** Our own rows; continuations have an indent that nothing else has. */
function own(words: readonly Piece[], width: number): Piece[][] {
  if (measureLine(words) <= width) return [[...words]];
  return wrapWords(words, width - 6).map((row, at) => (at === 0 ? row : [createPiece("      "), ...row]));
}
