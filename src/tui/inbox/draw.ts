// Draws the inbox: the list of requests, the open one as a card with its choices, keys. Pure.
import { defined } from "../../base/values.ts";
import { getProject, nameAsker } from "../../client/view/asker.ts";
import { formatAge } from "../../client/view/format.ts";
import { type InboxItem, toInboxCard } from "../../client/view/inbox.ts";
import { summarizeRequest } from "../../client/view/request-what.ts";
import { drawKeys, drawPlaces } from "../help.ts";
import { getKeyName } from "../keys/table.ts";
import { drawRevealed, toSafeLine } from "../rows/safe.ts";
import { createPiece, type Line, type Piece, STYLE } from "../rows/style.ts";
import { cutLine, measureLine } from "../rows/wrap.ts";
import type { Look, Size } from "../screen-types.ts";
import { drawNotice } from "../session/bottom.ts";
import { type Bottom, drawRequestBlock, drawRequestRule } from "../session/request-block.ts";
import { getAsked, getFocused, hasQuestions } from "../session/state.ts";
import { drawLine, joinParts, spread, wrapToRows } from "../theme.ts";
import { INBOX_KEYS } from "./keys.ts";
import { getOpenItem, type InboxUi } from "./state.ts";

export interface InboxFrame {
  rows: string[];
  cursor?: { x: number; y: number };
  /** `makeRequestKey` of the open request, if it can be answered. */
  request?: string;
  /** The open item. */
  item?: InboxItem;
  requestScroll: number;
  requestHeight: number;
  editorWidth: number;
}

const SESSION_WIDTH = 22;
const PROJECT_WIDTH = 14;
/** Narrower screens do not name the project in the list; the card does. */
const MIN_FOR_PROJECT = 70;

export function drawInbox(
  inbox: InboxUi,
  size: Size,
  { look, nowMs }: { look: Look; nowMs: number },
): InboxFrame {
  const { columns, rows } = size;
  const put = (line: Line): string => drawLine(line, columns, look);
  const hints = drawHints(inbox, columns, rows >= 16 ? 2 : 1).map(put);
  const room = Math.max(0, rows - 1 - hints.length);
  const row = getFocused(inbox.ui);
  const item = getOpenItem(inbox);
  const block =
    row === undefined || item === undefined || inbox.help !== undefined
      ? undefined
      : drawBlock(inbox, item, row, { look, room });
  const height = Math.max(0, room - (block?.rows.length ?? 0));
  const list = (inbox.help === undefined ? listLines(inbox, columns, height, nowMs) : helpLines(inbox, size))
    .slice(0, height)
    .map(put);
  const padded = [...list, ...Array.from({ length: height - list.length }, () => "")];
  const { cursor, request } = block ?? {};
  return {
    rows: [put(drawHeader(inbox, columns, nowMs)), ...padded, ...(block?.rows ?? []), ...hints].slice(
      0,
      rows,
    ),
    ...(cursor === undefined ? {} : { cursor: { x: cursor.x, y: cursor.y + 1 + height } }),
    ...defined({ request, item }),
    requestScroll: block?.requestScroll ?? 0,
    requestHeight: block?.requestHeight ?? 0,
    editorWidth: block?.editorWidth ?? columns,
  };
}

function drawBlock(
  { ui, fleet }: InboxUi,
  { requests }: InboxItem,
  row: NonNullable<ReturnType<typeof getFocused>>,
  { look, room }: { look: Look; room: number },
): Bottom {
  // The open request may have been loaded in full.
  const card = toInboxCard({ requests: [row, ...requests.slice(1)] }, fleet.sessions);
  const head = [drawLine(drawRequestRule(ui, row), ui.size.columns, look)];
  return drawRequestBlock(ui, row, { look, head, room, card });
}

function drawHeader({ items, fleet: { link } }: InboxUi, columns: number, nowMs: number): Line {
  const requests = items.flatMap((item) => item.requests);
  const sessions = new Set(requests.map(({ session_id }) => session_id)).size;
  const [oldest] = requests;
  const words = [
    createPiece(count(requests.length, "pending request"), `1;${STYLE.warn}`),
    createPiece(count(sessions, "session")),
    ...(oldest === undefined
      ? []
      : [createPiece(`oldest ${formatAge(nowMs - oldest.requested_at_ms)}`, STYLE.dim)]),
  ];
  const left = [createPiece("Inbox", STYLE.bold), createPiece("  ")];
  const lost = link.state === "live" ? [] : [createPiece("✗ disconnected", STYLE.bad)];
  if (requests.length === 0) return spread(left, lost, columns);
  return spread([...left, ...joinParts(words, columns - measureLine(left))], lost, columns);
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

/** The items around the open one. */
function listLines(inbox: InboxUi, columns: number, height: number, nowMs: number): Line[] {
  const { items } = inbox;
  if (items.length === 0)
    return [
      [],
      [createPiece("  No pending requests: nothing waits for you.")],
      [createPiece("  New ones appear here. Esc returns to the list.", STYLE.dim)],
    ];
  const open = getOpenItem(inbox);
  const at = open === undefined ? 0 : items.indexOf(open);
  const from = Math.max(0, Math.min(at - (height >> 1), items.length - height));
  return items
    .slice(from, from + height)
    .map((item) => itemLine(item, inbox, { isOpen: item === open, columns, nowMs }));
}

interface ItemLine {
  isOpen: boolean;
  columns: number;
  nowMs: number;
}

function itemLine({ requests }: InboxItem, { fleet }: InboxUi, { isOpen, columns, nowMs }: ItemLine): Line {
  const [row] = requests;
  if (row === undefined) return [];
  const session = fleet.sessions.get(row.session_id);
  const others = requests.length > 1 ? ` +${requests.length - 1}` : "";
  const style = isOpen ? STYLE.bold : STYLE.none;
  const name = toSafeLine(nameAsker(session ?? { session_id: row.session_id }));
  const [what = ""] = summarizeRequest(row, session?.cwd).split("\n");
  const project =
    columns < MIN_FOR_PROJECT
      ? []
      : padPiece(
          createPiece(toSafeLine(session === undefined ? "" : (getProject(session) ?? "")), STYLE.dim),
          PROJECT_WIDTH,
        );
  return [
    createPiece(isOpen ? "▌ " : "  ", STYLE.accent),
    createPiece(`${formatAge(nowMs - row.requested_at_ms).padStart(4)}  `, STYLE.dim),
    ...padPiece(createPiece(name, style), SESSION_WIDTH - others.length, createPiece(others, STYLE.warn)),
    ...project,
    ...drawRevealed(what, style, false),
  ];
}

/** Cut or padded to the width, with `end` and a space after it. */
function padPiece(piece: Piece, width: number, end: Piece = createPiece("")): Piece[] {
  const cut = cutLine([piece], width);
  return [...cut, end, createPiece(" ".repeat(Math.max(0, width - measureLine(cut)) + 1))];
}

function helpLines({ help = 0 }: InboxUi, { columns, rows }: Size): Line[] {
  const lines = drawInboxHelp(columns);
  return lines.slice(Math.min(help, Math.max(0, lines.length - (rows - 3))));
}

function drawInboxHelp(columns: number): Line[] {
  return [
    [createPiece("Keys of the inbox", STYLE.bold), createPiece("  any other key closes this", STYLE.dim)],
    ...INBOX_KEYS.flatMap(({ keys, summary }) => drawKeys(keys.map(getKeyName).join(", "), summary, columns)),
    [],
    ...drawPlaces(["choices", "question"], columns),
  ];
}

function drawHints(inbox: InboxUi, columns: number, most: number): Line[] {
  const notice = drawNotice(inbox.ui, { endsWithScreen: false });
  if (notice !== undefined) return wrapToRows(notice, columns, most);
  const words = listHints(inbox).map((text) => createPiece(text, STYLE.dim));
  return [joinParts(words, columns)];
}

function listHints({ ui, items, help }: InboxUi): string[] {
  if (help !== undefined) return ["Up/Down scroll", "any other key closes"];
  const row = getFocused(ui);
  if (row === undefined) return ["Esc list", "? keys"];
  const { reason, own } = getAsked(ui, row);
  if (reason !== undefined) return ["Enter sends", "Esc back"];
  const others = items.length > 1 ? ["j/k next/previous"] : [];
  if (!hasQuestions(row)) return ["Enter take >", ...others, "d details", "o session", "Esc list", "? keys"];
  if (own !== undefined) return ["Enter take", "Ctrl-X decline", "Ctrl-N next request"];
  return ["Enter take", "Ctrl-X decline", ...others, "o session", "Esc list", "? keys"];
}
