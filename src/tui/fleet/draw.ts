// Draws the list screen: state, size and time to rows. Pure.
import { defined } from "../../base/values.ts";
import { INSTALLABLE } from "../../protocol/tested-agents.ts";
import { arrangeEditor, sliceVisibleRows } from "../composer/layout.ts";
import { drawKeys } from "../help.ts";
import { getKeyName } from "../keys/table.ts";
import { formatName } from "../notify/fleet-notifications.ts";
import { toSafeLine } from "../rows/safe.ts";
import { createPiece, type Line, STYLE, toRow } from "../rows/style.ts";
import { cutLine, measureLine } from "../rows/wrap.ts";
import type { Look, Size } from "../screen-types.ts";
import { drawDetails } from "./details.ts";
import { type Entry, findTop, listEntries } from "./entries.ts";
import { type Drawn, drawForm } from "./form-lines.ts";
import { FLEET_KEYS } from "./keys.ts";
import { drawColumns, drawGroup, drawHeader, drawHints, drawSession } from "./list.ts";
import { drawPreview, type Preview } from "./preview.ts";
import { type FleetState, getSelectedSession } from "./state.ts";

export interface DrawnFleet {
  rows: string[];
  cursor?: { x: number; y: number };
  /** The first visible row; pass it to the next call. */
  top: number;
  /** The request that is shown in full. */
  shown?: string;
}

/** Rows for header, column titles, message and hints. */
const AROUND = 4;
/** Minimum width for the details pane. */
const WIDE = 110;
const GAP = " │ ";

export function drawFleet(
  state: FleetState,
  { columns, rows }: Size,
  { look, nowMs, top: before }: { look: Look; nowMs: number; top: number },
): DrawnFleet {
  const isList = state.mode.kind !== "form" && state.mode.kind !== "help";
  const preview: Preview = isList ? drawPreview(state, { columns, rows }, look) : { rows: [] };
  const height = countVisible(rows - preview.rows.length);
  const listed = listEntries(state);
  const top = findTop(before, state.index, height, listed);
  const bodyHeight = height + 1;
  const body = drawBody(state, { columns, height: bodyHeight, top, nowMs, listed });
  const status = statusLine(state, columns);
  const put = (line: Line): string => toRow(cutLine(line, columns), "", look).ansi;
  const list = [drawHeader(state.fleet, columns), ...padLines(body.lines, bodyHeight)].map(put);
  const cursor =
    body.cursor === undefined
      ? status.x === undefined
        ? undefined
        : { x: status.x, y: rows - 2 }
      : { x: body.cursor.x, y: body.cursor.y + 1 };
  return {
    rows: [...list, ...preview.rows, put(status.line), put(hintsFor(state, columns))],
    ...defined({ cursor, shown: preview.shown }),
    top,
  };
}

/** The number of sessions that fit. */
export function countVisible(rows: number): number {
  return Math.max(1, rows - AROUND);
}

interface Body {
  columns: number;
  /** Includes the column titles. */
  height: number;
  top: number;
  nowMs: number;
  listed: readonly Entry[];
}

function drawBody(state: FleetState, body: Body): Drawn {
  const { mode } = state;
  if (mode.kind === "form") return drawForm(mode.form, body.columns, body.height);
  if (mode.kind === "help") return { lines: helpLines(body.columns, mode.top, body.height) };
  if (state.rows.length === 0) return { lines: emptyLines(state, body.columns) };
  const session = getSelectedSession(state);
  if (body.columns < WIDE || session === undefined) return { lines: listLines(state, body.columns, body) };
  const listWidth = Math.floor(body.columns * 0.58);
  const list = padLines(listLines(state, listWidth, body), body.height);
  const detailWidth = body.columns - listWidth - GAP.length;
  const details = drawDetails(session, state.fleet, detailWidth, body.nowMs);
  return { lines: list.map((line, at) => joinColumns(line, details[at] ?? [], listWidth)) };
}

function listLines(state: FleetState, width: number, { height, top, nowMs, listed }: Body): Line[] {
  const { index, isGrouped, projects } = state;
  const context = { width, nowMs, projects: isGrouped ? NO_PROJECTS : projects };
  const lines = listed
    .slice(top, top + height - 1)
    .map((entry) =>
      entry.kind === "group"
        ? drawGroup(entry.group, width)
        : drawSession(entry.row, entry.at === index, context),
    );
  return [drawColumns(context), ...lines];
}

const NO_PROJECTS: ReadonlyMap<string, string> = new Map();

function joinColumns(left: Line, right: Line, width: number): Line {
  return [
    ...left,
    createPiece(" ".repeat(Math.max(0, width - measureLine(left)))),
    createPiece(GAP, STYLE.dim),
    ...right,
  ];
}

function emptyLines({ fleet, filter, hidesStopped }: FleetState, columns: number): Line[] {
  if (fleet.sessions.size > 0) {
    const isFiltered = filter.text !== "";
    const why = isFiltered ? `No session matches "${toSafeLine(filter.text)}"` : "No session to show";
    const keys = [
      isFiltered ? "Esc shows all, Tab searches what was said" : "f shows archived sessions",
      hidesStopped ? "h shows stopped sessions" : "",
    ];
    return [[], cutLine([createPiece(`  ${why}: ${keys.filter(Boolean).join(", ")}.`)], columns)];
  }
  if (fleet.link.state !== "live") return [[], [createPiece("  Waiting for the daemon…", STYLE.dim)]];
  return [
    [],
    [createPiece("  No sessions yet.")],
    [],
    [createPiece("  n", STYLE.bold), createPiece("  starts one")],
    [
      createPiece("  u", STYLE.bold),
      createPiece("  continues one that you started outside, in an agent's own program"),
    ],
    cutLine(
      [createPiece(`  or in a shell: sm spawn ${INSTALLABLE[0]} "make the tests pass"`, STYLE.dim)],
      columns,
    ),
  ];
}

function helpLines(columns: number, top: number, height: number): Line[] {
  const all = FLEET_KEYS.flatMap(({ keys, summary }) =>
    drawKeys(keys.map(getKeyName).join(", "), summary, columns),
  );
  const from = Math.min(top, Math.max(0, all.length + 1 - height));
  return [
    [createPiece("Keys", STYLE.bold), createPiece("  any other key closes this", STYLE.dim)],
    ...all,
  ].slice(from, from + height);
}

/** The line above the hints: a question, input or message. `x`: the cursor column. */
function statusLine(state: FleetState, columns: number): { line: Line; x?: number } {
  const { mode, message, filter } = state;
  if (mode.kind === "rename") return editing("Name: ", mode.editor, columns);
  if (mode.kind === "labels") return editing("Labels: ", mode.editor, columns);
  if (mode.kind === "filter") return editing("/", filter, columns);
  if (mode.kind === "confirm") return { line: confirmLine(state, mode.what, mode.session_id) };
  if (message !== undefined) {
    const style = message.level === "error" ? STYLE.bad : STYLE.none;
    return { line: [createPiece(toSafeLine(message.text), style)] };
  }
  const { state: link, message: why = "" } = state.fleet.link;
  if (link === "lost") {
    const text = `Reconnecting to the daemon (any sm command starts one): ${toSafeLine(why)}`;
    return { line: [createPiece(text, STYLE.bad)] };
  }
  const parts = [
    ...(filter.text === ""
      ? []
      : [`/${toSafeLine(filter.text)}: ${state.rows.length} of ${state.fleet.sessions.size}`]),
    ...(state.hidesStopped ? ["stopped sessions hidden"] : []),
    ...(state.order === "created" ? ["newest first"] : []),
  ];
  return { line: [createPiece(parts.join(" · "), STYLE.dim)] };
}

function editing(label: string, editor: FleetState["filter"], columns: number): { line: Line; x: number } {
  const { rows, cursor } = sliceVisibleRows(arrangeEditor(editor, columns - label.length), 1);
  return {
    line: [createPiece(label, STYLE.bold), createPiece(rows[0]?.text ?? "")],
    x: label.length + cursor.x,
  };
}

function confirmLine({ fleet }: FleetState, what: "stop" | "remove", session_id: string): Line {
  const session = fleet.sessions.get(session_id);
  const name = session === undefined ? session_id : toSafeLine(formatName(session));
  const short = session_id.slice(0, 8);
  const question =
    what === "remove"
      ? `Remove ${name} (${short}) permanently?`
      : `Stop the agent of ${name}? A turn is running.`;
  return [createPiece(`${question} `, `1;${STYLE.warn}`), createPiece("y yes, any other key no")];
}

function hintsFor({ mode }: FleetState, columns: number): Line {
  if (mode.kind === "filter")
    return [
      createPiece(
        "Enter keep  Tab search texts  Esc show all  is:failed #label project:x agent:x age>7d cost>1",
        STYLE.dim,
      ),
    ];
  if (mode.kind === "labels")
    return [createPiece("Enter save  Esc cancel; words separated by spaces", STYLE.dim)];
  if (mode.kind === "rename")
    return [createPiece("Enter save  Esc cancel; an empty name removes it", STYLE.dim)];
  return mode.kind === "list" ? drawHints(columns) : [];
}

function padLines(lines: readonly Line[], height: number): Line[] {
  return Array.from({ length: height }, (_, at) => [...(lines[at] ?? [])]);
}
