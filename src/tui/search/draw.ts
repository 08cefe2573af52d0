// Draws the search screen: the text, the hits below the names of their sessions, keys. Pure.
import { formatAge } from "../../client/view/format.ts";
import { cutMarked, ROLE_NAMES, splitMarks } from "../../client/view/search-hits.ts";
import type { SearchHit } from "../../protocol/search.ts";
import { arrangeEditor, sliceVisibleRows } from "../composer/layout.ts";
import { toSafeLine } from "../rows/safe.ts";
import { createPiece, type Line, STYLE } from "../rows/style.ts";
import type { Look, Size } from "../screen-types.ts";
import { drawLine } from "../theme.ts";
import type { SearchUi } from "./state.ts";

export interface SearchFrame {
  rows: string[];
  cursor: { x: number; y: number };
  /** Hits on a page. */
  page: number;
}

const LABEL = "Search: ";
/** Text, status and hints. */
const AROUND = 3;
const AGE_WIDTH = 4;
const ROLE_WIDTH = 6;

export function drawSearch(
  ui: SearchUi,
  { columns, rows }: Size,
  { look, nowMs }: { look: Look; nowMs: number },
): SearchFrame {
  const put = (line: Line): string => drawLine(line, columns, look);
  const { rows: texts, cursor } = sliceVisibleRows(arrangeEditor(ui.editor, columns - LABEL.length), 1);
  const height = Math.max(1, rows - AROUND);
  const { lines, at } = listLines(ui, columns, nowMs);
  // The selected hit is in the middle, with the name of its session above it.
  const top = Math.max(0, Math.min(at - Math.floor(height / 2), lines.length - height));
  const shown = lines.slice(top, top + height).map(put);
  const padded = [...shown, ...Array.from({ length: height - shown.length }, () => "")];
  const text = [createPiece(LABEL, STYLE.bold), createPiece(texts[0]?.text ?? "")];
  return {
    rows: [put(text), ...padded, put(drawStatus(ui)), put(HINTS)].slice(0, rows),
    cursor: { x: LABEL.length + cursor.x, y: 0 },
    page: Math.max(1, height - 1),
  };
}

const HINTS: Line = [createPiece('Enter open  ↑↓ choose  Esc back  "several words" as a phrase', STYLE.dim)];

/** `at`: the line of the selected hit. */
function listLines(ui: SearchUi, columns: number, nowMs: number): { lines: Line[]; at: number } {
  const lines: Line[] = [];
  let at = 0;
  let last: string | undefined;
  for (const [index, hit] of ui.hits.entries()) {
    if (hit.session_id !== last) lines.push(headLine(hit));
    last = hit.session_id;
    if (index === ui.selected) at = lines.length;
    lines.push(hitLine(hit, index === ui.selected, columns, nowMs));
  }
  return { lines, at };
}

function headLine({ session_id, name, project, agent, outside }: SearchHit): Line {
  const place = [project?.split("/").at(-1), agent, outside && "started outside"].flatMap((part) =>
    part ? [toSafeLine(part)] : [],
  );
  return [
    createPiece(toSafeLine(name ?? session_id.slice(0, 8)), STYLE.bold),
    createPiece(`  ${place.join(" · ")}`, STYLE.dim),
  ];
}

function hitLine(hit: SearchHit, isSelected: boolean, columns: number, nowMs: number): Line {
  const age = hit.at_ms === undefined ? "" : formatAge(nowMs - hit.at_ms);
  const place = `${age.padStart(AGE_WIDTH)}  ${ROLE_NAMES[hit.role].padEnd(ROLE_WIDTH)}`;
  const mark = isSelected ? createPiece("▌ ", STYLE.accent) : createPiece("  ");
  const parts = splitMarks(cutMarked(hit, columns - place.length - 2)).map(({ text, isMarked }) =>
    createPiece(toSafePart(text), isMarked ? `1;${STYLE.warn}` : STYLE.none),
  );
  return [mark, createPiece(place, STYLE.dim), ...parts];
}

/** Keeps the spaces at its ends, next to a match. */
function toSafePart(text: string): string {
  const [, before = "", after = ""] = /^(\s?).*?(\s?)$/su.exec(text) ?? [];
  const safe = toSafeLine(text);
  return safe === "" ? before : `${before && " "}${safe}${after && " "}`;
}

function drawStatus({ found, hits, isSearching, problem, unindexed, next }: SearchUi): Line {
  if (problem !== undefined) return [createPiece(toSafeLine(problem), STYLE.bad)];
  const indexing =
    unindexed === 0
      ? ""
      : `; ${unindexed} ${unindexed === 1 ? "session is" : "sessions are"} still being indexed`;
  if (isSearching && hits.length === 0) return [createPiece("Searching…", STYLE.dim)];
  if (found === undefined) return [createPiece("What was said or done in any session.", STYLE.dim)];
  if (hits.length === 0)
    return [
      createPiece(
        `Nothing found for "${toSafeLine(found)}"${next === undefined ? "" : " so far"}${indexing}`,
      ),
    ];
  const count = `${hits.length}${next === undefined ? "" : "+"} ${hits.length === 1 ? "hit" : "hits"}`;
  return [createPiece(`${count}${indexing}${isSearching ? " …" : ""}`, STYLE.dim)];
}
