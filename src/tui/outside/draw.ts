// Draws the list of sessions that were started outside. Pure.

import type { TranscriptView } from "../../client/http/types.ts";
import { getProject } from "../../client/view/asker.ts";
import { formatAge } from "../../client/view/format.ts";
import { drawKeys } from "../help.ts";
import { getKeyName } from "../keys/table.ts";
import { toSafeLine } from "../rows/safe.ts";
import { combineStyles, createPiece, type Line, type Piece, STYLE } from "../rows/style.ts";
import { cutLine, measureLine, wrapWords } from "../rows/wrap.ts";
import type { Look, Size } from "../screen-types.ts";
import { drawLine, joinParts } from "../theme.ts";
import { OUTSIDE_KEYS } from "./keys.ts";
import type { OutsideUi } from "./state.ts";

/** Title, columns, message and keys. */
const AROUND = 4;
const AGENT = 9;
const ACTIVE = 6;
const PROJECT = 14;
/** Narrower screens do not name the project. */
const MIN_FOR_PROJECT = 60;

export function countOutsideRows(rows: number): number {
  return Math.max(1, rows - AROUND);
}

export function drawOutside(
  ui: OutsideUi,
  { columns, rows }: Size,
  { look, nowMs }: { look: Look; nowMs: number },
): string[] {
  const height = countOutsideRows(rows);
  const body = ui.isHelp ? helpLines(columns) : listLines(ui, columns, height, nowMs);
  const padded = Array.from({ length: height + 1 }, (_, at) => body[at] ?? []);
  return [titleLine(ui), ...padded, messageLine(ui), hintLine(columns)]
    .slice(0, rows)
    .map((line) => drawLine(line, columns, look));
}

function titleLine({ transcripts, next }: OutsideUi): Line {
  const { length } = transcripts;
  const more = next === undefined ? "" : "+";
  const count = `${length}${more} ${length === 1 && more === "" ? "conversation" : "conversations"}`;
  return [
    createPiece("Started outside", STYLE.bold),
    createPiece("  "),
    ...(length === 0 ? [] : [createPiece(count), createPiece(", begun in other programs", STYLE.dim)]),
  ];
}

function listLines(ui: OutsideUi, columns: number, height: number, nowMs: number): Line[] {
  const { transcripts, index, isLoading } = ui;
  if (transcripts.length === 0) {
    const say = (text: string, style: string): Line[] =>
      wrapWords([createPiece(`  ${text}`, style)], columns);
    if (isLoading) return [[], ...say("loading…", STYLE.dim)];
    return [
      [],
      ...say("No agent was started outside.", STYLE.none),
      ...say("What you start with an agent's own program in a terminal appears here.", STYLE.dim),
    ];
  }
  const from = Math.max(0, Math.min(index - (height >> 1), transcripts.length - height));
  const hasProject = columns >= MIN_FOR_PROJECT;
  const head = [
    ...pad([createPiece("  AGENT")], AGENT + 2),
    ...pad([createPiece("ACTIVE".padStart(ACTIVE))], ACTIVE),
    ...(hasProject ? pad([createPiece("PROJECT")], PROJECT) : []),
    createPiece("TITLE"),
  ].map(({ text }) => createPiece(text, STYLE.dim));
  const lines = transcripts
    .slice(from, from + height)
    .map((one, at) => rowLine(one, { isSelected: from + at === index, hasProject, columns, nowMs }));
  return [head, ...lines];
}

function rowLine(
  transcript: TranscriptView,
  {
    isSelected,
    hasProject,
    columns,
    nowMs,
  }: { isSelected: boolean; hasProject: boolean; columns: number; nowMs: number },
): Line {
  const { session_id, provider, title, last_active_at_ms, open_in_pid } = transcript;
  const age = formatAge(nowMs - last_active_at_ms).padStart(ACTIVE);
  const inUse =
    open_in_pid === undefined ? [] : [createPiece(`open in process ${open_in_pid}  `, STYLE.warn)];
  const line: Piece[] = [
    createPiece(isSelected ? "▌ " : "  ", STYLE.accent),
    ...pad([createPiece(toSafeLine(provider))], AGENT),
    ...pad([createPiece(age, STYLE.dim)], ACTIVE),
    ...(hasProject ? pad([createPiece(toSafeLine(getProject(transcript) ?? ""), STYLE.dim)], PROJECT) : []),
    ...inUse,
    createPiece(toSafeLine(title ?? session_id)),
  ];
  const cut = cutLine(line, columns);
  if (!isSelected) return cut;
  const filled = [...cut, createPiece(" ".repeat(Math.max(0, columns - measureLine(cut))))];
  return filled.map(({ text, style }) => createPiece(text, combineStyles(STYLE.shown, style)));
}

/** Cut or padded, and a space. */
function pad(pieces: Line, width: number): Piece[] {
  const cut = cutLine(pieces, width);
  return [...cut, createPiece(" ".repeat(Math.max(0, width - measureLine(cut)) + 1))];
}

function helpLines(columns: number): Line[] {
  return [
    [createPiece("Keys", STYLE.bold), createPiece("  any other key closes this", STYLE.dim)],
    ...OUTSIDE_KEYS.flatMap(({ keys, summary }) =>
      drawKeys(keys.map(getKeyName).join(", "), summary, columns),
    ),
  ];
}

function messageLine({ problem, adopting, isLoading, transcripts }: OutsideUi): Line {
  if (problem !== undefined) return [createPiece(toSafeLine(problem), STYLE.bad)];
  if (adopting !== undefined) return [createPiece("starting its agent…", STYLE.dim)];
  return isLoading && transcripts.length > 0 ? [createPiece("loading…", STYLE.dim)] : [];
}

function hintLine(columns: number): Line {
  const words = ["Enter read", "c continue here", "r reload", "Esc list", "? keys"];
  return joinParts(
    words.map((text) => createPiece(text, STYLE.dim)),
    columns,
  );
}
