// Draws the changes screen: title, turn, files or lines, keys. Pure.
import {
  countFiles,
  describeBase,
  describeFile,
  describeNotCovered,
  describeTurn,
  explainNoChanges,
  STATUS_WORDS,
} from "../../client/view/change-list.ts";
import type { UndoQuestion } from "../../client/view/change-undo.ts";
import type { ChangedFile } from "../../protocol/changes.ts";
import { drawKeys } from "../help.ts";
import { getKeyName } from "../keys/table.ts";
import { toSafeLine } from "../rows/safe.ts";
import { createPiece, type Line, type Piece, STYLE } from "../rows/style.ts";
import { measureLine, wrapWords } from "../rows/wrap.ts";
import type { Look, Size } from "../screen-types.ts";
import { drawLine, joinParts, spread } from "../theme.ts";
import { CHANGES_KEYS } from "./keys.ts";
import { type ChangesUi, getSelectedFile } from "./state.ts";

/** Title, turn, and keys. */
const AROUND = 3;
const STATUS_WIDTH = 9;
/** Narrower screens do not name the turns of a file. */
const MIN_FOR_TURNS = 70;

export interface ChangesFrameOptions {
  /** Of the session. */
  title: string;
  look: Look;
  /** The rows of the open file. */
  lines: readonly Line[];
}

export function countChangesRows(rows: number): number {
  return Math.max(1, rows - AROUND);
}

export function drawChanges(
  ui: ChangesUi,
  { columns, rows }: Size,
  { title, look, lines }: ChangesFrameOptions,
): string[] {
  const height = countChangesRows(rows);
  const body =
    ui.mode.kind === "help"
      ? drawChangesHelp(columns).slice(ui.mode.top, ui.mode.top + height)
      : ui.mode.kind === "file"
        ? lines.slice(ui.mode.top, ui.mode.top + height)
        : ui.mode.kind === "undo"
          ? questionLines(ui.mode.question, columns).slice(0, height)
          : listLines(ui, columns, height);
  const padded = [...body, ...Array.from({ length: Math.max(0, height - body.length) }, (): Line => [])];
  const all = [
    titleLine(ui, title, columns),
    turnLine(ui, columns),
    ...padded,
    hintLine(ui, columns, lines, height),
  ];
  return all.slice(0, rows).map((line) => drawLine(line, columns, look));
}

export function drawChangesHelp(columns: number): Line[] {
  return CHANGES_KEYS.flatMap(({ keys, summary }) =>
    drawKeys(keys.map(getKeyName).join(", "), summary, columns),
  );
}

function titleLine(ui: ChangesUi, title: string, columns: number): Line {
  const { totals } = ui.changes.reply ?? {};
  const right =
    totals === undefined || totals.files === 0
      ? []
      : [createPiece(`${countFiles(totals.files)} `), ...drawCounts(totals)];
  return spread([createPiece("Changes", STYLE.bold), createPiece(`  ${toSafeLine(title)}`)], right, columns);
}

/** In a file its name, in the list which turns it is about. */
function turnLine(ui: ChangesUi, columns: number): Line {
  const { reply, turn, isLoading } = ui.changes;
  const file = ui.mode.kind === "file" ? getSelectedFile(ui) : undefined;
  const loading = isLoading ? [createPiece("loading…", STYLE.dim)] : [];
  if (file !== undefined) {
    const place = createPiece(`${ui.index + 1} of ${ui.changes.files.length}  `, STYLE.dim);
    const right = [place, ...drawCounts(file)];
    return spread(drawFileName(file, columns - measureLine(right) - 2), right, columns);
  }
  const found = reply?.turns.find((one) => one.turn === turn);
  const words =
    turn === undefined
      ? "all turns"
      : turn === "base"
        ? describeBase(reply?.base ?? {})
        : found === undefined
          ? `turn ${turn}`
          : describeTurn(found);
  return spread([createPiece(words, turn === undefined ? STYLE.dim : STYLE.accent)], loading, columns);
}

function questionLines({ title, text }: UndoQuestion, columns: number): Line[] {
  const rows = text.split("\n").flatMap((line) => wrapWords([createPiece(`  ${toSafeLine(line)}`)], columns));
  return [[createPiece(`  ${toSafeLine(title)}`, STYLE.warn)], [], ...rows];
}

function listLines(ui: ChangesUi, columns: number, height: number): Line[] {
  const { reply, files, isLoading, problem, turn } = ui.changes;
  const say = (text: string, style: string = STYLE.dim): Line[] =>
    wrapWords([createPiece(`  ${toSafeLine(text)}`, style)], columns);
  const notCovered = reply === undefined ? undefined : describeNotCovered(reply);
  const notes = [
    ...(problem === undefined ? [] : say(problem, STYLE.bad)),
    ...(ui.notice === undefined ? [] : say(ui.notice, STYLE.accent)),
    ...(notCovered === undefined ? [] : say(notCovered).slice(0, 2)),
    ...(reply !== undefined && files.length === 0 && !isLoading
      ? say(explainNoChanges(reply, turn, ui.isWorking), STYLE.none)
      : []),
  ];
  const more =
    reply?.next === undefined ? [] : say(`${reply.totals.files - files.length} more: End loads them`);
  const room = Math.max(1, height - notes.length - more.length);
  const from = Math.max(0, Math.min(ui.index - Math.floor(room / 2), files.length - room));
  const shown = files.slice(from, from + room);
  const countsWidth = Math.max(0, ...shown.map((file) => measureLine(drawCounts(file))));
  const showsTurns = typeof turn !== "number";
  const names = shown.map((file, at) =>
    fileLine(file, { isSelected: from + at === ui.index, showsTurns, countsWidth, columns }),
  );
  return [...notes, ...names, ...more];
}

interface FileLine {
  isSelected: boolean;
  showsTurns: boolean;
  /** The widest counts of the list. */
  countsWidth: number;
  columns: number;
}

function fileLine(file: ChangedFile, { isSelected, showsTurns, countsWidth, columns }: FileLine): Line {
  const hasTurns = showsTurns && columns >= MIN_FOR_TURNS && file.turns.length > 0;
  const turns = hasTurns ? `${file.turns.length === 1 ? "turn" : "turns"} ${shortenTurns(file.turns)}` : "";
  const counts = drawCounts(file);
  const pad = " ".repeat(Math.max(0, countsWidth - measureLine(counts)));
  const right = [createPiece(turns, STYLE.dim), createPiece(`  ${pad}`), ...counts];
  const mark = createPiece(isSelected ? "▌ " : "  ", STYLE.accent);
  const name = drawFileName(file, columns - measureLine(right) - 4, isSelected);
  return [mark, ...spread(name, right, columns - 2)];
}

function shortenTurns(turns: readonly number[]): string {
  return turns.length > 4 ? `${turns.slice(0, 4).join(", ")}, …` : turns.join(", ");
}

function drawFileName(file: ChangedFile, room: number, isSelected = false): Piece[] {
  const { status, path, old_path } = file;
  const colors = {
    added: STYLE.good,
    deleted: STYLE.bad,
    modified: STYLE.dim,
    renamed: STYLE.dim,
    type_changed: STYLE.dim,
  };
  const words = describeFile(file).map((word) => createPiece(`  ${word}`, STYLE.warn));
  const before = old_path === undefined ? "" : `${shortenPath(old_path, Math.floor(room / 3))} → `;
  const left = room - STATUS_WIDTH - before.length - measureLine(words);
  return [
    createPiece(STATUS_WORDS[status].padEnd(STATUS_WIDTH), colors[status]),
    createPiece(before, STYLE.dim),
    createPiece(shortenPath(path, left), isSelected ? STYLE.bold : STYLE.none),
    ...words,
  ];
}

/** The end of a path says more than its start. */
function shortenPath(path: string, room: number): string {
  const safe = toSafeLine(path);
  if (measureLine([createPiece(safe)]) <= room) return safe;
  const parts = safe.split("/");
  while (parts.length > 1 && measureLine([createPiece(`…/${parts.slice(1).join("/")}`)]) > room)
    parts.shift();
  return parts.length > 1 ? `…/${parts.slice(1).join("/")}` : safe;
}

function drawCounts({ additions, deletions }: Pick<ChangedFile, "additions" | "deletions">): Piece[] {
  if (additions === undefined && deletions === undefined) return [];
  return [createPiece(`+${additions ?? 0}`, STYLE.added), createPiece(` -${deletions ?? 0}`, STYLE.removed)];
}

function hintLine({ mode }: ChangesUi, columns: number, lines: readonly Line[], height: number): Line {
  const left = mode.kind === "file" ? Math.max(0, lines.length - height - mode.top) : 0;
  const words = {
    list: ["Enter lines", "t turn", "u undo", "r refresh", "Esc session", "? keys"],
    file: ["Esc list", "n/p next/previous file", "PgUp/PgDn scroll", "? keys"],
    help: ["Up/Down scroll", "any other key closes"],
    undo: [
      ...(mode.kind === "undo" && mode.question.canForget ? ["y undo", "f files only"] : ["y undo"]),
      "any other key cancels",
    ],
  }[mode.kind];
  const hints = words.map((word) => createPiece(word, STYLE.dim));
  const more = left > 0 ? [createPiece(`↓ ${left} more`, STYLE.accent)] : [];
  return spread(joinParts(hints, columns - measureLine(more) - 1), more, columns);
}
