// A request as rows: all that a person sees before deciding, whole and byte by byte; and the row that stands for it in
// the feed. What others wrote is behind a bar on every row, and each character that is not what it looks like is shown.
import { choiceParts, lineCount, type RequestPart, requestParts } from "../../client/view/request-parts.ts";
import type { Answer, RequestRow } from "../../client/view/types.ts";
import type { EntryOptions } from "./entry-rows.ts";
import { barRows, ownRow } from "./gutter.ts";
import { looksRevealed, revealedLine, safeLine } from "./safe.ts";
import { type Piece, piece, STYLE, toRow } from "./style.ts";
import type { Row, RowTheme } from "./types.ts";
import { lineWidth, wrapHard, wrapWords } from "./wrap.ts";

/** The keys of the approval mode. */
const KEYS = {
  accept: "y accept",
  acceptForSession: "s accept for the session",
  acceptAlways: "a accept always",
  decline: "n decline",
  cancel: "c cancel",
} as const;
const TAKES = { message: "with a reason", updated_input: "" } as const;

const MIN_WIDTH = 20;
/** Before each row of what was asked, in the feed: there our own words need a mark. */
const ASKED = { text: "┃ ", style: STYLE.warn };

/** Never wider than `width`, if that is at least 20. The rows bear the id of the request. */
export function requestRows(row: RequestRow, width: number, theme: RowTheme): Row[] {
  return requestBody(row, Math.max(MIN_WIDTH, width), theme).map((line) =>
    toRow(line, row.request_id, theme),
  );
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
  return [...top, ...requestBody(request, width - 2, theme).map((row) => [ASKED, ...row])];
}

function outcomeOf({ status, answer, resolution_source }: RequestRow): [Piece, string] {
  if (status === "pending") return [piece("?", STYLE.warn), "waits for you"];
  if (status !== "resolved" || answer === undefined) return [piece("○", STYLE.dim), status];
  const by = resolution_source === "policy" ? " by policy" : "";
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

function requestBody(row: RequestRow, width: number, theme: RowTheme): Piece[][] {
  const parts = requestParts(row);
  const choices = choiceParts(row);
  const draw = (part: RequestPart): Piece[][] => partRows(part, width, theme);
  const isLiteral = [...parts, ...choices].some((part) => part.kind === "quote" && looksRevealed(part.text));
  return [
    ...own(
      [
        piece("? ", STYLE.warn),
        ...line(row.backend, STYLE.bold, theme),
        piece(` asks (${row.request_type}):`),
      ],
      width,
    ),
    ...parts.flatMap(draw),
    ...(isLiteral
      ? own([piece("  (some \\x… or <U+…> stand there in so many letters)", STYLE.warn)], width)
      : []),
    ...(row.is_cut ? own([piece("  (cut: this is not all of it)", STYLE.bad)], width) : []),
    [piece("  choices:")],
    ...choices.flatMap(draw),
  ];
}

function partRows(part: RequestPart, width: number, theme: RowTheme): Piece[][] {
  if (part.kind === "words") {
    const id = part.id === undefined ? [] : [piece(" "), ...line(part.id, STYLE.dim, theme)];
    return own([piece(`  ${part.text}`, STYLE.dim), ...id], width);
  }
  if (part.kind === "choice") {
    const { choice, isAnswer, meaning } = part;
    const extra = (choice.takes ?? []).map((name) => TAKES[name]).filter((text) => text !== "");
    // A choice with an option has no key.
    const decide = choice.option === undefined ? KEYS[choice.decision] : KEYS[choice.decision].slice(2);
    const verb = [isAnswer ? "i answer" : decide, ...(isAnswer ? [] : extra)].join(" ");
    return own([piece(`    ${verb.padEnd(26)}  `, STYLE.bold), piece(meaning, STYLE.dim)], width);
  }
  const { title, name, text, isOfChoice } = part;
  const rows = quoteRows(part, width, theme);
  if (title === undefined) return rows;
  const named = name === undefined ? [] : [piece(" "), ...shortName(name, theme)];
  const indent = isOfChoice ? "    " : "  ";
  return [...own([piece(indent + title), ...named, piece(`${lineCount(text)}:`)], width), ...rows];
}

function quoteRows(
  { text, form }: Extract<RequestPart, { kind: "quote" }>,
  width: number,
  theme: RowTheme,
): Piece[][] {
  if (form === "line") return barRows(line(text, STYLE.bold, theme), width);
  return text
    .replace(/\n$/, "")
    .split("\n")
    .flatMap((one) => barRows(revealedLine(one, lookOf(one, form), theme.isAscii ?? false), width));
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
